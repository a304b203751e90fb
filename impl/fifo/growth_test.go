package fifo_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/informerbench/informerbench/impl"
	"k8s.io/client-go/tools/cache"
)

// BenchmarkGrowth shows how the cost of an object grows with the number of those
// that are queued: op=backlog adds n objects and pops them all, op=replace
// queues them as one list. No store is behind the queue.
func BenchmarkGrowth(b *testing.B) {
	kinds := []struct {
		name     string
		variants []impl.Variant[impl.NewFIFO]
		config   impl.FIFOConfig
	}{
		{"fifo", impl.FIFOs(), impl.FIFOConfig{}},
		{"delta-fifo", impl.DeltaFIFOs(), impl.FIFOConfig{EmitReplaced: true}},
		{"in-order-fifo", impl.InOrderFIFOs(), impl.FIFOConfig{}},
	}
	ops := map[string]func(q cache.Queue, list []any) error{
		"backlog": func(q cache.Queue, list []any) error {
			for _, obj := range list {
				if err := q.Add(obj); err != nil {
					return err
				}
			}
			return nil
		},
		"replace": func(q cache.Queue, list []any) error { return q.Replace(list, "1") },
	}
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		list := make([]any, n)
		for i := range list {
			list[i] = object("object-" + strconv.Itoa(i))
		}
		for _, kind := range kinds {
			for op, fill := range ops {
				for _, v := range kind.variants {
					b.Run(fmt.Sprintf("kind=%s/op=%s/n=%d/impl=%s", kind.name, op, n, v.Name), func(b *testing.B) {
						config := kind.config
						config.KeyFunc = cache.MetaNamespaceKeyFunc
						config.KnownObjects = cache.NewStore(cache.MetaNamespaceKeyFunc)
						q := v.New(config)
						for b.Loop() {
							if err := fill(q, list); err != nil {
								b.Fatal(err)
							}
							if err := popAll(q, n); err != nil {
								b.Fatal(err)
							}
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/object")
					})
				}
			}
		}
	}
}

// popAll pops until n objects were given, in batches where q has them.
func popAll(q cache.Queue, n int) error {
	one := func(any, bool) error { n--; return nil }
	many := func(deltas []cache.Delta, _ bool) error { n -= len(deltas); return nil }
	batched, _ := q.(cache.QueueWithBatch)
	for n > 0 {
		var err error
		if batched != nil {
			err = batched.PopBatch(many, one)
		} else {
			_, err = q.Pop(one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
