package election

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/clock"
)

// A skewed clock shows another time than the real one and runs at another rate.
type skewed struct {
	clock.RealClock
	origin time.Time
	offset time.Duration
	rate   float64
}

func (c skewed) Now() time.Time {
	return c.origin.Add(c.offset + time.Duration(float64(time.Since(c.origin))*c.rate))
}

func (c skewed) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (c skewed) NewTimer(d time.Duration) clock.Timer {
	return c.RealClock.NewTimer(time.Duration(float64(d)/c.rate) + 1) // rounded up: never early
}

// overlap cuts one leader after the other off from the server and returns how
// often a candidate started to lead beside another. The candidates' clocks run at
// the given rates.
func overlap(t *testing.T, seed uint64, renewDeadline time.Duration, rates ...float64) (overlaps, terms int) {
	network := rand.New(rand.NewPCG(seed, 0)) // guarded by mu
	r := rand.New(rand.NewPCG(seed, 1<<32))
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var cut string
		server := NewMemory(clock.RealClock{}, func(c Call) Fault {
			mu.Lock()
			defer mu.Unlock()
			if c.Identity == cut {
				return Fault{Err: errors.New("the server is unreachable")}
			}
			return Fault{Request: time.Duration(network.IntN(100)) * time.Millisecond, Response: time.Duration(network.IntN(100)) * time.Millisecond}
		})
		ctx, cancel := context.WithCancel(t.Context())
		works := make([]context.Context, len(rates))
		var running sync.WaitGroup
		for i, rate := range rates {
			jitter := rand.New(rand.NewPCG(seed, uint64(i+1)))
			config := leaderelection.LeaderElectionConfig{
				Lock:          server.Lock(string(rune('a' + i))),
				LeaseDuration: 15 * time.Second, RenewDeadline: renewDeadline, RetryPeriod: 2 * time.Second,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStoppedLeading: func() {},
					OnStartedLeading: func(ctx context.Context) {
						mu.Lock()
						defer mu.Unlock()
						terms++
						works[i] = ctx
						if slices.ContainsFunc(works, func(o context.Context) bool { return o != nil && o != ctx && o.Err() == nil }) {
							overlaps++
						}
					},
				},
			}
			c := skewed{origin: time.Now(), offset: time.Duration(r.IntN(7200)-3600) * time.Second, rate: rate}
			running.Go(func() {
				for ctx.Err() == nil {
					e, err := NewWithOptions(config, Options{Clock: c, Rand: jitter.Float64})
					if !assert.NoError(t, err) {
						return
					}
					e.Run(ctx)
				}
			})
		}
		for range 40 {
			<-time.After(time.Duration(5+r.IntN(10)) * time.Second)
			mu.Lock()
			if record, ok := server.Record(); ok {
				cut = record.HolderIdentity
			}
			mu.Unlock()
			<-time.After(time.Minute)
		}
		cancel()
		running.Wait()
	})
	return overlaps, terms
}

// The promise: rates that differ by less than LeaseDuration / RenewDeadline.
func TestClockRates(t *testing.T) {
	seed := rand.Uint64()
	for _, test := range []struct {
		name     string
		deadline time.Duration
		rates    []float64
		safe     bool
	}{
		{"equal", 10 * time.Second, []float64{1, 1, 1}, true},
		{"just below 15/10", 10 * time.Second, []float64{1, 1.2, 1.49}, true},
		{"just below 15/14.5", 14500 * time.Millisecond, []float64{1, 1.01, 1.03}, true},
		{"just below 15/3", 3 * time.Second, []float64{0.5, 1, 2.45}, true},
		{"beyond 15/10", 10 * time.Second, []float64{1, 1, 2}, false},
		{"beyond 15/14.5", 14500 * time.Millisecond, []float64{1, 1, 1.4}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			overlaps, terms := overlap(t, seed, test.deadline, test.rates...)
			require.Greater(t, terms, 10, "seed %d", seed)
			if test.safe {
				assert.Zero(t, overlaps, "of %d terms, seed %d", terms, seed)
				return
			}
			for more := range uint64(7) { // of one seed's terms, now and then none overlap
				if overlaps > 0 {
					return
				}
				overlaps, _ = overlap(t, seed+1+more, test.deadline, test.rates...)
			}
			assert.Positive(t, overlaps, "beyond the promise it breaks, but not with seeds from %d on", seed)
		})
	}
}
