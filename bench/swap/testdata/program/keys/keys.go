// Package keys has queues whose keys no other package can name.
package keys

import "k8s.io/client-go/util/workqueue"

type key struct{ name string }

// A Queue hides its keys.
type Queue struct {
	q workqueue.TypedRateLimitingInterface[key]
}

// New makes a queue with keys that are private to the package.
func New() Queue {
	return Queue{Named[key]("private")}
}

// Named makes a queue for keys of any type.
func Named[T comparable](name string) workqueue.TypedRateLimitingInterface[T] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[T](), workqueue.TypedRateLimitingQueueConfig[T]{Name: name})
}

// Add adds a key.
func (q Queue) Add(name string) { q.q.Add(key{name}) }

// Work takes keys until there is none left to come.
func (q Queue) Work() { Drain[key](q.q) }

// Local makes a queue whose keys' type nobody can name.
func Local() (add func(name string), work func()) {
	type local struct{ name string }
	q := Named[local]("local")
	return func(name string) { q.AddRateLimited(local{name}) }, func() { Drain(q) }
}

// Drain works on a queue until it is shut down.
func Drain[T comparable](q workqueue.TypedInterface[T]) {
	for {
		item, shutdown := q.Get()
		if shutdown {
			return
		}
		if l, ok := q.(workqueue.TypedRateLimitingInterface[T]); ok {
			l.Forget(item)
		}
		q.Done(item)
	}
}
