package main

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// This file is left out where controller-runtime is not what is compared.

func init() {
	more = append(more, benchCase{"priority-queue", "op=cycle/n=10k", "Add, GetWithPriority, Done of one item after the other", cpuTime, priorityCycle})
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
