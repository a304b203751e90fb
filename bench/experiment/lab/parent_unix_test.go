//go:build unix

package lab

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func init() { roles["parent"], roles["watched"] = parent, watched }

// parent is the process that is killed: it runs a child that is watched.
func parent() {
	os.Setenv("EXPERIMENT_CHILD", "watched")
	_, err := RunChild(context.Background(), []string{os.Args[0]}, time.Minute)
	fmt.Println(err)
}

// watched is a child that says through a named pipe that it is there, and holds
// the pipe open for as long as it lives.
func watched() {
	EndWithParent()
	f, err := os.OpenFile(os.Getenv("EXPERIMENT_PIPE"), os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("up\n")
	}
	if err != nil {
		os.Exit(3)
	}
	<-make(chan struct{})
}

// A child ends when its parent is killed, and when the parent ends it.
func TestChildEndsWithItsParent(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "EXPERIMENT_CHILD=parent", "EXPERIMENT_PIPE="+pipe)
	require.NoError(t, parent.Start())
	f, err := os.Open(pipe)
	require.NoError(t, err)
	defer f.Close()
	child := bufio.NewReader(f)
	line, err := child.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "up\n", line)
	require.NoError(t, parent.Process.Kill())
	_, err = parent.Process.Wait()
	require.NoError(t, err)
	rest, err := child.ReadString('\n') // until nobody can write any more
	assert.Empty(t, rest)
	assert.EqualError(t, err, "EOF")
}
