package ratelimit

import (
	"sync"
	"time"

	"github.com/informerbench/informerbench/impl/internal/keytable"
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.TypedRateLimiter[string] = (*bounded[string])(nil)

// bounded is an exponential limiter whose memory is bounded although nobody
// forgets (kubernetes/kubernetes#138743). Its keys form a list in the order of
// their last failures, linked by slot numbers; the oldest give way.
//
// Invariant: the list that starts at oldest, along newer, holds each slot of
// keys once, its failed times do not fall and its length is at most maxKeys.
type bounded[T comparable] struct {
	stopwatch
	base, max time.Duration
	maxKeys   int
	maxAge    time.Duration

	mu             sync.Mutex
	keys           keytable.Table[T, record]
	oldest, newest uint32
}

// A record is the failures of one key.
type record struct {
	failed       int64 // when the last failure was
	failures     uint32
	older, newer uint32
}

// none ends the list.
const none = ^uint32(0)

// NewBoundedItemExponentialFailure makes a limiter like
// NewItemExponentialFailure that keeps at most as many keys as WithMaxKeys
// says, and each for as long as WithMaxAge says; without either it is unbounded.
func NewBoundedItemExponentialFailure[T comparable](base, max time.Duration, opts ...Option) workqueue.TypedRateLimiter[T] {
	o := apply(opts)
	b := &bounded[T]{
		stopwatch: newStopwatch(o.clock),
		base:      base,
		max:       max,
		maxKeys:   o.keys,
		maxAge:    o.age,
		oldest:    none,
		newest:    none,
	}
	b.keys.Init()
	return b
}

// NewBoundedDefault makes a default controller limiter whose memory and whose
// waits are bounded: it keeps the failures of the 100,000 keys that failed last,
// and its bucket gives no tokens away more than a minute ahead.
func NewBoundedDefault[T comparable]() workqueue.TypedRateLimiter[T] {
	return NewMaxOf(
		NewBoundedItemExponentialFailure[T](defaultBaseDelay, defaultMaxDelay, WithMaxKeys(100_000)),
		NewBucket[T](defaultRate, defaultBurst, WithMaxReservation(time.Minute)),
	)
}

// moment is now, or any moment if nothing gets too old: then the clock is not read.
func (b *bounded[T]) moment() int64 {
	if b.maxAge <= 0 {
		return 0
	}
	return b.now()
}

func (b *bounded[T]) When(item T) time.Duration {
	hash := b.keys.Hash(item)
	now := b.moment()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	slot, ok := b.keys.Find(hash, item)
	if ok {
		b.unlink(slot)
	} else {
		if b.keys.Len() >= b.maxKeys {
			b.remove(b.oldest)
		}
		slot = b.keys.Insert(hash, item)
	}
	b.link(slot)
	r := b.keys.At(slot)
	r.failed = now
	return exponential(b.base, b.max, fail(&r.failures))
}

func (b *bounded[T]) NumRequeues(item T) int {
	hash := b.keys.Hash(item)
	now := b.moment()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	if slot, ok := b.keys.Find(hash, item); ok {
		return int(b.keys.At(slot).failures)
	}
	return 0
}

func (b *bounded[T]) Forget(item T) {
	hash := b.keys.Hash(item)
	b.mu.Lock()
	defer b.mu.Unlock()
	if slot, ok := b.keys.Find(hash, item); ok {
		b.unlink(slot)
		b.keys.Remove(slot)
	}
}

// expire forgets the keys that are too old; every call pays for what earlier
// ones inserted.
func (b *bounded[T]) expire(now int64) {
	for b.maxAge > 0 && b.oldest != none && now-b.keys.At(b.oldest).failed >= int64(b.maxAge) {
		b.remove(b.oldest)
	}
}

func (b *bounded[T]) remove(slot uint32) {
	b.unlink(slot)
	b.keys.Remove(slot)
}

// link makes slot the newest.
func (b *bounded[T]) link(slot uint32) {
	r := b.keys.At(slot)
	r.older, r.newer = b.newest, none
	if b.newest == none {
		b.oldest = slot
	} else {
		b.keys.At(b.newest).newer = slot
	}
	b.newest = slot
}

func (b *bounded[T]) unlink(slot uint32) {
	r := b.keys.At(slot)
	if r.older == none {
		b.oldest = r.newer
	} else {
		b.keys.At(r.older).newer = r.newer
	}
	if r.newer == none {
		b.newest = r.older
	} else {
		b.keys.At(r.newer).older = r.older
	}
}
