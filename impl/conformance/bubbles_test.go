package conformance

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/impl"
)

// The tests in this file use one object in several synctest bubbles and outside of
// any: a controller's tests share caches. What a variant makes in a bubble to wait
// with (a timer, a channel) must not be met outside of it, or the process ends.

// shared calls f beside itself in two bubbles at a time, then outside of any, and
// again.
func shared(t *testing.T, f func(i int)) {
	for range 3 {
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { synctest.Test(t, func(*testing.T) { beside(f) }) })
		}
		both.Go(func() { beside(f) })
		both.Wait()
		beside(f)
	}
}

// beside makes the call 200 times in each of three goroutines.
func beside(f func(i int)) {
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() {
			for i := range 200 {
				f(i)
			}
		})
	}
	calls.Wait()
}

func TestIndexersInBubbles(t *testing.T) {
	for _, v := range impl.Indexers() {
		t.Run(v.Name, func(t *testing.T) {
			x := v.New(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
			shared(t, func(i int) {
				assert.NoError(t, x.Update(pod(i)))
				x.List()
				_, _ = x.ByIndex(cache.NamespaceIndex, "default")
				if i%50 == 0 {
					assert.NoError(t, x.Replace([]any{pod(1), pod(2)}, "1"))
				}
				assert.NoError(t, x.Delete(pod(i+1)))
			})
			assert.Len(t, x.List(), len(x.ListKeys()))
		})
	}
}

func TestFIFOsInBubbles(t *testing.T) {
	for component, list := range map[string][]impl.Variant[impl.NewFIFO]{
		"fifo": impl.FIFOs(), "delta-fifo": impl.DeltaFIFOs(), "in-order-fifo": impl.InOrderFIFOs(),
	} {
		for _, v := range list {
			t.Run(component+"/"+v.Name, func(t *testing.T) {
				q := v.New(impl.FIFOConfig{})
				q.Close() // so that Pop never waits, for whom another bubble would have to write
				shared(t, func(i int) {
					assert.NoError(t, q.Update(pod(i)))
					_, _ = q.Pop(func(any, bool) error { return nil })
					q.HasSynced()
				})
			})
		}
	}
}

func TestRateLimitersInBubbles(t *testing.T) {
	for _, v := range impl.RateLimiters[string]() {
		t.Run(v.Name, func(t *testing.T) {
			l := v.New()
			shared(t, func(i int) {
				l.When(key(i))
				l.NumRequeues(key(i))
				l.Forget(key(i))
			})
		})
	}
}

// Queues whose goroutines and timers are upstream's belong to one bubble, so only
// what waits for nobody is called: items are added before they are taken.
func TestQueuesInBubbles(t *testing.T) {
	queues := map[string]workqueue.TypedInterface[string]{}
	for _, v := range impl.Queues[string]() {
		if !v.Peer {
			queues["queue/"+v.Name] = v.New(workqueue.TypedQueueConfig[string]{})
		}
	}
	for _, v := range impl.DelayingQueues[string]() {
		if !v.Peer {
			queues["delaying-queue/"+v.Name] = v.New(workqueue.TypedDelayingQueueConfig[string]{})
		}
	}
	for _, v := range impl.RateLimitingQueues[string]() {
		if !v.Peer {
			queues["rate-limiting-queue/"+v.Name] = v.New(workqueue.DefaultTypedControllerRateLimiter[string](), workqueue.TypedRateLimitingQueueConfig[string]{})
		}
	}
	for _, v := range impl.PriorityQueues[string]() {
		if !v.Peer {
			queues["priority-queue/"+v.Name] = v.New("")
		}
	}
	for name, q := range queues {
		t.Run(name, func(t *testing.T) {
			defer q.ShutDown()
			var mu sync.Mutex
			n := 0
			shared(t, func(int) {
				mu.Lock()
				n++
				item := name + time.Duration(n).String() // queued once, so that each Get has one
				mu.Unlock()
				q.Add(item)
				got, _ := q.Get()
				q.Add(got)
				q.Done(got)
				got, _ = q.Get()
				q.Done(got)
				q.Len()
			})
			assert.Zero(t, q.Len())
		})
	}
}

func TestInformersInBubbles(t *testing.T) {
	for _, v := range impl.Informers() {
		t.Run(v.Name, func(t *testing.T) {
			i := v.New(&cache.ListWatch{}, &metav1.PartialObjectMetadata{}, cache.SharedIndexInformerOptions{})
			shared(t, func(n int) {
				assert.NoError(t, i.GetStore().Update(pod(n)))
				i.GetStore().List()
				r, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{})
				assert.NoError(t, err)
				i.HasSynced()
				assert.NoError(t, i.RemoveEventHandler(r))
			})
		})
	}
}
