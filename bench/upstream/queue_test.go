package upstream

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/informerbench/informerbench/impl"
)

func BenchmarkQueue(b *testing.B) {
	newQueue := variant(b, impl.Queues[string]())
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = fmt.Sprintf("key-%d", i)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		b.StopTimer() // upstream's does, and its times are compared with these
		q := newQueue(workqueue.TypedQueueConfig[string]{})
		b.StartTimer()
		for _, key := range keys {
			q.Add(key)
			got, _ := q.Get()
			q.Done(got)
		}
		b.StopTimer()
		if q.Len() != 0 {
			b.Fatalf("%d items left in the queue", q.Len())
		}
		b.StartTimer()
	}
}

func BenchmarkDelayingQueue_AddAfter(b *testing.B) {
	fakeClock := testingclock.NewFakeClock(time.Now())
	q := variant(b, impl.DelayingQueues[string](), "injected-clock")(workqueue.TypedDelayingQueueConfig[string]{Clock: fakeClock})
	defer q.ShutDown()
	for n := 0; n < b.N; n++ {
		q.AddAfter(fmt.Sprintf("%d", n), time.Duration(rand.Int63n(int64(10*time.Minute))))
	}
	fakeClock.Step(11 * time.Minute)
	for n := 0; n < b.N; n++ {
		if _, shutdown := q.Get(); shutdown {
			b.Fatal("the queue is shut down")
		}
	}
}

func BenchmarkAddGetDone(b *testing.B) {
	q := variant(b, impl.PriorityQueues[int]())("")
	defer q.ShutDown()
	for b.Loop() {
		for i := range 1000 {
			q.Add(i)
		}
		for range 1000 {
			item, _ := q.Get()
			q.Done(item)
		}
	}
}

func BenchmarkAddOnly(b *testing.B) {
	q := variant(b, impl.PriorityQueues[int]())("")
	defer q.ShutDown()
	for b.Loop() {
		for i := range 1000 {
			q.Add(i)
		}
	}
}

func BenchmarkAddLockContended(b *testing.B) {
	q := variant(b, impl.PriorityQueues[int]())("")
	defer q.ShutDown()
	for i := range 1_000_000 {
		q.Add(i)
	}
	for range 1000 {
		go func() {
			for {
				item, shutdown := q.Get()
				if shutdown { // upstream's workers go on, beside the benchmarks that follow
					return
				}
				time.Sleep(time.Millisecond)
				q.Done(item)
			}
		}()
	}
	for b.Loop() {
		for i := range 1000 {
			q.Add(i)
		}
	}
}
