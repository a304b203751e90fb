package queue

import "k8s.io/client-go/util/workqueue"

var _ workqueue.Queue[string] = (*fairStorage[string])(nil)

// fairStorage takes turns between groups of items.
//
// Invariant: groups has the groups with items, each once in order; the next to be
// served is order's oldest; n is the number of items of all.
type fairStorage[T comparable] struct {
	groupOf func(T) string
	groups  map[string]workqueue.Queue[T]
	order   workqueue.Queue[string]
	n       int
}

// NewFairStorage makes a storage that takes one item of each group in turn, the oldest
// first, where the others take the oldest of all. So a namespace with many items makes
// each other one wait for one of its items, not for all
// (kubernetes-sigs/controller-runtime#3257). Put it as Queue into the configuration of
// upstream's queue or of one of this package:
//
//	queue.NewFairStorage(func(r reconcile.Request) string { return r.Namespace })
func NewFairStorage[T comparable](groupOf func(T) string) workqueue.Queue[T] {
	if groupOf == nil {
		panic("queue.NewFairStorage: groupOf is nil, expected a function that names an item's group, such as its namespace")
	}
	return &fairStorage[T]{groupOf: groupOf, groups: map[string]workqueue.Queue[T]{}, order: NewRingStorage[string]()}
}

func (s *fairStorage[T]) Touch(T)  {}
func (s *fairStorage[T]) Len() int { return s.n }

func (s *fairStorage[T]) Push(item T) {
	group := s.groupOf(item)
	items := s.groups[group]
	if items == nil {
		items = NewRingStorage[T]()
		s.groups[group] = items
		s.order.Push(group)
	}
	items.Push(item)
	s.n++
}

// Pop takes the next group's oldest item. As upstream's storage it must not be called
// when Len is zero.
func (s *fairStorage[T]) Pop() T {
	group := s.order.Pop()
	items := s.groups[group]
	item := items.Pop()
	if items.Len() > 0 {
		s.order.Push(group)
	} else {
		delete(s.groups, group)
	}
	s.n--
	return item
}
