//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A run that is asked to end, even twice in a moment as timeout(1) does, still
// reports what it has.
func TestInterruptedRunReports(t *testing.T) {
	programs(t)
	dir := t.TempDir()
	bin := filepath.Join(dir, "benchrun")
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for sent, code := range map[syscall.Signal]int{syscall.SIGINT: 0, syscall.SIGTERM: 143} {
		t.Run(sent.String(), func(t *testing.T) {
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
			require.NoError(t, cmd.Process.Signal(sent))
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
