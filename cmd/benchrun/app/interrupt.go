package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/spf13/cobra"
)

// ExitInterrupted is the code of a command that Ctrl-C ended before it was done, as shells have it.
const ExitInterrupted = 130

// atOnce are the commands that have nothing of use before they are done. The others
// end by themselves when they are interrupted, with what they have.
var atOnce = []string{
	"benchrun compare", "benchrun trend", "benchrun report", "benchrun trace info",
	"benchrun workload show", "benchrun workload validate", "benchrun workload explain",
}

var errInterrupted = errors.New("interrupted")

// execute runs the command line. It does not wait for a command that is to end at once,
// but for the file that this is writing.
func execute(ctx context.Context, root *cobra.Command, args []string) error {
	cmd, _, err := root.Find(args)
	if err != nil || !slices.Contains(atOnce, cmd.CommandPath()) {
		return root.ExecuteContext(ctx)
	}
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		atomicfile.Wait()
		return errInterrupted
	}
}

// patience is how long a read goes on when the command is interrupted: what is there is
// read by then, and the command says how far it came.
const patience = time.Second

// unlessInterrupted returns what read does, or an error soon after ctx ends: to open a
// pipe that nobody writes to takes for ever, and no context ends it.
func unlessInterrupted[T any](ctx context.Context, read func() (T, error)) (T, error) {
	var value T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		value, err = read()
	}()
	select {
	case <-done:
		return value, err
	case <-ctx.Done():
	}
	select {
	case <-done:
		return value, err
	case <-time.After(patience):
		var none T
		return none, errors.New("interrupted before the input was read")
	}
}
