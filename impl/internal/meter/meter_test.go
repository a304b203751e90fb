package meter

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/impl/internal/recorder"
	"github.com/informerbench/informerbench/impl/internal/ticks"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	"pgregory.net/rapid"
)

func TestSecondsIsUpstreams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64().Draw(t, "any"))
		short := time.Duration(rapid.Int64Range(-1, int64(2*time.Second)).Draw(t, "short"))
		for _, d := range []time.Duration{d, short} {
			if got, want := new(Meter).seconds(d), d.Seconds(); got != want {
				t.Fatalf("seconds(%d) is %v, expected %v", d, got, want)
			}
		}
	})
}

// In a bubble the durations are those of its virtual time, to the nanosecond.
func TestVirtualTime(t *testing.T) {
	for _, age := range []time.Duration{0, time.Hour, 30 * 365 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(age)
			r := recorder.New()
			m := New("q", r, clock.RealClock{})
			added := m.Add()
			time.Sleep(time.Nanosecond)
			started := m.Get(added, true)
			time.Sleep(48 * time.Hour)
			m.Done(started)
			require.Contains(t, r.String(), "latency=[1e-09]")
			require.Contains(t, r.String(), "work=[172800]")
		})
	}
}

// A clock that goes backwards is believed, as upstream; that of a processor's
// counter can't be.
func TestNegativeDurations(t *testing.T) {
	m := &Meter{}
	require.Equal(t, -1e-9, m.seconds(-1))
	m.ticks = new(ticks.Clock)
	require.Zero(t, m.seconds(-1))
	require.Equal(t, 2.0, m.seconds(2*time.Second))
}
