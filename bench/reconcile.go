package bench

import (
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
)

// A reconciling is the life of a queue in a controller: events come in bursts for
// keys that come and go, some of them for keys that are queued or in work, and four
// workers look each object up among more than caches hold.
type reconciling struct {
	add      func(key string)
	get      func() (string, bool)
	done     func(key string)
	shutDown func()
}

const reconcileSummary = "bursts of events for keys that come and go, a quarter of them for keys that are on their way; 4 workers look the objects up among 100,000"

const (
	reconcileKeys    = 100_000
	reconcileWorkers = 4
	reconcileBurst   = 64      // events that come together
	reconcileAgain   = 16      // of them for keys of the burst before
	reconcileWindow  = 512     // keys on their way before the next burst waits
	reconcileEvents  = 64 * 64 // an iteration's
)

// noQueue reconciles each key where its event comes: what the load alone costs.
var noQueue reconciling

// reconcilesOf is the ordinary way through a queue.
func reconcilesOf(q workqueue.TypedInterface[string]) reconciling {
	return reconciling{add: q.Add, get: q.Get, done: q.Done, shutDown: q.ShutDown}
}

func (r reconciling) run(b *testing.B, seed uint64) {
	keys := stringKeys(reconcileKeys)
	index := make(map[string]int, len(keys))
	for i, key := range keys {
		index[key] = i
	}
	x := &reconciliation{reconciling: r, objects: pods(reconcileKeys), index: index, signal: make(chan struct{}, 1),
		wanted: make([]atomic.Int32, len(keys)), seen: make([]int32, len(keys)), queued: make([]atomic.Bool, len(keys))}
	order := shuffled(len(keys), seed)
	var workers sync.WaitGroup
	if r.add == nil {
		x.add, x.done, x.shutDown = x.reconcile, func(string) {}, func() {}
	} else {
		for range reconcileWorkers {
			workers.Go(x.work)
		}
	}
	at := 0
	measured(b, reconcileEvents, true, func() {
		for range reconcileEvents / reconcileBurst {
			for i := range reconcileBurst {
				next := (at + i) % len(order)
				if i < reconcileAgain { // of the burst before
					next = (at + len(order) - 1 - i) % len(order)
				}
				x.event(keys, order[next])
			}
			at = (at + reconcileBurst) % len(order)
			x.wait(reconcileWindow)
		}
		x.wait(0)
	})
	x.shutDown()
	workers.Wait()
	for i := range x.wanted {
		if x.seen[i] != x.wanted[i].Load() {
			b.Fatalf("%s was last reconciled at version %d, expected %d", keys[i], x.seen[i], x.wanted[i].Load())
		}
	}
}

// A reconciliation is one under way. The arrays are by key.
type reconciliation struct {
	reconciling
	objects []*corev1.Pod
	index   map[string]int
	wanted  []atomic.Int32 // the version that the last event brought
	seen    []int32        // at the last reconcile; no two workers hold a key at the same time
	queued  []atomic.Bool  // since that event nobody has begun
	open    atomic.Int64   // how many are queued
	signal  chan struct{}  // open has come down to where somebody may wait for it
}

func (x *reconciliation) event(keys []string, i int) {
	x.wanted[i].Add(1)
	if !x.queued[i].Swap(true) {
		x.open.Add(1)
	}
	x.add(keys[i])
}

// wait waits until at most so many keys are on their way.
func (x *reconciliation) wait(most int64) {
	for x.open.Load() > most {
		<-x.signal
	}
}

func (x *reconciliation) work() {
	for {
		key, shutdown := x.get()
		if shutdown {
			return
		}
		x.reconcile(key)
	}
}

func (x *reconciliation) reconcile(key string) {
	i := x.index[key]
	begun := x.queued[i].Swap(false)
	version := x.wanted[i].Load()
	if x.objects[i].Spec.NodeName != "" {
		x.seen[i] = version
	}
	x.done(key)
	if !begun {
		return // an event between Get and here, which counted for it
	}
	if n := x.open.Add(-1); n == reconcileWindow || n == 0 {
		select {
		case x.signal <- struct{}{}:
		default:
		}
	}
}
