package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestMain lets the test binary play the child.
func TestMain(m *testing.M) {
	switch os.Getenv("EXPERIMENT_CHILD") {
	case "":
		os.Exit(m.Run())
	case "hang": // with a grandchild that holds the pipes
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "EXPERIMENT_CHILD=orphan")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
		}
		<-make(chan struct{})
	case "orphan":
		<-time.After(time.Minute)
	case "panic":
		panic("a bug in a variant")
	case "flood":
		for range 300_000 {
			fmt.Println("0123456789")
		}
	default:
		roles[os.Getenv("EXPERIMENT_CHILD")]()
	}
}

// roles are those that not every system has.
var roles = map[string]func(){}

func TestRunChild(t *testing.T) {
	child := func(ctx context.Context, how string, timeout time.Duration) ([]byte, error) {
		t.Setenv("EXPERIMENT_CHILD", how)
		return RunChild(ctx, []string{os.Args[0]}, timeout)
	}
	_, err := child(t.Context(), "hang", 300*time.Millisecond)
	assert.EqualError(t, err, "timed out after 300ms")

	_, err = child(t.Context(), "panic", time.Minute)
	assert.ErrorContains(t, err, "exit status 2: panic: a bug in a variant")

	output, err := child(t.Context(), "flood", time.Minute)
	assert.NoError(t, err)
	assert.LessOrEqual(t, len(output), 2*tailLimit, "an endless printer costs no memory")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = child(ctx, "hang", time.Minute)
	assert.ErrorIs(t, err, context.Canceled)

	_, err = RunChild(t.Context(), []string{"/no/such/program"}, time.Minute)
	assert.ErrorContains(t, err, "no such file")
}

func TestLastWords(t *testing.T) {
	assert.Equal(t, "x_test.go:3: lost 2 items", lastWords([]byte("goos: linux\n--- FAIL: BenchmarkA\n    x_test.go:3: lost 2 items\nFAIL\n"), nil))
	assert.Equal(t, "fatal error: all goroutines are asleep - deadlock!", lastWords(nil, []byte("fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1\n")))
	assert.Equal(t, "no output", lastWords(nil, nil))
}
