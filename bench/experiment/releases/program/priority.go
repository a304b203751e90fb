package main

import (
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// This file is left out where controller-runtime is not what is compared.

func init() {
	more = append(more,
		benchCase{"priority-queue", "op=cycle/n=10k", "Add, GetWithPriority, Done of one item after the other", cpuTime, func(b *testing.B) { priorityCycle(b, 0) }},
		benchCase{"priority-queue", "op=cycle/queued=10k", "the same behind 10,000 items that are queued all the time", cpuTime, func(b *testing.B) { priorityCycle(b, 10_000) }},
		benchCase{"priority-queue", "op=add-contended/n=20k/workers=1k", "keys that are queued are added again beside 1,000 workers that sleep for 1 ms an item and queue it again", wallTime, addContended},
	)
}

// priorityCycle works through keys, behind others that stay queued.
func priorityCycle(b *testing.B, queued int) {
	q := priorityqueue.New[string]("bench")
	defer q.ShutDown()
	list := keys(queued + 10_000)
	for _, key := range list[:queued] {
		q.Add(key)
	}
	at, wrong := queued, 0 // the next to add; the oldest queued is got
	const batch = 100
	measured(b, batch, func() {
		for range batch {
			q.Add(list[at])
			at = (at + 1) % len(list)
			got, _, _ := q.GetWithPriority()
			if want := list[(at-1-queued+len(list))%len(list)]; got != want {
				wrong++
			}
			q.Done(got)
		}
	})
	if wrong > 0 {
		b.Fatalf("%d of the items got were not the oldest", wrong)
	}
}

// addContended leaves its workers where they are at the end of the process: releases before
// v0.23 hang when they are shut down while workers wait.
func addContended(b *testing.B) {
	q := priorityqueue.New[string]("bench")
	list := keys(20_000)
	for _, key := range list {
		q.Add(key)
	}
	var lost atomic.Int64
	for range 1000 {
		go func() {
			for {
				key, _ := q.Get()
				if key == "" {
					lost.Add(1)
				}
				time.Sleep(time.Millisecond)
				q.Done(key)
				q.Add(key)
			}
		}()
	}
	const batch = 100
	at := 0
	measured(b, batch, func() {
		for _, key := range list[at : at+batch] {
			q.Add(key)
		}
		at = (at + batch) % len(list)
	})
	if lost.Load() > 0 {
		b.Fatalf("%d of the items got were none that was added", lost.Load())
	}
}
