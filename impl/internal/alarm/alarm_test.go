package alarm

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestFiresWhenAskedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(clock.RealClock{})
		asked := []int64{int64(time.Second), int64(3 * time.Second), Never}
		var fired []int64
		a.Run(klog.Background(), func() (int64, bool) {
			fired = append(fired, a.Now())
			if len(asked) == 0 {
				return Never, false
			}
			next := asked[0]
			asked = asked[1:]
			return next, true
		})
		a.Wait()
		require.Equal(t, []int64{0, int64(time.Second), int64(3 * time.Second), int64(Heartbeat)}, fired)
	})
}

func TestWakeAndStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(clock.RealClock{})
		fired := 0
		a.Run(klog.Background(), func() (int64, bool) { fired++; return Never, true })
		synctest.Wait()
		a.Wake()
		synctest.Wait()
		require.Equal(t, 2, fired)
		a.Stop()
		a.Stop()
		a.Wait()
	})
}

func TestIn(t *testing.T) {
	for _, row := range []struct {
		now  int64
		d    time.Duration
		want int64
	}{
		{5, 7, 12},
		{-5, 7, 2},
		{5, math.MaxInt64, latest + 1}, // never comes
		{latest - 5, 10, latest + 1},
		{latest, 10, latest}, // the 292 years are over
	} {
		require.Equal(t, row.want, In(row.now, row.d), "%v", row)
	}
}

// A fake clock past 292 years: items still come out, at once.
func TestClockPastItsRange(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Unix(0, 0))
	a := New(fake)
	for range 5 {
		fake.Step(100 * 365 * 24 * time.Hour)
	}
	require.LessOrEqual(t, In(a.Now(), time.Hour), a.Now())
	require.Less(t, a.Now(), int64(Never))
}
