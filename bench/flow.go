package bench

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/util/workqueue"
)

const (
	flowItems = 32_768 // items a run of a flow moves
	flowKeys  = 32_768 // distinct keys, so that none is in flight twice
)

// A flow moves items from producers to workers through a queue with at most
// window items between them. Producers pay with credits that workers give back,
// both in lots, so that the window costs little beside the queue.
type flow[T comparable] struct {
	producers, workers, window int
	keys                       []T
	add                        func(i int) // of keys[i]
	get                        func() (T, bool)
	done                       func(T)
	shutDown                   func()
	left                       func() int // items in the queue, where ShutDown drops them; else nil
}

// over sets what the flow goes through.
func (f flow[T]) over(q workqueue.TypedInterface[T], relaxes []string) flow[T] {
	f.add, f.get, f.done, f.shutDown = func(i int) { q.Add(f.keys[i]) }, q.Get, q.Done, q.ShutDown
	if slices.Contains(relaxes, "drain-after-shutdown") {
		f.left = q.Len
		// What was handed out before may come with shutdown set.
		f.get = func() (T, bool) {
			item, shutdown := q.Get()
			return item, shutdown && item == *new(T)
		}
	}
	return f
}

// run moves flowItems items, shuts the queue down and counts.
func (f flow[T]) run() error {
	// Workers may sit on parts of credits for at most half of the window.
	credit := min(max(f.window/(2*f.workers), 1), 32)
	credits := make(chan struct{}, f.window/credit)
	for range cap(credits) {
		credits <- struct{}{}
	}
	var processed atomic.Int64
	var workers, producers sync.WaitGroup
	for range f.workers {
		workers.Go(func() {
			mine := 0
			for {
				item, shutdown := f.get()
				if shutdown {
					break
				}
				f.done(item)
				if mine++; mine%credit == 0 {
					credits <- struct{}{}
				}
			}
			processed.Add(int64(mine))
		})
	}
	share := flowItems / f.producers
	for p := range f.producers {
		producers.Go(func() {
			for i := range share {
				if i%credit == 0 {
					<-credits
				}
				f.add(p*share + i)
			}
		})
	}
	producers.Wait()
	if f.left != nil {
		f.drain(credits)
	}
	f.shutDown()
	workers.Wait()
	if want := int64(share * f.producers); processed.Load() != want {
		return fmt.Errorf("%d items processed, expected %d: each key that was added, once", processed.Load(), want)
	}
	return nil
}

// drain waits until all is out of the queue. It sleeps until the credits are back,
// but for those that a worker or a producer may sit on, so that looking at the
// queue takes no part in what is measured until the last few items.
func (f flow[T]) drain(credits <-chan struct{}) {
	for range cap(credits) - f.workers - f.producers {
		<-credits
	}
	for f.left() > 0 {
		runtime.Gosched()
	}
}
