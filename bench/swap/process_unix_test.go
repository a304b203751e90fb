//go:build unix

package swap

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// long is time enough for a shell on a busy machine.
const long = time.Minute

const ready = "echo ready; "

// A program that does not stop, or leaves others behind, is ended with them.
func TestPrograms(t *testing.T) {
	for name, x := range map[string]struct {
		script, want string
		group        bool
		within       time.Duration
	}{
		"stops":               {script: "trap 'exit 0' TERM; " + ready + "while :; do read -r x <&- || :; done"},
		"does not stop":       {script: "trap '' TERM; " + ready + "sleep 1000 & wait; sleep 1000", within: time.Millisecond, want: "did not stop within 1ms of SIGTERM and was killed"},
		"leaves one behind":   {script: "trap 'exit 0' TERM; sleep 1000 & " + ready + "wait", want: "left processes behind"},
		"ends with its group": {script: "sleep 1000 & " + ready + "wait", group: true},
		"panics at the end":   {script: "trap 'echo panic: at the end >&2; exit 2' TERM; " + ready + "while :; do read -r x <&- || :; done", want: "ended with panic: at the end"},
	} {
		t.Run(name, func(t *testing.T) {
			read, write, err := os.Pipe()
			require.NoError(t, err)
			defer read.Close()
			p, err := start("the program", t.TempDir(), filepath.Join(t.TempDir(), "log"), nil, write, "/bin/sh", "-c", x.script)
			require.NoError(t, err)
			write.Close()
			output := bufio.NewReader(read)
			line, err := output.ReadString('\n')
			require.NoError(t, err)
			assert.Equal(t, "ready\n", line)
			within := x.within
			if within == 0 {
				within = long
			}
			err = p.end(t.Context(), x.group, within)
			if x.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, x.want)
			}
			_, err = io.Copy(io.Discard, output) // until nobody is left
			assert.NoError(t, err)
		})
	}
}

func TestServers(t *testing.T) {
	for script, want := range map[string]string{
		"echo no port >&2; exit 3": "the server ended by itself, exit status 3: no port",
		"exit 0":                   "the server ended by itself, exit status 0: no output",
	} {
		_, _, err := startServer(t.Context(), script, t.TempDir(), filepath.Join(t.TempDir(), "log"), long)
		assert.ErrorContains(t, err, want)
	}
	p, variables, err := startServer(t.Context(), "echo starting; echo export READY=yes; sleep 1000", t.TempDir(), filepath.Join(t.TempDir(), "log"), long)
	require.NoError(t, err)
	assert.Equal(t, []string{"READY=yes"}, variables)
	assert.NoError(t, p.end(t.Context(), true, long))
	_, _, err = startServer(t.Context(), "sleep 1000", t.TempDir(), filepath.Join(t.TempDir(), "log"), time.Millisecond)
	assert.ErrorContains(t, err, `printed no line "export NAME=VALUE" within 1ms`)
	_, err = start("the program", t.TempDir(), filepath.Join(t.TempDir(), "log"), nil, nil, "/none")
	assert.ErrorContains(t, err, "the program does not start: ")
}

func TestLoads(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	out, err := runShell(t.Context(), "the load command", "echo $WHO; echo note >&2; sleep 1000 >/dev/null 2>&1 &", t.TempDir(), log, []string{"WHO=me"})
	require.NoError(t, err)
	assert.Equal(t, "me\n", string(out))
	_, err = runShell(t.Context(), "the load command", "echo quota exceeded >&2; exit 4", t.TempDir(), log, nil)
	assert.ErrorContains(t, err, "the load command failed: exit status 4: quota exceeded (its output is in ")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = runShell(ctx, "the load command", "sleep 1000", t.TempDir(), log, nil)
	assert.ErrorIs(t, err, context.Canceled)
}

// No child outlives benchrun, even one that is killed: this test starts itself as a
// process with a child, and kills it.
func TestChildrenEndWithParent(t *testing.T) {
	if os.Getenv("SWAP_TEST_PARENT") != "" {
		p, err := start("a child", t.TempDir(), filepath.Join(t.TempDir(), "log"), nil, os.Stdout, "/bin/sh", "-c", "sleep 1000")
		require.NoError(t, err)
		fmt.Println("started") // not said by the child, which may be quicker than its guard
		<-p.done               // which is never
	}
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(program, "-test.run=^TestChildrenEndWithParent$")
	cmd.Env = append(os.Environ(), "SWAP_TEST_PARENT=yes")
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	cmd.Stdout = write
	require.NoError(t, cmd.Start())
	write.Close()
	output := bufio.NewReader(read)
	line, err := output.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "started\n", line)
	require.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
	assert.Error(t, cmd.Wait())
	_, err = io.Copy(io.Discard, output) // until nobody has the other end any more
	assert.NoError(t, err)
}
