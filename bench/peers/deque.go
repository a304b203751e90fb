package main

import (
	"github.com/gammazero/deque"
	"k8s.io/client-go/util/workqueue"
)

// dequeStorage is gammazero/deque as a work queue's storage.
type dequeStorage struct{ deque.Deque[string] }

func newDeque() workqueue.Queue[string] { return &dequeStorage{} }

func (d *dequeStorage) Touch(string)     {}
func (d *dequeStorage) Push(item string) { d.PushBack(item) }
func (d *dequeStorage) Pop() string      { return d.PopFront() }
