package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
)

// A Sampler runs one arm of a case once and returns what it printed: one
// result in the Go benchmark format, under the arm's name. Its error says why
// there is none.
type Sampler func(ctx context.Context, c experiment.PlannedCase, a experiment.Arm) ([]byte, error)

// Children is the Sampler that starts argv(c, a) as a process of its own. A
// child that takes longer than timeout is killed with all its descendants.
func Children(argv func(experiment.PlannedCase, experiment.Arm) []string, timeout time.Duration) Sampler {
	return func(ctx context.Context, c experiment.PlannedCase, a experiment.Arm) ([]byte, error) {
		return RunChild(ctx, argv(c, a), timeout)
	}
}

// RunChild runs one process to its end and returns what it printed. The error
// of a child that fails ends with the last lines that it wrote.
func RunChild(ctx context.Context, argv []string, timeout time.Duration) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	var stdout, stderr tail
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ownGroup(cmd)
	ends, err := endsWithParent(cmd)
	if err != nil {
		return nil, err
	}
	defer ends()
	// A descendant may keep the pipes open after the child has gone.
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return stdout.b, ctx.Err()
	case limited.Err() != nil:
		return stdout.b, stalled{fmt.Errorf("timed out after %s", timeout)}
	case errors.Is(err, exec.ErrWaitDelay):
		return stdout.b, stalled{err}
	case err != nil:
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return stdout.b, err // it did not start
		}
		return stdout.b, fmt.Errorf("%w: %s", err, lastWords(stdout.b, stderr.b))
	}
	return stdout.b, nil
}

// A stalled error may be the machine's fault.
type stalled struct{ error }

// lastWords finds the line of a dead child's output that says why: a panic's
// or a failed benchmark's message, otherwise the last line.
func lastWords(stdout, stderr []byte) string {
	last := "no output"
	for _, output := range [][]byte{stdout, stderr} {
		failed := false
		for l := range bytes.Lines(output) {
			line := strings.TrimSpace(string(l))
			switch {
			case strings.HasPrefix(line, "panic:"), strings.HasPrefix(line, "fatal error:"), strings.HasPrefix(line, "error:"), failed:
				return line
			case strings.HasPrefix(line, "--- FAIL"):
				failed = true
			}
			if line != "" && line != "FAIL" {
				last = line
			}
		}
	}
	return last
}

// tail is a writer that keeps the first and the newest part of what it is
// given, so that a child that prints without end costs no memory.
type tail struct{ b []byte }

const tailLimit = 1 << 20

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > 2*tailLimit {
		t.b = append(t.b[:tailLimit/2], t.b[len(t.b)-tailLimit/2:]...)
	}
	return len(p), nil
}
