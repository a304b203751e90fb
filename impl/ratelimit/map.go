package ratelimit

import (
	"math"
	"sync"
	"time"

	"github.com/informerbench/informerbench/impl/internal/core"
	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

// Defaults of a controller's rate limiter.
const (
	defaultBaseDelay = 5 * time.Millisecond
	defaultMaxDelay  = 1000 * time.Second
	defaultRate      = rate.Limit(10)
	defaultBurst     = 100
)

var (
	_ workqueue.TypedRateLimiter[string] = (*mapExponential[string])(nil)
	_ workqueue.TypedRateLimiter[string] = (*mapFastSlow[string])(nil)
	_ workqueue.TypedRateLimiter[string] = rateBucket[string]{}
)

// NewMapDefault makes the reference of the default controller limiter: the
// references of the exponential limiter and of the bucket, each with its own
// lock, under NewMaxOf.
func NewMapDefault[T comparable]() workqueue.TypedRateLimiter[T] {
	return NewMaxOf(
		NewMapItemExponentialFailure[T](defaultBaseDelay, defaultMaxDelay),
		NewRateBucket[T](rate.NewLimiter(defaultRate, defaultBurst)),
	)
}

// failures counts failures by key.
type failures[T comparable] struct {
	mu    sync.Mutex
	byKey core.Map[T, int]
}

// NumRequeues is how often When was asked since the last Forget.
func (f *failures[T]) NumRequeues(item T) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byKey.M[item]
}

// Forget resets the failures of item.
func (f *failures[T]) Forget(item T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.byKey.Delete(item)
}

// count adds a failure and returns how many there were before.
func (f *failures[T]) count(item T) (before int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before = f.byKey.M[item]
	f.byKey.M[item] = before + 1
	return before
}

// mapExponential is base·2^failures, at most max.
type mapExponential[T comparable] struct {
	failures[T]
	base, max time.Duration
}

// NewMapItemExponentialFailure makes the reference of NewItemExponentialFailure.
func NewMapItemExponentialFailure[T comparable](base, max time.Duration) workqueue.TypedRateLimiter[T] {
	return &mapExponential[T]{failures: failures[T]{byKey: core.Map[T, int]{M: map[T]int{}}}, base: base, max: max}
}

func (l *mapExponential[T]) When(item T) time.Duration {
	delay := l.base
	for range l.count(item) {
		switch {
		case delay > 0 && delay > l.max/2:
			return l.max
		case delay < math.MinInt64/2:
			return math.MinInt64
		case delay == 0:
			return min(0, l.max)
		}
		delay *= 2
	}
	return min(delay, l.max)
}

// mapFastSlow is fast for the first attempts of a key, then slow.
type mapFastSlow[T comparable] struct {
	failures[T]
	fast, slow      time.Duration
	maxFastAttempts int
}

// NewMapItemFastSlow makes the reference of NewItemFastSlow.
func NewMapItemFastSlow[T comparable](fast, slow time.Duration, maxFastAttempts int) workqueue.TypedRateLimiter[T] {
	return &mapFastSlow[T]{failures: failures[T]{byKey: core.Map[T, int]{M: map[T]int{}}}, fast: fast, slow: slow, maxFastAttempts: maxFastAttempts}
}

func (l *mapFastSlow[T]) When(item T) time.Duration {
	if l.count(item) < l.maxFastAttempts {
		return l.fast
	}
	return l.slow
}

// rateBucket reserves from a golang.org/x/time/rate limiter.
type rateBucket[T comparable] struct{ limiter *rate.Limiter }

// NewRateBucket makes the reference of NewBucket, over golang.org/x/time/rate.
func NewRateBucket[T comparable](limiter *rate.Limiter) workqueue.TypedRateLimiter[T] {
	if limiter == nil {
		panic("ratelimit.NewRateBucket: limiter is nil, expected one, such as rate.NewLimiter(10, 100)")
	}
	return rateBucket[T]{limiter}
}

func (b rateBucket[T]) When(T) time.Duration { return b.limiter.Reserve().Delay() }
func (b rateBucket[T]) NumRequeues(T) int    { return 0 }
func (b rateBucket[T]) Forget(T)             {}
