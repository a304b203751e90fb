package lab

import (
	"fmt"
	"io"
	"os"
	"os/exec"
)

// parentPipe names the variable that tells a child to end with its parent.
const parentPipe = "BENCHRUN_PARENT"

// endsWithParent gives a child a standard input that ends when this process does,
// be it by kill -9: nobody else holds its other end. The returned function ends it
// earlier.
func endsWithParent(cmd *exec.Cmd) (end func(), err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("can't make a pipe: %w", err)
	}
	cmd.Stdin = read
	cmd.Env = append(cmd.Environ(), parentPipe+"=stdin")
	return func() { read.Close(); write.Close() }, nil
}

// EndWithParent ends this process when the one that started it as a child is
// gone. A program calls it first; if it is nobody's child, it does nothing. It exits
// by itself, because a benchmark looks at no context, and nobody is left to take an
// error.
func EndWithParent() {
	if os.Getenv(parentPipe) != "stdin" {
		return
	}
	os.Unsetenv(parentPipe) // a child of this one has a standard input of its own
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends either way
		fmt.Fprintln(os.Stderr, "error: the process that started this one is gone")
		os.Exit(2)
	}()
}
