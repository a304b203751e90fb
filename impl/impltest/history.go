package impltest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
				do(client, call{"Add", item}, func() result { q.Add(names[item]); return result{} })
				if rnd.IntN(4) == 0 {
					do(client, call{"Len", 0}, func() result { return result{n: q.Len()} })
				}
				for range rnd.IntN(3) {
					runtime.Gosched()
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
	broken     bool // an item would be in queue twice
}

func (s queueState) push(item int) queueState {
	if s.len == recordedItems {
		s.broken = true
		return s
	}
	s.queue[s.len] = int8(item)
	s.len++
	return s
}

// step is the contract's three sets, but for what t relaxes.
func (s queueState) step(t *trial, in call, out result) (bool, queueState) {
	switch in.method {
	case "Add":
		if s.down || s.dirty[in.item] {
			return true, s
		}
		s.dirty[in.item] = true
		if !s.processing[in.item] {
			s = s.push(in.item)
		}
	case "Get":
		if out.shutdown {
			return s.down && (s.len == 0 || t.relaxed("drain-after-shutdown")), s
		}
		at := slices.Index(s.queue[:s.len], int8(out.n))
		if at < 0 || at > 0 && !t.relaxed("global-fifo") {
			return false, s
		}
		copy(s.queue[at:], s.queue[at+1:s.len])
		s.len--
		s.queue[s.len] = 0
		s.dirty[out.n], s.processing[out.n] = false, true
	case "Done":
		s.processing[in.item] = false
		if s.dirty[in.item] {
			s = s.push(in.item)
		}
	case "Len":
		return out.n == s.len || t.relaxed("len-counts-queued"), s
	case "ShutDown":
		s.down = true
	}
	return !s.broken, s
}

// linearizable tells whether some order of the calls explains the results. A
// history that is not decided within a second counts as explained.
func (h history) linearizable(t *trial) bool {
	model := porcupine.Model{
		Init: func() any { return queueState{} },
		Step: func(state, in, out any) (bool, any) {
			return state.(queueState).step(t, in.(call), out.(result))
		},
	}
	return porcupine.CheckOperationsTimeout(model, h, time.Second) != porcupine.Illegal
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
