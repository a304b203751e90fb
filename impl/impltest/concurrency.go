package impltest

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// concurrencyClauses are the clauses that hold for any number of goroutines.
var concurrencyClauses = []clause[newQueue]{
	{name: "concurrent", contract: "queue 1", run: queueConcurrent,
		reason: "with many producers and workers no item has two holders and each is processed after its last Add"},
	{name: "linearizable", contract: "queue", run: queueLinearizable,
		reason: "every history of concurrent calls can be explained by calls made one after another"},
}

func queueConcurrent(t *trial, new newQueue) {
	q, r := measured(t, new)
	expectExact(t, q, q.Add, r)
}

func queueLinearizable(t *trial, new newQueue) {
	queueModel{trial: t}.expectLinearizable(func() workqueue.TypedInterface[string] { return plain(t, new) })
}

// queueBasics are what every clause with several workers takes for granted.
var queueBasics = []string{"added-once", "requeue-after-done", "requeue-wakes", "single-holder", "get-blocks", "wake-ups",
	"shutdown-wakes", "shutdown-returns", "done-unknown"}

// expectExact adds items from several goroutines through add while several
// workers process them. It checks what every work queue owes its workers.
func expectExact(t *trial, q workqueue.TypedInterface[string], add func(string), r *recorder) {
	t.needs(queueBasics...)
	const producers, workers, items, adds = 4, 6, 24, 400
	var (
		version   [items]atomic.Int64 // of the object: counts its changes
		processed [items]atomic.Int64 // the version that the last reconcile saw
		holders   [items]atomic.Int64
		index     = map[string]int{}
		names     = keys("object", items)
		gets      atomic.Int64
		produced  sync.WaitGroup
		worked    sync.WaitGroup
	)
	for i, name := range names {
		index[name] = i
	}
	for w := range workers {
		worked.Add(1)
		t.Go(func() {
			defer worked.Done()
			for n := w; ; n++ {
				item, shutdown := q.Get()
				if shutdown {
					return
				}
				gets.Add(1)
				i, known := index[item]
				if !known {
					t.Errorf("Get: %q, which was never added", item)
					return
				}
				if h := holders[i].Add(1); h != 1 {
					t.Errorf("%s has %d holders", item, h)
				}
				processed[i].Store(version[i].Load())
				for range n % 4 {
					runtime.Gosched()
				}
				holders[i].Add(-1)
				q.Done(item)
			}
		})
	}
	for p := range producers {
		produced.Add(1)
		rnd := t.Rand()
		t.Go(func() {
			defer produced.Done()
			for n := range adds {
				i := (rnd.IntN(items) * (p + 1)) % items
				version[i].Add(1)
				add(names[i])
				if n%8 == p {
					runtime.Gosched()
				}
			}
		})
	}
	produced.Wait()
	after(time.Minute)
	for i, name := range names {
		if v, p := version[i].Load(), processed[i].Load(); p < v {
			t.Errorf("%s: the last reconcile saw change %d of %d: a change was lost", name, p, v)
		}
	}
	if n := q.Len(); n != 0 && t.countsQueued() {
		t.Errorf("Len is %d after everything was processed", n)
	}
	if depth := r.value("depth"); t.measures("depth") && depth != 0 {
		t.Errorf("depth is %v after everything was processed", depth)
	}
	if a, g := r.value("adds"), float64(gets.Load()); t.measures("adds") && a != g {
		t.Errorf("adds metric is %v after %v items were handed out", a, g)
	}
	for _, name := range []string{"latency", "work"} {
		if n, g := len(r.observations(name)), int(gets.Load()); t.measures(name) && n != g {
			t.Errorf("%d observations of %s for %d items", n, name, g)
		}
	}
	down := t.Go(q.ShutDown)
	synctest.Wait()
	if !closed(down) {
		t.Fatalf("ShutDown has not returned:\n%s", fmt.Sprint(t.Goroutines()))
	}
	worked.Wait()
}
