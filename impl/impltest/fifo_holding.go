package impltest

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"weak"

	"github.com/informerbench/informerbench/impl/fifo"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// A goroutine that waits for a mutex stops the bubble's clock, so clauses about
// locks wait by yielding, for as many turns of the scheduler as even a goroutine
// on a busy machine gets one of.
const manyYields = 1_000_000

// yieldUntil waits for done unless it is plainly stuck.
func yieldUntil(done <-chan struct{}) bool {
	for range manyYields {
		if closed(done) {
			return true
		}
		runtime.Gosched()
	}
	return false
}

// waiting is the header of a goroutine that can't run before another one lets it.
var waiting = regexp.MustCompile(`^goroutine \d+ .*\[(sync\.|semacquire|chan |select|sleep)`)

// heldUp calls f in a goroutine of its own and tells whether it has to wait,
// which is not the same as not having had its turn yet. done is closed when f
// ends.
func (t *trial) heldUp(f func()) (done <-chan struct{}, held bool) {
	name := make(chan string, 1)
	done = t.Go(func() {
		number, _, _ := strings.Cut(ownStack(), "[")
		name <- number
		f()
	})
	own := <-name
	for n := range manyYields {
		if closed(done) {
			return done, false
		}
		if n%64 == 63 && slices.ContainsFunc(otherStacks(own), waiting.MatchString) {
			return done, true
		}
		runtime.Gosched()
	}
	return done, true
}

// fifoHoldingClauses are the clauses about what a queue keeps.
var fifoHoldingClauses = []clause[newFIFO]{
	{name: "no-retained-objects", contract: "fifo 5", run: fifoNoRetainedObjects,
		reason: "an object that was popped is not kept alive by the queue: deleted objects would pile up"},
}

func fifoNoRetainedObjects(t *trial, new newFIFO) {
	t.needs("deltas-retained")
	for _, n := range []int{64, 3000} {
		q := open(t, new, fifo.Config{})
		var popped []weak.Pointer[metav1.PartialObjectMetadata]
		// In a goroutine of its own, so that no stack slot of the clause holds
		// an object. Half stay queued, so that what stores them stays too.
		<-t.Go(func() {
			for i, name := range keys("object", n) {
				for v := range 1 + i%3 {
					do(t, q.Update(object(name, v)))
				}
			}
			for range n / 2 {
				_, err := q.Pop(func(given any, _ bool) error {
					for _, obj := range objectsIn(given) {
						popped = append(popped, weak.Make(obj))
					}
					return nil
				})
				do(t, err)
			}
		})
		kept := 0
		for range 5 { // a stale stack slot may hold one for a while
			runtime.GC()
			kept = 0
			for _, obj := range popped {
				if obj.Value() != nil {
					kept++
				}
			}
			if kept == 0 {
				break
			}
		}
		assert.Zero(t, kept, "of %d popped objects, how many are still referenced by the queue", len(popped))
		runtime.KeepAlive(q)
	}
}

// fifoConcurrent is the clause about what a queue loses. One that is latestOnly
// hands out each key's latest object.
func fifoConcurrent(latestOnly bool) []clause[newFIFO] {
	run := func(t *trial, new newFIFO) {
		for _, atomic := range []bool{false, true} {
			expectBalance(t, open(t, new, fifo.Config{Atomic: atomic}), latestOnly)
		}
	}
	return []clause[newFIFO]{{name: "concurrent", contract: "fifo", run: run,
		reason: "with several producers and a consumer every key's changes arrive in order, all of them or, in a FIFO, the last"}}
}

// deltasRetained is the clause about the slices that a handler was given.
var deltasRetained = []clause[newFIFO]{
	{name: "deltas-retained", contract: "fifo 5", run: fifoDeltasRetained,
		reason: "a handler may keep the deltas it was given, and append to them: the queue does not use them again"},
}

func fifoDeltasRetained(t *trial, new newFIFO) {
	for _, batched := range []bool{false, true} {
		q := open(t, new, fifo.Config{})
		b, _ := q.(cache.QueueWithBatch)
		if batched && b == nil {
			continue
		}
		var kept []cache.Deltas
		var told []string
		keep := func(deltas cache.Deltas) {
			kept = append(kept, deltas)
			told = append(told, describe(deltas))
			_ = append(deltas, cache.Delta{Type: "the handler's"})
		}
		single := func(obj any, _ bool) error {
			if deltas, ok := obj.(cache.Deltas); ok {
				keep(deltas)
			}
			return nil
		}
		for round := range 40 {
			for i := range 5 {
				do(t, q.Add(object(fmt.Sprintf("object-%d", i), round)), q.Update(object(fmt.Sprintf("object-%d", i), round+1)))
			}
			for range 5 {
				if !batched {
					_, err := q.Pop(single)
					do(t, err)
					continue
				}
				do(t, b.PopBatch(func(deltas []cache.Delta, _ bool) error {
					keep(deltas)
					return nil
				}, single))
			}
		}
		for i, deltas := range kept {
			if now := describe(deltas); now != told[i] {
				t.Fatalf("deltas that a handler has kept changed from %s to %s", told[i], now)
			}
		}
	}
}

// expectBalance writes versions of objects from several goroutines, each with
// objects of its own, while a consumer pops.
func expectBalance(t *trial, q cache.Queue, latestOnly bool) {
	t.needs("close-drains", "close-releases", "latest-value", "delta-order")
	const producers, objects, writes = 4, 6, 200
	last, total := map[string]int{}, 0
	consumed := t.Go(func() {
		for {
			_, err := q.Pop(func(given any, _ bool) error {
				for _, obj := range objectsIn(given) {
					version, err := strconv.Atoi(obj.ResourceVersion)
					if err != nil || version <= last[obj.Name] {
						t.Errorf("%s was handed out after version %d", describe(obj), last[obj.Name])
					}
					last[obj.Name] = version
					total++
				}
				return nil
			})
			if err != nil {
				return
			}
			runtime.Gosched()
		}
	})
	var produced []<-chan struct{}
	for p := range producers {
		produced = append(produced, t.Go(func() {
			for v := range writes {
				for i := range objects {
					do(t, q.Update(object(fmt.Sprintf("object-%d-%d", p, i), v+1)))
				}
				runtime.Gosched()
			}
		}))
	}
	for _, done := range produced {
		<-done
	}
	q.Close()
	<-consumed
	for p := range producers {
		for i := range objects {
			name := fmt.Sprintf("object-%d-%d", p, i)
			assert.Equal(t, writes, last[name], "the last version of %s that was handed out", name)
		}
	}
	if !latestOnly {
		assert.Equal(t, producers*objects*writes, total, "events that were handed out")
	}
}

// objectsIn returns the objects that a handler was given.
func objectsIn(given any) []*metav1.PartialObjectMetadata {
	var objs []*metav1.PartialObjectMetadata
	switch o := given.(type) {
	case *metav1.PartialObjectMetadata:
		objs = append(objs, o)
	case cache.Deltas:
		for _, d := range o {
			objs = append(objs, objectsIn(d.Object)...)
		}
	}
	return objs
}
