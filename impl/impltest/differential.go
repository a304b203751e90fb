package impltest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// differentialClauses compare a queue with upstream's on random calls.
var differentialClauses = []clause[newQueue]{
	{name: "differential", contract: "queue", run: queueDifferential,
		reason: "on random calls every result and every metric is the one of client-go's queue"},
}

func queueDifferential(t *trial, new newQueue) {
	rnd := t.Rand()
	for range 20 {
		if t.unordered() {
			compareWithSets(t, plain(t, new), rnd)
		} else {
			compareWithUpstream(t, new, rnd)
		}
	}
}

// diffCalls is the length of a random sequence of calls.
const diffCalls = 200

// compareWithUpstream makes the same random calls on a new queue and on
// client-go's. Done is called for held items only: a spurious Done has a clause
// of its own, since upstream's behaviour is a fault there.
func compareWithUpstream(t *trial, new newQueue, rnd *rand.Rand) {
	t.needs(queueBasics...)
	q, r := measured(t, new)
	want, wantR := measured(t, func(c workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
		return workqueue.NewTypedWithConfig(c)
	})
	var held []string
	log := callLog{t: t}
	names := keys("key", 1+rnd.IntN(12))
	down := rnd.IntN(diffCalls * 2)
	for _, name := range []string{"shutting-down", "drain-after-shutdown", "requeue-after-shutdown", "add-after-shutdown"} {
		if t.relaxed(name) {
			down = -1
		}
	}
	for i := range diffCalls {
		switch op := rnd.IntN(10); {
		case i == down:
			log.add("ShutDown")
			q.ShutDown()
			want.ShutDown()
		case op < 4:
			key := names[rnd.IntN(len(names))]
			log.add("Add(%s)", key)
			q.Add(key)
			want.Add(key)
		case op < 7:
			if want.Len() == 0 && !want.ShuttingDown() {
				continue
			}
			log.add("Get")
			got, expected := get(t, q), get(t, want)
			log.equal(expected.String(), got.String(), "Get")
			if a := expected.answer.Load(); !a.shutdown {
				held = append(held, a.item)
			}
		case op < 9:
			if len(held) == 0 {
				continue
			}
			at := rnd.IntN(len(held))
			log.add("Done(%s)", held[at])
			q.Done(held[at])
			want.Done(held[at])
			held = slices.Delete(held, at, at+1)
		default:
			d := time.Duration(rnd.IntN(5000)) * time.Millisecond
			log.add("%v pass", d)
			time.Sleep(d)
		}
		synctest.Wait()
		if t.countsQueued() {
			log.equal(want.Len(), q.Len(), "Len")
		}
		log.equal(want.ShuttingDown(), q.ShuttingDown(), "ShuttingDown")
		log.equal(t.measurements(wantR), t.measurements(r), "metrics")
	}
}

// compareWithSets makes random calls and checks the results against the
// contract's three sets. It fits queues that give up the order.
func compareWithSets(t *trial, q workqueue.TypedInterface[string], rnd *rand.Rand) {
	t.needs(queueBasics...)
	queued, processing, again := map[string]bool{}, map[string]bool{}, map[string]bool{}
	log := callLog{t: t}
	names := keys("key", 1+rnd.IntN(12))
	for range diffCalls {
		switch op := rnd.IntN(9); {
		case op < 4:
			key := names[rnd.IntN(len(names))]
			log.add("Add(%s)", key)
			q.Add(key)
			if processing[key] {
				again[key] = true
			} else {
				queued[key] = true
			}
		case op < 7 && len(queued) > 0:
			log.add("Get")
			item := take(t, q)
			log.equal(true, queued[item], "that "+item+", the answer of Get, is queued")
			delete(queued, item)
			processing[item] = true
		case op >= 7 && len(processing) > 0:
			held := slices.Sorted(maps.Keys(processing))
			key := held[rnd.IntN(len(held))]
			log.add("Done(%s)", key)
			q.Done(key)
			delete(processing, key)
			if again[key] {
				delete(again, key)
				queued[key] = true
			}
		}
		synctest.Wait()
		if t.countsQueued() {
			log.equal(len(queued), q.Len(), "Len")
		}
	}
}

// A callLog is the sequence of calls so far, printed with the first difference.
type callLog struct {
	t     *trial
	calls []string
}

func (l *callLog) add(format string, args ...any) {
	l.calls = append(l.calls, fmt.Sprintf(format, args...))
}

func (l *callLog) equal(want, got any, what string) {
	if want != got {
		l.t.Fatalf("%s: %v, expected %v, after %v", what, got, want, l.calls)
	}
}
