// Command benchrun compares implementations of the queue and cache internals of
// Kubernetes controllers.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/informerbench/informerbench/cmd/benchrun/app"
)

// asked is the signal that asked the program to end, as the cause of its context.
type asked struct{ syscall.Signal }

func (s asked) Error() string { return s.String() }

func main() {
	ctx, end := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // under nohup(1) it is nobody's wish
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		first, _ := (<-signals).(syscall.Signal)
		end(asked{first})
		time.Sleep(time.Second) // timeout(1) signals the process, then its group: one wish
		signal.Stop(signals)    // the next signal ends the process at once
	}()
	code := app.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	var by asked
	if (code == 0 || code == app.ExitInterrupted) && errors.As(context.Cause(ctx), &by) && by.Signal != syscall.SIGINT {
		code = 128 + int(by.Signal) // so that a Job's pod is tried again
	}
	os.Exit(code)
}
