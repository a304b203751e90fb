package ratelimit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
)

type limiter = workqueue.TypedRateLimiter[string]

// lowest is upstream's exponential limiter with a base below zero. It converts what
// lies beyond an int64, for which Go answers what the processor does: the lowest
// int64 on amd64 and arm64, but not on 386.
type lowest struct {
	limiter
	base time.Duration
}

func (l lowest) When(key string) time.Duration {
	failures := l.NumRequeues(key)
	delay := l.limiter.When(key)
	if math.Ldexp(float64(l.base), failures) < math.MinInt64 {
		return math.MinInt64
	}
	return delay
}

// pairs are our limiters, each with the upstream one that it must equal.
var pairs = map[string]struct{ ours, theirs func() limiter }{
	"map exponential": {
		func() limiter { return NewMapItemExponentialFailure[string](3*time.Millisecond, 77*time.Second) },
		func() limiter {
			return workqueue.NewTypedItemExponentialFailureRateLimiter[string](3*time.Millisecond, 77*time.Second)
		}},
	"exponential": {
		func() limiter { return NewItemExponentialFailure[string](3*time.Millisecond, 77*time.Second) },
		func() limiter {
			return workqueue.NewTypedItemExponentialFailureRateLimiter[string](3*time.Millisecond, 77*time.Second)
		}},
	"exponential to the largest": {
		func() limiter { return NewItemExponentialFailure[string](3, math.MaxInt64) },
		func() limiter { return workqueue.NewTypedItemExponentialFailureRateLimiter[string](3, math.MaxInt64) }},
	"exponential from zero": {
		func() limiter { return NewItemExponentialFailure[string](0, time.Second) },
		func() limiter { return workqueue.NewTypedItemExponentialFailureRateLimiter[string](0, time.Second) }},
	"map exponential from below zero": {
		func() limiter { return NewMapItemExponentialFailure[string](-5*time.Hour, -6*time.Hour) },
		func() limiter {
			return lowest{workqueue.NewTypedItemExponentialFailureRateLimiter[string](-5*time.Hour, -6*time.Hour), -5 * time.Hour}
		}},
	"exponential from below zero": {
		func() limiter { return NewItemExponentialFailure[string](-5*time.Hour, time.Second) },
		func() limiter {
			return lowest{workqueue.NewTypedItemExponentialFailureRateLimiter[string](-5*time.Hour, time.Second), -5 * time.Hour}
		}},
	"exponential base above the maximum": {
		func() limiter { return NewItemExponentialFailure[string](time.Minute, time.Second) },
		func() limiter {
			return workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Minute, time.Second)
		}},
	"bounded, no bound reached": {
		func() limiter { return NewBoundedItemExponentialFailure[string](3, 77, WithMaxKeys(1000)) },
		func() limiter { return workqueue.NewTypedItemExponentialFailureRateLimiter[string](3, 77) }},
	"map fast slow": {
		func() limiter { return NewMapItemFastSlow[string](time.Second, time.Minute, 3) },
		func() limiter { return workqueue.NewTypedItemFastSlowRateLimiter[string](time.Second, time.Minute, 3) }},
	"fast slow": {
		func() limiter { return NewItemFastSlow[string](time.Second, time.Minute, 3) },
		func() limiter { return workqueue.NewTypedItemFastSlowRateLimiter[string](time.Second, time.Minute, 3) }},
	"map default": {
		NewMapDefault[string],
		workqueue.DefaultTypedControllerRateLimiter[string]},
	"default": {
		func() limiter { return NewDefault[string]() },
		workqueue.DefaultTypedControllerRateLimiter[string]},
	"bucket": {
		func() limiter { return NewBucket[string](10, 5) },
		func() limiter { return &workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(10, 5)} }},
	"max wait": {
		func() limiter { return NewWithMaxWait(NewBucket[string](10, 5), time.Second) },
		func() limiter {
			return workqueue.NewTypedWithMaxWaitRateLimiter[string](&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(10, 5)}, time.Second)
		}},
	"max of none": {
		func() limiter { return NewMaxOf[string]() },
		func() limiter { return workqueue.NewTypedMaxOfRateLimiter[string]() }},
}

// Random operations on our limiter and upstream's in virtual time; delays may
// differ by the nanosecond that a bucket in floating point loses.
func TestLimitersMatchClientGo(t *testing.T) {
	for name, pair := range pairs {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Log("seed", seed)
			rng := rand.New(rand.NewPCG(seed, 0))
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := pair.ours(), pair.theirs()
				for step := range 5000 {
					key := fmt.Sprint("key", rng.IntN(10)*rng.IntN(10))
					switch rng.IntN(12) {
					case 0:
						ours.Forget(key)
						theirs.Forget(key)
					case 1:
						time.Sleep(time.Duration(rng.IntN(2e9)))
					default:
						want, got := theirs.When(key), ours.When(key)
						require.InDelta(t, int64(want), int64(got), 1, "step %d", step)
					}
					require.Equal(t, theirs.NumRequeues(key), ours.NumRequeues(key), "step %d", step)
				}
			})
		})
	}
}

func TestExponentialNeverOverflows(t *testing.T) {
	for name, l := range map[string]limiter{
		"map":     NewMapItemExponentialFailure[string](time.Millisecond, 1000*time.Second),
		"compact": NewItemExponentialFailure[string](time.Millisecond, 1000*time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			last := time.Duration(0)
			for range 1000 {
				delay := l.When("key")
				require.GreaterOrEqual(t, delay, last)
				last = delay
			}
			require.Equal(t, 1000*time.Second, last)
			require.Equal(t, 1000, l.NumRequeues("key"))
		})
	}
	require.Equal(t, time.Hour, exponential(1, time.Hour, math.MaxUint32))
	most := uint32(math.MaxUint32)
	require.Equal(t, most, fail(&most))
	require.Equal(t, uint32(math.MaxUint32), most, "the count wrapped")
}

// Upstream guards its conversion with a comparison that 2⁶³ passes: a base that
// is a power of two nanoseconds gives one negative delay, an immediate retry, where
// the processor makes that of it.
func TestUpstreamOverflowsOnce(t *testing.T) {
	theirs := workqueue.NewTypedItemExponentialFailureRateLimiter[string](1, time.Second)
	ours := NewItemExponentialFailure[string](1, time.Second)
	least := time.Duration(0)
	for range 70 {
		least = min(least, theirs.When("key"))
		require.Positive(t, ours.When("key"))
	}
	converted := time.Duration(math.Ldexp(1, 63)) // the lowest on amd64 and 386, the highest on arm64
	require.Equal(t, min(0, converted), least, "upstream no longer overflows: drop this test")
}

func TestBoundedKeys(t *testing.T) {
	fake := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	l := NewBoundedItemExponentialFailure[string](1, 1000, WithClock(fake), WithMaxKeys(3), WithMaxAge(time.Minute)).(*bounded[string])
	for i := range 10_000 {
		l.When(fmt.Sprint(i))
		require.LessOrEqual(t, l.keys.Len(), 3)
	}
	require.Equal(t, time.Duration(2), l.When("9997"), "kept: one of the last three")
	l.When("new")
	require.Equal(t, 0, l.NumRequeues("9998"), "its last failure was the oldest")
	require.Equal(t, 2, l.NumRequeues("9997"))
	l.Forget("9997")
	require.Equal(t, 0, l.NumRequeues("9997"))

	fake.SetTime(time.Unix(59, 0))
	require.Equal(t, time.Duration(2), l.When("new"))
	fake.SetTime(time.Unix(61, 0))
	require.Equal(t, 0, l.NumRequeues("9999"), "too old")
	require.Equal(t, 2, l.NumRequeues("new"), "failed two seconds ago")
	fake.SetTime(time.Unix(119, 0))
	require.Equal(t, time.Duration(1), l.When("new"), "starts over")
	require.Equal(t, 1, l.keys.Len())
}

// A storm over many keys, then quiet: with a bounded reservation a retry waits
// no longer than the bound, and soon after it as if nothing had happened.
func TestMaxReservation(t *testing.T) {
	fake := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	l := NewDefault[int](WithClock(fake), WithMaxReservation(10*time.Second))
	for key := range 50_000 {
		require.LessOrEqual(t, l.When(key), 10*time.Second)
	}
	fake.SetTime(time.Unix(11, 0))
	require.Equal(t, 5*time.Millisecond, l.When(-1))
}

// A nil clock is the real one, as in the configs of queues.
func TestNilClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewBucket[string](1, 1, WithClock(nil))
		l.When("key")
		time.Sleep(250 * time.Millisecond)
		require.Equal(t, 750*time.Millisecond, l.When("key"))
	})
}

func TestLimitersAllocateNothing(t *testing.T) {
	for name, l := range map[string]limiter{
		"default":     NewDefault[string](),
		"exponential": NewItemExponentialFailure[string](1, 1000),
		"fast slow":   NewItemFastSlow[string](1, 1000, 3),
		"bounded":     NewBoundedItemExponentialFailure[string](1, 1000, WithMaxKeys(10)),
	} {
		t.Run(name, func(t *testing.T) {
			l.When("other")
			require.Zero(t, testing.AllocsPerRun(1000, func() {
				l.When("key")
				l.Forget("key")
			}))
		})
	}
}
