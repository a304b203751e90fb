package meter

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/impl/internal/recorder"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
)

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
