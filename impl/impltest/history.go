package impltest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
	"k8s.io/client-go/util/workqueue"
)

// A history is what several goroutines called and got, in the order of a common
// counter.
type history []porcupine.Operation

// A call is the input of an operation.
type call struct {
	method string // Add, Get, Done, Len, ShutDown
	item   int    // of Add and Done
}

// A result is its output: the item of Get or the number of Len.
type result struct {
	n        int
	shutdown bool
}

// recordedItems is how many items a history has. Few items make many collisions.
const recordedItems = 4

// record lets producers and workers loose on q until it is shut down and empty.
func record(t *trial, q workqueue.TypedInterface[string], source *rand.Rand) history {
	var (
		clock   atomic.Int64
		mu      sync.Mutex
		h       history
		names   = keys("item", recordedItems)
		add     sync.WaitGroup
		workers sync.WaitGroup
	)
	do := func(client int, input call, f func() result) result {
		op := porcupine.Operation{ClientId: client, Input: input, Call: clock.Add(1)}
		out := f()
		op.Output, op.Return = out, clock.Add(1)
		mu.Lock()
		defer mu.Unlock()
		h = append(h, op)
		return out
	}
	for client := range 3 {
		add.Add(1)
		rnd := rand.New(rand.NewPCG(source.Uint64(), 0))
		t.Go(func() {
			defer add.Done()
			for range 8 {
				item := rnd.IntN(recordedItems)
				for range rnd.IntN(6) {
					runtime.Gosched()
				}
				do(client, call{"Add", item}, func() result { q.Add(names[item]); return result{} })
				if rnd.IntN(4) == 0 {
					do(client, call{"Len", 0}, func() result { return result{n: q.Len()} })
				}
			}
		})
	}
	for client := 3; client < 6; client++ {
		workers.Add(1)
		rnd := rand.New(rand.NewPCG(source.Uint64(), 0))
		t.Go(func() {
			defer workers.Done()
			for {
				got := do(client, call{"Get", 0}, func() result {
					item, shutdown := q.Get()
					return result{slices.Index(names, item), shutdown}
				})
				if got.shutdown {
					return
				}
				if got.n < 0 {
					t.Fatalf("Get answered an item that was never added")
				}
				for range rnd.IntN(4) {
					runtime.Gosched()
				}
				do(client, call{"Done", got.n}, func() result { q.Done(names[got.n]); return result{} })
			}
		})
	}
	add.Wait()
	if t.relaxed("drain-after-shutdown") || t.relaxed("requeue-after-shutdown") {
		synctest.Wait() // an item that is handed out beside ShutDown may be dropped too
	}
	do(6, call{"ShutDown", 0}, func() result { q.ShutDown(); return result{} })
	workers.Wait()
	return h
}

// A queueState is the sequential queue that explains a history.
type queueState struct {
	queue      [recordedItems]int8
	len        int
	dirty      [recordedItems]bool
	processing [recordedItems]bool
	down       bool
}

func (s queueState) push(item int) queueState {
	s.queue[s.len] = int8(item)
	s.len++
	return s
}

// A queueModel is the contract's three sets, but for what the trial relaxes.
type queueModel struct {
	*trial
	// placeOfAdd gives an item that is added while it is processed the place of
	// that Add, as priority queues do, and not the place of its Done.
	placeOfAdd bool
}

func (m queueModel) step(s queueState, in call, out result) (bool, queueState) {
	switch in.method {
	case "Add":
		if s.down || s.dirty[in.item] {
			return true, s
		}
		s.dirty[in.item] = true
		if m.placeOfAdd || !s.processing[in.item] {
			s = s.push(in.item)
		}
	case "Get":
		ready := make([]int8, 0, recordedItems)
		for _, item := range s.queue[:s.len] {
			if !s.processing[item] {
				ready = append(ready, item)
			}
		}
		if out.shutdown {
			return s.down && (len(ready) == 0 || m.relaxed("drain-after-shutdown")), s
		}
		if i := slices.Index(ready, int8(out.n)); i < 0 || i > 0 && !m.unordered() {
			return false, s
		}
		at := slices.Index(s.queue[:s.len], int8(out.n))
		copy(s.queue[at:], s.queue[at+1:s.len])
		s.len--
		s.queue[s.len] = 0
		s.dirty[out.n], s.processing[out.n] = false, true
	case "Done":
		s.processing[in.item] = false
		if s.dirty[in.item] && !m.placeOfAdd {
			s = s.push(in.item)
		}
	case "Len":
		want := 0
		for _, item := range s.queue[:s.len] {
			if !s.processing[item] {
				want++
			}
		}
		return out.n == want || !m.countsQueued(), s
	case "ShutDown":
		s.down = true
	}
	return true, s
}

// explains tells whether some order of the calls explains the results. A history
// that is not decided within a second counts as explained.
func (m queueModel) explains(h history) bool {
	model := porcupine.Model{
		Init: func() any { return queueState{} },
		Step: func(state, in, out any) (bool, any) {
			return m.step(state.(queueState), in.(call), out.(result))
		},
	}
	return porcupine.CheckOperationsTimeout(model, h, time.Second) != porcupine.Illegal
}

// expectLinearizable checks the histories of many short-lived queues.
func (m queueModel) expectLinearizable(newQueue func() workqueue.TypedInterface[string]) {
	m.needs(queueBasics...)
	rnd := m.Rand()
	for round := range 100 {
		if h := record(m.trial, newQueue(), rnd); !m.explains(h) {
			m.Fatalf("round %d: no order of these calls explains their results:\n%s", round, h)
		}
	}
}

func (h history) String() string {
	var b strings.Builder
	for _, op := range slices.SortedFunc(slices.Values(h), func(a, b porcupine.Operation) int { return int(a.Call - b.Call) }) {
		in, out := op.Input.(call), op.Output.(result)
		fmt.Fprintf(&b, "  from %d to %d, client %d: %s", op.Call, op.Return, op.ClientId, in.method)
		switch {
		case in.method == "Add" || in.method == "Done":
			fmt.Fprintf(&b, "(%d)", in.item)
		case out.shutdown:
			b.WriteString(" = shutdown")
		case in.method != "ShutDown":
			fmt.Fprintf(&b, " = %d", out.n)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
