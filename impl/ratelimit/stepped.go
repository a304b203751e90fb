package ratelimit

import (
	"time"

	"k8s.io/client-go/util/workqueue"
)

var _ Stepped[string] = stepped[string]{}

// Stepped is a rate limiting queue whose owner makes the time pass: it has no
// goroutines, and nothing in it waits. A simulation in virtual time asks Next
// how far it may move the clock, moves it and calls Promote. It is for one
// goroutine, and needs no shutdown.
type Stepped[T comparable] interface {
	Add(item T)
	AddAfter(item T, d time.Duration)
	AddRateLimited(item T)
	Forget(item T)
	NumRequeues(item T) int
	Done(item T)
	Len() int

	// TryGet is Get that reports false in place of waiting for an item.
	TryGet() (item T, ok bool)
	// Next is when Promote has to be called, as the time since the queue was
	// made; false when no item waits.
	Next() (at time.Duration, waits bool)
	// Promote queues what is due by the clock, as the goroutine of the other
	// queues would.
	Promote()
}

// stepped is the fused queue with its alarm's goroutine replaced by the caller.
type stepped[T comparable] struct{ *fused[T] }

// NewStepped makes the queue of NewFusedQueue without its goroutines. The
// config's clock must be set; it is only read, never asked for a timer.
func NewStepped[T comparable](limiter workqueue.TypedRateLimiter[T], config workqueue.TypedRateLimitingQueueConfig[T]) Stepped[T] {
	return stepped[T]{newFused(limiter, config, QueueOptions{})}
}

func (q stepped[T]) Next() (at time.Duration, waits bool) {
	return time.Duration(q.armed), q.times.N > 0
}

func (q stepped[T]) Promote() { q.fire() }
