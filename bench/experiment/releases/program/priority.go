package main

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// This file is left out where controller-runtime is not what is compared.

func init() {
	more = append(more,
		benchCase{"priority-queue", "op=cycle/n=10k", "Add, GetWithPriority, Done of one item after the other", cpuTime, priorityCycle},
		benchCase{"priority-queue", "op=add-contended/n=200k/workers=1k", "a thousand keys of many are added again beside 1,000 workers that sleep for 1 ms an item", wallTime, addContended},
	)
}

func priorityCycle(b *testing.B) {
	q := priorityqueue.New[string]("bench")
	defer q.ShutDown()
	list, next, wrong := keys(10_000), 0, 0
	const batch = 100
	measured(b, batch, func() {
		for _, key := range list[next : next+batch] {
			q.Add(key)
			got, _, _ := q.GetWithPriority()
			if got != key {
				wrong++
			}
			q.Done(got)
		}
		next = (next + batch) % len(list)
	})
	if wrong > 0 {
		b.Fatalf("%d of the items got were not the one added", wrong)
	}
}

func addContended(b *testing.B) {
	q := priorityqueue.New[string]("bench")
	list := keys(200_000)
	for _, key := range list {
		q.Add(key)
	}
	var working sync.WaitGroup
	var lost atomic.Int64
	for range 1000 {
		working.Go(func() {
			for {
				key, shutdown := q.Get()
				if shutdown {
					return
				}
				if key == "" {
					lost.Add(1)
				}
				time.Sleep(time.Millisecond)
				q.Done(key)
			}
		})
	}
	const batch = 1000
	measured(b, batch, func() {
		for _, key := range list[:batch] {
			q.Add(key)
		}
	})
	q.ShutDown()
	working.Wait()
	if lost.Load() > 0 {
		b.Fatalf("%d of the items got were none that was added", lost.Load())
	}
}
