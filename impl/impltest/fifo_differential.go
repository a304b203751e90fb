package impltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/impl/fifo"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// A fifoKind is a kind of queue and upstream's implementation of it.
type fifoKind struct {
	name     string
	upstream newFIFO
	// unordered: Replace queues its list in no particular order, and a deletion
	// takes nothing but the object's key.
	unordered bool
}

// The upstream types, made as today's informers make them.
var (
	plainFIFO = fifoKind{"FIFO", func(c fifo.Config) cache.Queue {
		if c.KeyFunc == nil {
			c.KeyFunc = cache.MetaNamespaceKeyFunc
		}
		return cache.NewFIFO(c.KeyFunc)
	}, true}
	deltaFIFO = fifoKind{"DeltaFIFO", func(c fifo.Config) cache.Queue {
		return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
			KeyFunction: c.KeyFunc, KnownObjects: c.KnownObjects, Transformer: c.Transformer, EmitDeltaTypeReplaced: c.EmitReplaced,
		})
	}, false}
	inOrderFIFO = fifoKind{"in-order FIFO", func(c fifo.Config) cache.Queue {
		switch {
		case c.Atomic: // upstream refuses a store
			c.KnownObjects = nil
		case c.KnownObjects == nil: // and insists on one
			c.KnownObjects = &known{}
		}
		return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
			KeyFunction: c.KeyFunc, KnownObjects: c.KnownObjects, Transformer: c.Transformer,
			AtomicEvents: c.Atomic, UnlockWhileProcessing: c.Atomic, EmitDeltaTypeBookmark: c.Atomic,
		})
	}, false}
)

// fifoObserved are the clauses that random calls enforce too.
var fifoObserved = []string{"close-drains", "close-releases", "synced-after-first-list", "transform-once", "key-error",
	"latest-value", "deleted-skipped", "replace-clears",
	"delta-order", "dedup-consecutive-deletes", "replace-emits", "replace-tombstones", "resync",
	"replace-tombstones-first", "batch-distinct-keys", "atomic-replace", "atomic-resync", "bookmark"}

// fifoDifferential compares a queue with upstream's on random calls.
func fifoDifferential(kind fifoKind) []clause[newFIFO] {
	run := func(t *trial, new newFIFO) {
		t.needs(fifoObserved...)
		rnd := t.Rand()
		for range 150 {
			compareFIFOs(t, new, kind, randomCalls(rnd))
		}
	}
	return []clause[newFIFO]{{name: "differential", contract: "fifo", run: run,
		reason: "on random calls every delta, every error, the order and HasSynced are those of client-go's " + kind.name}}
}

// randomCalls is a string of calls for compareFIFOs.
func randomCalls(rnd *rand.Rand) []byte {
	calls := make([]byte, 2+2*rnd.IntN(200))
	for i := range calls {
		calls[i] = byte(rnd.Uint32())
	}
	return calls
}

// A side is one of the two queues, with a store of its own that follows what its
// queue hands out.
type side struct {
	cache.Queue
	store   *known
	handled handled
}

// compareFIFOs makes the same calls on a new queue and on upstream's. The first
// byte chooses the config, then each two bytes are a call and its argument. The
// queues are closed from the start, so Pop never blocks and writes still work.
func compareFIFOs(t *trial, new newFIFO, kind fifoKind, calls []byte) {
	if len(calls) == 0 {
		return
	}
	config := calls[0]
	log := callLog{t: t}
	log.add("config %b", config)
	sides := [2]*side{}
	for i, new := range []newFIFO{new, kind.upstream} {
		s := &side{store: &known{objs: map[string]any{}}}
		c := fifo.Config{KnownObjects: s.store, EmitReplaced: config&1 != 0, Atomic: config&2 != 0}
		if config&4 != 0 && !kind.unordered {
			c.Transformer = transformed
		}
		if config&8 != 0 {
			s.store.set("ns/key-000", object("key-000", 0))
			s.store.set("ns/key-001", object("key-001", 0))
		}
		if config&16 != 0 && !kind.unordered {
			c.KnownObjects = nil
		}
		s.Queue = new(c)
		s.Close()
		sides[i] = s
	}
	both := func(call string, f func(s *side) string) {
		log.add("%s", call)
		got, want := f(sides[0]), f(sides[1])
		log.equal(want, got, call)
		log.equal(synced(sides[1]), synced(sides[0]), "HasSynced after "+call)
	}
	names := keys("key", 1+int(config>>5))
	for i := 1; i+1 < len(calls); i += 2 {
		op, arg := calls[i], calls[i+1]
		name := names[int(arg)%len(names)]
		if arg > 250 {
			name = "refused"
		}
		var obj any = object(name, i)
		if arg == 250 {
			obj = "no object"
		}
		switch op % 16 {
		case 0, 1:
			both("Add "+describe(obj), func(s *side) string { return failure(s.Add(obj)) })
		case 2, 3, 4:
			both("Update "+describe(obj), func(s *side) string { return failure(s.Update(obj)) })
		case 5, 6:
			if arg%4 == 0 && !kind.unordered {
				obj = lost(name, obj)
			}
			both("Delete "+describe(obj), func(s *side) string { return failure(s.Delete(obj)) })
		case 7:
			compareReplace(both, kind, names, i, op, arg)
		case 8:
			both("Resync", func(s *side) string { return failure(s.Resync()) })
		case 9:
			if _, ok := sides[1].Queue.(cache.ReflectorBookmarkStore); ok {
				both("Bookmark", func(s *side) string {
					return failure(s.Queue.(cache.ReflectorBookmarkStore).Bookmark(fmt.Sprint(i)))
				})
			}
		case 10, 11, 12:
			if _, ok := sides[1].Queue.(cache.QueueWithBatch); ok {
				both("PopBatch", func(s *side) string { return s.popBatch(arg%8 == 0) })
			}
		default:
			both("Pop", func(s *side) string { return s.pop(arg%8 == 0) })
		}
	}
	for range len(calls) * len(names) {
		last := ""
		both("Pop", func(s *side) string { last = s.pop(false); return last })
		if strings.Contains(last, cache.ErrFIFOClosed.Error()) {
			break
		}
	}
}

// compareReplace calls Replace with some of the names, or a bad list.
func compareReplace(both func(string, func(*side) string), kind fifoKind, names []string, version int, op, arg byte) {
	var list []any
	for n, name := range names {
		if arg&(1<<n) != 0 {
			list = append(list, object(name, version))
		}
	}
	switch {
	case op == 7 && len(list) > 1:
		list = append(list, list[0]) // a key twice
	case op == 7+16:
		list = append(list, "no object")
	case op == 7+32:
		list = append(list, object("refused", version))
	}
	call := fmt.Sprintf("Replace %s", describe(cache.ReplacedAllInfo{Objects: list}))
	both(call, func(s *side) string { return failure(s.Replace(slices.Clone(list), fmt.Sprint(version))) })
	if !kind.unordered {
		return
	}
	// The order is upstream's secret: pop the whole list and compare it as a set.
	both("Pop all", func(s *side) string {
		var all []string
		for range len(list) {
			all = append(all, s.pop(false))
		}
		slices.Sort(all)
		return strings.Join(all, "; ")
	})
}

// pop is what Pop hands out and returns.
func (s *side) pop(fails bool) string {
	h := s.start(fails)
	h.result, h.err = s.Pop(func(obj any, inInitialList bool) error {
		s.apply(obj)
		return h.single(obj, inInitialList)
	})
	return s.outcome()
}

func (s *side) popBatch(fails bool) string {
	h := s.start(fails)
	b, ok := s.Queue.(cache.QueueWithBatch)
	if !ok {
		return fmt.Sprintf("%T is no cache.QueueWithBatch", s.Queue)
	}
	h.err = b.PopBatch(func(deltas []cache.Delta, inInitialList bool) error {
		s.apply(cache.Deltas(deltas))
		return h.batch(deltas, inInitialList)
	}, func(obj any, inInitialList bool) error {
		s.apply(obj)
		return h.single(obj, inInitialList)
	})
	return s.outcome()
}

func (s *side) start(fails bool) *handled {
	s.handled = handled{}
	if fails {
		s.handled.failsWith = errors.New("handler failed")
	}
	return &s.handled
}

func (s *side) outcome() string {
	h := &s.handled
	return fmt.Sprintf("handler given %v, initial %v, returned %s, %s", h.calls, h.initial, describe(h.result), failure(h.err))
}

// apply keeps the store as an informer does.
func (s *side) apply(given any) {
	deltas, _ := given.(cache.Deltas)
	for _, d := range deltas {
		switch o := d.Object.(type) {
		case *metav1.PartialObjectMetadata:
			if key := o.Namespace + "/" + o.Name; d.Type == cache.Deleted {
				s.store.remove(key)
			} else {
				s.store.set(key, o)
			}
		case cache.DeletedFinalStateUnknown:
			s.store.remove(o.Key)
		}
	}
}

// failure is an error as text, which tells a cache.KeyError and what is wrapped.
func failure(err error) string {
	var keyError cache.KeyError
	switch {
	case err == nil:
		return "no error"
	case errors.As(err, &keyError):
		return fmt.Sprintf("KeyError of %s: %v", describe(keyError.Obj), keyError.Err)
	}
	if wrapped := errors.Unwrap(err); wrapped != nil {
		return fmt.Sprintf("%v, which wraps %v", err, wrapped)
	}
	return err.Error()
}
