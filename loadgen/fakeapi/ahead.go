package fakeapi

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen"
)

// ahead reads a stream before its events are due, on a goroutine of its own, so
// that what it costs to make them, the garbage collector's share among it, does
// not make them late.
type ahead struct {
	full, empty chan []made
	reading     sync.WaitGroup
	current     []made
	next        int // in current
}

type made struct {
	event loadgen.Event
	err   error
}

// aheadBatch events are handed over at a time, rarely and soon enough, and there
// are so many batches that the goroutine may have to wait for a processor as long
// as garbage collections make it wait.
const (
	aheadBatch   = 64
	aheadBatches = 16
)

// newAhead reads a stream without its bookmarks. It announces the moments at
// which the events are due, counted from begin.
func newAhead(stream loadgen.Stream, begin time.Time, announce func([]time.Time)) *ahead {
	a := &ahead{full: make(chan []made, aheadBatches), empty: make(chan []made, aheadBatches)}
	for range aheadBatches {
		a.empty <- make([]made, 0, aheadBatch)
	}
	a.reading.Go(func() {
		due := make([]time.Time, 0, aheadBatch)
		for batch := range a.empty {
			batch, due = batch[:0], due[:0]
			var err error
			for len(batch) < aheadBatch && err == nil {
				var event loadgen.Event
				if event, err = stream.Next(); err != nil {
					batch = append(batch, made{err: err})
				} else if event.Type != watch.Bookmark { // the server makes its own
					batch, due = append(batch, made{event: event}), append(due, begin.Add(event.At))
				}
			}
			announce(due)
			a.full <- batch
			if err != nil {
				return
			}
		}
	})
	return a
}

// Next returns what the stream's did. It must not be called after an error.
func (a *ahead) Next() (loadgen.Event, error) {
	if a.next == len(a.current) {
		if a.current != nil {
			a.empty <- a.current
		}
		a.current, a.next = <-a.full, 0
	}
	m := a.current[a.next]
	a.current[a.next] = made{} // lets go of the object
	a.next++
	return m.event, m.err
}

// stop returns when the stream is no longer read.
func (a *ahead) stop() {
	close(a.empty)
	a.reading.Wait()
}
