package pace

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the process that paces.
func TestMain(m *testing.M) {
	switch os.Getenv("PACE") {
	case "serve":
		if err := Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "fail":
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func command(t testing.TB, mode string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(program)
	c.Env = append(os.Environ(), "PACE="+mode)
	return c
}

func newProcess(t testing.TB) *Pacer {
	t.Helper()
	p, err := NewProcess(command(t, "serve"))
	require.NoError(t, err)
	return p
}

func init() { kinds["process"] = newProcess }

// Moments that are announced ahead, in pieces of all sizes and far more than a
// pipe holds, come in order, none early, and each is noted twice.
func TestProcess(t *testing.T) {
	p := newProcess(t)
	defer p.Close()
	const events = 40_000
	begin := time.Now()
	due := make([]time.Time, events)
	for i := range due {
		due[i] = begin.Add(time.Duration(i) * 10 * time.Microsecond)
	}
	go func() {
		for left, n := due, 1; len(left) > 0; left, n = left[n:], min(n%1500+1, len(left)-n) {
			p.Announce(left[:n])
		}
	}()
	for _, at := range due {
		require.NoError(t, p.Wait(t.Context(), at))
		require.False(t, time.Now().Before(at), "early")
	}
	require.EqualValues(t, events, p.Lateness().Count())
	require.EqualValues(t, events, p.Taken().Count())
	for _, q := range []float64{0.01, 0.5, 0.99, 1} {
		require.LessOrEqual(t, p.Lateness().Quantile(q), p.Taken().Quantile(q))
	}
}

func TestProcessEndsWithTheContext(t *testing.T) {
	p := newProcess(t)
	ctx, cancel := context.WithCancel(t.Context())
	due := time.Now().Add(time.Hour)
	p.Announce([]time.Time{due})
	time.AfterFunc(time.Millisecond, cancel)
	require.ErrorIs(t, p.Wait(ctx, due), context.Canceled)
	require.ErrorIs(t, p.Wait(ctx, due), context.Canceled)
	require.Zero(t, p.Lateness().Count())
	p.Close()
	require.NotNil(t, p.far.command.ProcessState, "has ended")
	p.Close()
}

// A pacer that is closed while it announces more than the pipes hold lets go.
func TestProcessClosesWhileAnnouncing(t *testing.T) {
	p := newProcess(t)
	later := make([]time.Time, 100_000)
	for i := range later {
		later[i] = time.Now().Add(time.Hour)
	}
	announced := make(chan struct{})
	go func() {
		defer close(announced)
		p.Announce(later)
	}()
	p.Close()
	<-announced
	p.Announce(later[:1])
	require.Error(t, p.Wait(t.Context(), later[0]))
}

func TestProcessIsGone(t *testing.T) {
	p := newProcess(t)
	defer p.Close()
	_, err := NewProcess(command(t, "fail"))
	require.ErrorContains(t, err, "did not say that it paces")
	_, err = NewProcess(exec.Command("/none"))
	require.ErrorContains(t, err, "no such file")

	require.NoError(t, p.far.command.Process.Kill())
	p.Announce([]time.Time{time.Now()})
	require.ErrorContains(t, p.Wait(t.Context(), time.Now()), "the process that paces the load is gone")
}
