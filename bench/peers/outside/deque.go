package outside

import (
	"github.com/gammazero/deque"
	"k8s.io/client-go/util/workqueue"
)

// dequeStorage is gammazero/deque as a work queue's storage.
type dequeStorage[T any] struct{ deque.Deque[T] }

// NewStorage makes one.
func NewStorage[T comparable]() workqueue.Queue[T] { return &dequeStorage[T]{} }

func (d *dequeStorage[T]) Touch(T)     {}
func (d *dequeStorage[T]) Push(item T) { d.PushBack(item) }
func (d *dequeStorage[T]) Pop() T      { return d.PopFront() }
