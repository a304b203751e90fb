package pace

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Waits return at the moment or, for what is late already, at once; lateness
// does not add up.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, begin := NewTimer(), time.Now()
		require.NoError(t, p.Wait(t.Context(), begin.Add(time.Second)))
		require.Equal(t, time.Second, time.Since(begin))
		require.NoError(t, p.Wait(t.Context(), begin.Add(400*time.Millisecond)))
		require.Equal(t, time.Second, time.Since(begin), "600 ms late")
		require.NoError(t, p.Wait(t.Context(), begin.Add(2*time.Second)))
		require.Equal(t, 2*time.Second, time.Since(begin))
		require.EqualValues(t, 3, p.Lateness().Count())
		require.InEpsilon(t, 600*time.Millisecond, p.Lateness().Max(), 0.001)
		p.Close()
	})
}

func TestWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p, begin := NewTimer(), time.Now()
		require.ErrorIs(t, p.Wait(ctx, begin.Add(time.Hour)), context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(begin))
		require.ErrorIs(t, p.Wait(ctx, begin), context.DeadlineExceeded, "even when nothing is to wait for")
		require.Zero(t, p.Lateness().Count())
	})
}

// The precise pacer never returns early, and gives its thread back.
func TestPreciseWait(t *testing.T) {
	p := New()
	for range 3 {
		begin := time.Now()
		for i := range 20 {
			due := begin.Add(time.Duration(i) * 200 * time.Microsecond)
			require.NoError(t, p.Wait(t.Context(), due))
			require.False(t, time.Now().Before(due))
		}
		p.Close()
	}
	require.EqualValues(t, 60, p.Lateness().Count())
}

// kinds are the pacers there are on this system.
var kinds = map[string]func(testing.TB) *Pacer{
	"precise": func(testing.TB) *Pacer { return New() },
	"timer":   func(testing.TB) *Pacer { return NewTimer() },
}

func TestSelfTest(t *testing.T) {
	for name, make := range kinds {
		t.Run(name, func(t *testing.T) {
			p := make(t)
			defer p.Close()
			begin := time.Now()
			late, err := p.SelfTest(t.Context(), 50, 100*time.Microsecond)
			require.NoError(t, err)
			require.GreaterOrEqual(t, time.Since(begin), 49*100*time.Microsecond)
			require.LessOrEqual(t, late, time.Since(begin))
			require.Zero(t, p.Lateness().Count())
		})
	}
}

// BenchmarkWait paces 10,000 events a second and reports how late they are.
func BenchmarkWait(b *testing.B) {
	for name, make := range kinds {
		b.Run("pacer="+name, func(b *testing.B) {
			p := make(b)
			defer p.Close()
			due := time.Now()
			for b.Loop() {
				due = due.Add(100 * time.Microsecond)
				p.Announce([]time.Time{due})
				if err := p.Wait(b.Context(), due); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(p.Lateness().Quantile(0.5)), "p50-late-ns")
			b.ReportMetric(float64(p.Lateness().Quantile(0.99)), "p99-late-ns")
		})
	}
}
