package fakeapi

import (
	"sync"

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

// aheadBatch events are handed over at a time: rarely, and soon enough.
const aheadBatch = 64

func newAhead(stream loadgen.Stream) *ahead {
	a := &ahead{full: make(chan []made, 2), empty: make(chan []made, 2)}
	for range cap(a.empty) {
		a.empty <- make([]made, 0, aheadBatch)
	}
	a.reading.Go(func() {
		for batch := range a.empty {
			for batch = batch[:0]; len(batch) < aheadBatch; {
				event, err := stream.Next()
				batch = append(batch, made{event, err})
				if err != nil {
					a.full <- batch
					return
				}
			}
			a.full <- batch
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
