// Command benchrun compares implementations of the queue and cache internals of
// Kubernetes controllers.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/informerbench/informerbench/cmd/benchrun/app"
)

func main() {
	hungUp, stopHangUp := context.Background(), func() {}
	if !signal.Ignored(syscall.SIGHUP) { // under nohup(1) it is nobody's wish
		hungUp, stopHangUp = signal.NotifyContext(hungUp, syscall.SIGHUP)
	}
	terminated, stopTerminate := signal.NotifyContext(hungUp, syscall.SIGTERM)
	ctx, stopInterrupt := signal.NotifyContext(terminated, os.Interrupt)
	context.AfterFunc(ctx, func() {
		time.Sleep(time.Second) // timeout(1) signals the process, then its group: one wish
		stopHangUp()
		stopTerminate() // the next signal ends the process at once
		stopInterrupt()
	})
	code := app.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case code != 0:
	case hungUp.Err() != nil:
		code = 128 + int(syscall.SIGHUP)
	case terminated.Err() != nil:
		code = 128 + int(syscall.SIGTERM) // so that a Job's pod is tried again
	}
	os.Exit(code)
}
