package bench

import (
	"testing"

	"github.com/informerbench/informerbench/impl"
	"k8s.io/client-go/util/workqueue"
)

// storageCases run each storage inside upstream's queue.
func storageCases() []Case {
	type variant = impl.Variant[impl.NewStorage[string]]
	stored := func(v variant) workqueue.TypedInterface[string] {
		return workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Queue: v.New()})
	}
	c := component[impl.NewStorage[string]]{"storage", "client-go", impl.Storages[string]()}
	return c.cases(
		question[impl.NewStorage[string]]{
			name: "op=cycle/keys=unique/n=10k", unit: cpuTime, quick: true, null: newNullStorage(10_000),
			summary: "Add, Get, Done through upstream's queue at depth 0",
			run:     func(b *testing.B, v variant) { cycleOver(b, stored(v), stringKeys(10_000)) },
		},
		question[impl.NewStorage[string]]{
			name: "op=backlog/n=100k", unit: cpuTime, null: newNullStorage(100_000),
			summary: "all items are added to upstream's queue, then all are got and done",
			run: func(b *testing.B, v variant) {
				fillAndDrain(b, stringKeys(100_000), func() workqueue.TypedInterface[string] { return stored(v) })
			},
		},
		question[impl.NewStorage[string]]{
			name: "op=push-pop/depth=1k", unit: cpuTime, null: newNullStorage(1000),
			summary: "the storage alone, a thousand items deep",
			run: func(b *testing.B, v variant) {
				keys := stringKeys(1000)
				s := v.New()
				for _, key := range keys {
					s.Push(key)
				}
				wrong := 0
				measured(b, len(keys), false, func() {
					for _, key := range keys {
						if s.Pop() != key {
							wrong++
						}
						s.Push(key)
					}
				})
				if wrong > 0 || s.Len() != len(keys) {
					b.Fatalf("%d items out of order, %d stored", wrong, s.Len())
				}
			},
		},
	)
}
