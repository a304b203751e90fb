//go:build !linux

package pace

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"time"
)

var errUnsupported = errors.New("only Linux has processes that pace")

// far is Linux's.
type far struct{}

// NewProcess fails: there is no sleep here that would be worth a process.
func NewProcess(*exec.Cmd) (*Pacer, error) { return nil, errUnsupported }

// Serve fails.
func Serve(io.Reader, io.Writer) error { return errUnsupported }

func (*far) announce([]time.Time)                        {}
func (*far) wait(context.Context) (time.Duration, error) { return 0, errUnsupported }
func (*far) close()                                      {}
