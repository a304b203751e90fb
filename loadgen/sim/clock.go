package sim

import (
	"time"

	"k8s.io/utils/clock"
)

// epoch is when virtual time begins.
var epoch = time.Unix(0, 0)

// virtualClock is the time of one simulation. It only answers what time it is;
// nothing in a simulation waits for a timer.
type virtualClock struct {
	clock.WithTicker
	now time.Duration
}

func (c *virtualClock) Now() time.Time { return epoch.Add(c.now) }

func (c *virtualClock) Since(t time.Time) time.Duration {
	if t == epoch { // when the queues were made, which is what they ask
		return c.now
	}
	return epoch.Add(c.now).Sub(t)
}
