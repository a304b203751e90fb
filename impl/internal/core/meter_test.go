package core

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/impl/internal/keytable"
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
			m := NewMeter("q", r, clock.RealClock{})
			times := keytable.Times{Added: m.Add()}
			time.Sleep(time.Nanosecond)
			m.Get(&times, true)
			time.Sleep(48 * time.Hour)
			m.Done(&times)
			require.Contains(t, r.String(), "latency=[1e-09]")
			require.Contains(t, r.String(), "work=[172800]")
		})
	}
}
