package queue_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/impl/impltest"
	"github.com/informerbench/informerbench/impl/queue"
)

func TestSlice(t *testing.T)   { impltest.TestQueue(t, queue.NewSlice[string], "global-provider") }
func TestRing(t *testing.T)    { impltest.TestQueue(t, queue.NewRing[string], "global-provider") }
func TestCompact(t *testing.T) { impltest.TestQueue(t, queue.NewCompact[string], "global-provider") }

func TestSharded(t *testing.T) {
	impltest.TestQueue(t, queue.NewSharded[string], "global-provider", "global-fifo", "requeue-place")
}

func TestSliceStorage(t *testing.T) { impltest.TestStorage(t, queue.NewSliceStorage[string]) }
func TestFairStorage(t *testing.T) {
	one := func() workqueue.Queue[string] { return queue.NewFairStorage(func(string) string { return "" }) }
	impltest.TestStorage(t, one)
	each := func() workqueue.Queue[string] { return queue.NewFairStorage(strings.Clone) }
	impltest.TestStorage(t, each, "storage-fifo", "storage-differential")
}

// A namespace with many items makes the others wait for one of its items, not for all.
func ExampleNewFairStorage() {
	q := queue.NewCompact(workqueue.TypedQueueConfig[cache.ObjectName]{
		Queue: queue.NewFairStorage(func(o cache.ObjectName) string { return o.Namespace }),
	})
	for _, name := range []string{"a", "b", "c"} {
		q.Add(cache.NewObjectName("busy", name))
	}
	q.Add(cache.NewObjectName("quiet", "a"))
	for q.Len() > 0 {
		item, _ := q.Get()
		fmt.Println(item)
		q.Done(item)
	}
	// Output:
	// busy/a
	// quiet/a
	// busy/b
	// busy/c
}

func TestRingStorage(t *testing.T) { impltest.TestStorage(t, queue.NewRingStorage[string]) }
