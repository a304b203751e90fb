package priority

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

var _ Stepped[string] = stepped[string]{}

// Stepped is a priority queue whose owner makes the time pass, as
// ratelimit.Stepped is a rate limiting queue: for one goroutine, without
// goroutines of its own, in need of no shutdown.
type Stepped[T comparable] interface {
	AddWithOpts(o priorityqueue.AddOpts, items ...T)
	Forget(item T)
	NumRequeues(item T) int
	Done(item T)
	Len() int

	// TryGet is GetWithPriority that reports false in place of waiting.
	TryGet() (item T, priority int, ok bool)
	// Next is when Promote has to be called, as the time since the queue was
	// made; false when no item waits.
	Next() (at time.Duration, waits bool)
	// Promote makes ready what is due by the clock.
	Promote()
}

type stepped[T comparable] struct{ *priorityQueue[T] }

// NewStepped makes a priority queue without its goroutines. The config's clock
// must be set; it is only read, never asked for a timer.
func NewStepped[T comparable](config Config[T]) Stepped[T] {
	return stepped[T]{newPriorityQueue(config)}
}

func (q stepped[T]) TryGet() (item T, priority int, ok bool) {
	if q.eligible == 0 {
		return item, 0, false
	}
	item, priority, _ = q.GetWithPriority()
	return item, priority, true
}

func (q stepped[T]) Next() (at time.Duration, waits bool) {
	return time.Duration(q.armed), q.times.N > 0
}

func (q stepped[T]) Promote() { q.fire() }
