package impltest

import (
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
)

type newStorage = func() workqueue.Queue[string]

// TestStorage tests a storage for upstream's queue: what
// workqueue.TypedQueueConfig takes as Queue. Relaxes names the clauses that it
// gives up.
func TestStorage(t *testing.T, new func() workqueue.Queue[string], relaxes ...string) {
	t.Helper()
	runClauses(t, storageClauses(), new, relaxes)
}

func storageClauses() []clause[newStorage] {
	clauses := []clause[newStorage]{{
		name:   "storage-fifo",
		reason: "Pop takes the oldest item, so that no object starves",
		run: func(t *trial, new newStorage) {
			s := new()
			want := keys("key", 100)
			for _, key := range want {
				s.Push(key)
			}
			for _, key := range want {
				assert.Equal(t, key, s.Pop())
			}
		},
		weaker: func(t *trial, new newStorage) {
			s := new()
			want, got := keys("key", 100), []string{}
			for _, key := range want {
				s.Push(key)
			}
			for range want {
				got = append(got, s.Pop())
			}
			assert.ElementsMatch(t, want, got, "in any order, but every item once")
		},
	}, {
		name:   "storage-len",
		reason: "Len is the number of items between Push and Pop; the queue blocks workers by it",
		run: func(t *trial, new newStorage) {
			s := new()
			for n := range 100 {
				assert.Equal(t, n, s.Len())
				s.Push("a")
			}
			for n := range 100 {
				assert.Equal(t, 100-n, s.Len())
				s.Pop()
			}
			assert.Equal(t, 0, s.Len(), "when every item was popped")
		},
	}, {
		name:   "storage-touch",
		reason: "Touch neither adds nor removes an item, whether the storage holds it or not",
		run: func(t *trial, new newStorage) {
			s := new()
			s.Touch("a")
			assert.Equal(t, 0, s.Len(), "after Touch of the empty storage")
			s.Push("a")
			s.Push("b")
			s.Touch("a")
			s.Touch("c")
			assert.Equal(t, 2, s.Len(), "after Push of a and b and Touch of a and c")
			assert.ElementsMatch(t, []string{"a", "b"}, []string{s.Pop(), s.Pop()})
		},
	}, {
		name:   "storage-differential",
		reason: "on random calls every result is the one of client-go's storage, whatever was stored before",
		run: func(t *trial, new newStorage) {
			rnd := t.Rand()
			s, want := new(), workqueue.DefaultQueue[string]()
			names, log := keys("key", 50), callLog{t: t}
			for n := range 12_000 {
				// The storage grows to some hundred items and shrinks, in waves.
				if grow := n/2000%2 == 0; want.Len() == 0 || rnd.IntN(10) < 3 != grow {
					key := names[rnd.IntN(len(names))]
					s.Push(key)
					want.Push(key)
				} else if got, expected := s.Pop(), want.Pop(); !t.relaxed("storage-fifo") {
					log.equal(expected, got, "Pop")
				}
				log.equal(want.Len(), s.Len(), "Len")
			}
		},
	}, {
		name:   "storage-no-retained-items",
		reason: "a popped item is not kept alive by the storage: keys of deleted objects would pile up",
		run: func(t *trial, new newStorage) {
			s := new()
			watched := watch(t, s.Push)
			taken := map[weak.Pointer[byte]]bool{}
			for range len(watched) / 2 {
				taken[watchedBy(t, s.Pop)] = true
			}
			expectCollected(t, watched, taken)
			runtime.KeepAlive(s)
		},
	}}
	// The storage must also serve upstream's queue. Upstream's own faults are not
	// the storage's.
	plugged := func(new newStorage) newQueue {
		return func(c workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
			c.Queue = new()
			return workqueue.NewTypedWithConfig(c)
		}
	}
	return slices.Concat(clauses, adapt(queueClauses(), plugged, "spurious-done", "concurrent-drains", "injected-storage"))
}
