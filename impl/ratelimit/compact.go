package ratelimit

import (
	"math"
	"sync"
	"time"

	"github.com/informerbench/informerbench/impl/internal/keytable"
	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

var (
	_ workqueue.TypedRateLimiter[string] = (*compactExponential[string])(nil)
	_ workqueue.TypedRateLimiter[string] = (*compactFastSlow[string])(nil)
	_ workqueue.TypedRateLimiter[string] = (*compactBucket[string])(nil)
)

// compactFailures counts failures in a table of keys: four bytes a key beside
// the key itself. The key is hashed outside the lock. A key that can't be hashed
// panics there, and nothing panics under the lock, so no unlock is deferred.
//
// Invariant: a key is in the table ⇔ its count is at least one.
type compactFailures[T comparable] struct {
	mu   sync.Mutex
	keys keytable.Table[T, uint32]
}

// NumRequeues is how often When was asked since the last Forget.
func (f *compactFailures[T]) NumRequeues(item T) int {
	hash := f.keys.Hash(item)
	failures := 0
	f.mu.Lock()
	if slot, ok := f.keys.Find(hash, item); ok {
		failures = int(*f.keys.At(slot))
	}
	f.mu.Unlock()
	return failures
}

// Forget resets the failures of item.
func (f *compactFailures[T]) Forget(item T) {
	hash := f.keys.Hash(item)
	f.mu.Lock()
	if slot, ok := f.keys.Find(hash, item); ok {
		f.keys.Remove(slot)
	}
	f.mu.Unlock()
}

// count adds a failure and returns how many there were before. The caller
// holds mu.
func (f *compactFailures[T]) count(hash uint32, item T) (before uint32) {
	slot, _ := f.keys.Enter(hash, item)
	return fail(f.keys.At(slot))
}

// fail adds one to a count of failures and returns what it was.
func fail(count *uint32) (before uint32) {
	before = *count
	if before < math.MaxUint32 {
		*count = before + 1
	}
	return before
}

// exponential is base·2^failures, at most max, without overflow.
func exponential(base, max time.Duration, failures uint32) time.Duration {
	if base <= 0 {
		if base < 0 && (failures >= 63 || base < math.MinInt64>>failures) {
			return math.MinInt64
		}
		return min(base<<failures, max)
	}
	// The shift rounds max down, which changes nothing: base is whole.
	if failures < 63 && base <= max>>failures {
		return base << failures
	}
	return max
}

// compactExponential is base·2^failures, at most max.
type compactExponential[T comparable] struct {
	compactFailures[T]
	base, max time.Duration
}

// NewItemExponentialFailure makes a limiter that answers base·2^failures for
// each item, at most max.
//
// Upstream computes the same in floating point, which agrees to the
// nanosecond for delays below 104 days.
func NewItemExponentialFailure[T comparable](base, max time.Duration) workqueue.TypedRateLimiter[T] {
	l := &compactExponential[T]{base: base, max: max}
	l.keys.Init()
	return l
}

func (l *compactExponential[T]) When(item T) time.Duration {
	hash := l.keys.Hash(item)
	l.mu.Lock()
	failures := l.count(hash, item)
	l.mu.Unlock()
	return exponential(l.base, l.max, failures)
}

// compactFastSlow is fast for the first attempts of a key, then slow.
type compactFastSlow[T comparable] struct {
	compactFailures[T]
	fast, slow      time.Duration
	maxFastAttempts int
}

// NewItemFastSlow makes a limiter that answers fast for the first
// maxFastAttempts failures of an item, then slow.
func NewItemFastSlow[T comparable](fast, slow time.Duration, maxFastAttempts int) workqueue.TypedRateLimiter[T] {
	l := &compactFastSlow[T]{fast: fast, slow: slow, maxFastAttempts: maxFastAttempts}
	l.keys.Init()
	return l
}

func (l *compactFastSlow[T]) When(item T) time.Duration {
	hash := l.keys.Hash(item)
	l.mu.Lock()
	failures := l.count(hash, item)
	l.mu.Unlock()
	if int64(failures) < int64(l.maxFastAttempts) {
		return l.fast
	}
	return l.slow
}

// compactBucket is an integer token bucket for all items.
type compactBucket[T comparable] struct {
	stopwatch
	mu     sync.Mutex
	bucket bucket
}

// NewBucket makes a limiter that reserves a token from one bucket for every
// When, whatever the item: limit tokens a second, burst of them at first. It
// answers as golang.org/x/time/rate's limiter does, but for the rounding of
// that one's floating point. WithMaxReservation bounds its reservations.
func NewBucket[T comparable](limit rate.Limit, burst int, opts ...Option) workqueue.TypedRateLimiter[T] {
	o := apply(opts)
	return &compactBucket[T]{stopwatch: newStopwatch(o.clock), bucket: newBucket(limit, burst, o.horizon)}
}

func (b *compactBucket[T]) When(T) time.Duration {
	now := b.now()
	b.mu.Lock()
	delay := b.bucket.reserve(now)
	b.mu.Unlock()
	return delay
}

func (b *compactBucket[T]) NumRequeues(T) int { return 0 }
func (b *compactBucket[T]) Forget(T)          {}
