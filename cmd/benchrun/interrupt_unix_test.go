//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A run that is asked to end, even twice in a moment as timeout(1) does, still
// reports what it has.
func TestInterruptedRunReports(t *testing.T) {
	programs(t)
	dir := t.TempDir()
	bin := build(t)
	for sent, code := range map[syscall.Signal]int{syscall.SIGINT: 0, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		t.Run(sent.String(), func(t *testing.T) {
			if signal.Ignored(sent) {
				t.Skipf("%s is ignored, as under nohup, and by every program that the tests start", sent)
			}
			result := filepath.Join(dir, sent.String())
			cmd := exec.Command(bin, "run", "--component", "queue", "--case", "op=cycle", "--variant", "ring", "--budget", "10m", "--precision", "0.001%", "--out", result)
			progress, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			samples := bufio.NewScanner(progress)
			for samples.Scan() && !strings.Contains(samples.Text(), " samples, ") {
			}
			require.NoError(t, samples.Err())
			require.NoError(t, cmd.Process.Signal(sent))
			// As a second in which the report is still being written: from then on the next
			// signal ends the process.
			time.Sleep(50 * time.Millisecond)
			require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
			time.Sleep(1100 * time.Millisecond)
			require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
			for samples.Scan() {
			}
			_ = cmd.Wait() // its exit code is looked at
			require.Equal(t, code, cmd.ProcessState.ExitCode(), "%s", cmd.ProcessState)
			for _, file := range []string{"raw.txt", "stats.json", "report.md", "report.html"} {
				info, err := os.Stat(filepath.Join(result, file))
				require.NoError(t, err)
				require.NotZero(t, info.Size(), file)
			}
		})
	}
}

// A result directory that is removed under a run ends it with one error that says
// so, and with the decision on what was sampled.
func TestResultRemovedUnderARun(t *testing.T) {
	programs(t)
	result := filepath.Join(t.TempDir(), "result")
	cmd := exec.Command(build(t), "run", "--component", "queue", "--case", "op=cycle", "--variant", "ring", "--budget", "10m", "--precision", "0.001%", "--out", result)
	progress, err := cmd.StderrPipe()
	require.NoError(t, err)
	var stdout strings.Builder
	cmd.Stdout = &stdout
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(progress)
	for lines.Scan() && !strings.Contains(lines.Text(), " samples, ") {
	}
	require.NoError(t, os.RemoveAll(result))
	var last []string
	for lines.Scan() {
		if strings.Contains(lines.Text(), "error") {
			last = append(last, lines.Text())
		}
	}
	_ = cmd.Wait() // its exit code is looked at
	require.Equal(t, 2, cmd.ProcessState.ExitCode())
	require.Len(t, last, 1)
	require.Contains(t, last[0], "error: "+result+": the result directory was removed")
	require.Contains(t, stdout.String(), "ring", "the decision")
	require.NoDirExists(t, result)
}

// Two conversions to one path at once both come to their end, and the path holds a
// whole recording.
func TestTwoConversionsToOnePath(t *testing.T) {
	programs(t)
	bin, dir := build(t), t.TempDir()
	from, to := filepath.Join(dir, "from.jsonl"), filepath.Join(dir, "to.jsonl")
	var lines strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&lines, `{"ts": "2026-01-01T00:00:00Z", "resource": "pods", "type": "ADDED", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p%d", "namespace": "n", "uid": "u%[1]d", "resourceVersion": "%[1]d"}}}`+"\n", i+1)
	}
	require.NoError(t, os.WriteFile(from, []byte(lines.String()), 0o666))
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			out, err := exec.Command(bin, "trace", "convert", from, "--out", to, "--format", "jsonl").CombinedOutput()
			assert.NoError(t, err, "%s", out)
		})
	}
	both.Wait()
	b, err := os.ReadFile(to)
	require.NoError(t, err)
	require.Equal(t, 20_000, strings.Count(string(b), "\n"))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2, "no parts are left")
}
