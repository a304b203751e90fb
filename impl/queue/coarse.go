package queue

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/impl/internal/core"
	"k8s.io/utils/clock"
)

var _ clock.WithTicker = (*CoarseClock)(nil)

// A CoarseClock is a clock whose Now is up to a tick late, for metrics at the
// price of a memory read: give it to a queue as config.Clock and stop it after
// the queue. Latencies and durations are then exact to one tick. Timers and
// tickers are those of the clock beneath.
//
// Invariant: now is the nanoseconds from begin to the last tick.
type CoarseClock struct {
	clock.WithTicker
	begin time.Time
	now   atomic.Int64
	once  sync.Once
	stop  chan struct{}
	ended chan struct{}
}

// NewCoarseClock makes a clock that reads c once a tick, in a goroutine that
// runs until Stop.
func NewCoarseClock(c clock.WithTicker, tick time.Duration) *CoarseClock {
	if c == nil || tick <= 0 {
		panic(fmt.Sprintf("queue.NewCoarseClock: found clock %v and tick %v, expected a clock, such as clock.RealClock{}, and a tick of more than zero", c, tick))
	}
	k := &CoarseClock{WithTicker: c, begin: c.Now(), stop: make(chan struct{}), ended: make(chan struct{})}
	ticker := c.NewTicker(tick)
	go func() {
		defer close(k.ended)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C():
				k.now.Store(int64(c.Since(k.begin)))
			case <-k.stop:
				return
			}
		}
	}()
	return k
}

// Now is the time of the last tick.
func (k *CoarseClock) Now() time.Time { return k.begin.Add(time.Duration(k.now.Load())) }

// Elapsed is the time from when the clock was made to the last tick. Queues read
// it in place of Since, for it costs less.
func (k *CoarseClock) Elapsed() core.Elapsed { return core.Elapsed(k.now.Load()) }

// Since is the time from t to the last tick.
func (k *CoarseClock) Since(t time.Time) time.Duration {
	return k.begin.Sub(t) + time.Duration(k.now.Load())
}

// Stop ends the goroutine. Time stands still from then on.
func (k *CoarseClock) Stop() {
	k.once.Do(func() { close(k.stop) })
	<-k.ended
}
