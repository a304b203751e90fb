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

var storageOnlyClauses = []clause[newStorage]{
	{name: "storage-fifo", contract: "queue 10", run: storageFIFO, weaker: storageFIFORelaxed,
		reason: "Pop takes the oldest item, so that no object starves"},
	{name: "storage-len", contract: "queue 10", run: storageLen,
		reason: "Len is the number of items between Push and Pop; the queue blocks workers by it"},
	{name: "storage-touch", contract: "queue 10", run: storageTouch,
		reason: "Touch neither adds nor removes an item, whether the storage holds it or not"},
	{name: "storage-differential", contract: "queue 10", run: storageDifferential,
		reason: "on random calls every result is the one of client-go's storage, whatever was stored before"},
	{name: "storage-no-retained-items", contract: "queue 7", run: storageNoRetainedItems,
		reason: "a popped item is not kept alive by the storage: keys of deleted objects would pile up"},
}

func storageFIFO(t *trial, new newStorage) {
	s := new()
	want := keys("key", 100)
	for _, key := range want {
		s.Push(key)
	}
	for _, key := range want {
		assert.Equal(t, key, s.Pop())
	}
}

func storageFIFORelaxed(t *trial, new newStorage) {
	s := new()
	want, got := keys("key", 100), []string{}
	for _, key := range want {
		s.Push(key)
	}
	for range want {
		got = append(got, s.Pop())
	}
	assert.ElementsMatch(t, want, got, "in any order, but every item once")
}

func storageLen(t *trial, new newStorage) {
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
}

func storageTouch(t *trial, new newStorage) {
	t.needs("storage-len")
	s := new()
	s.Touch("a")
	assert.Equal(t, 0, s.Len(), "after Touch of the empty storage")
	s.Push("a")
	s.Push("b")
	s.Touch("a")
	s.Touch("c")
	assert.Equal(t, 2, s.Len(), "after Push of a and b and Touch of a and c")
	assert.ElementsMatch(t, []string{"a", "b"}, []string{s.Pop(), s.Pop()})
}

func storageDifferential(t *trial, new newStorage) {
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
		if t.countsQueued() {
			log.equal(want.Len(), s.Len(), "Len")
		}
	}
}

func storageNoRetainedItems(t *trial, new newStorage) {
	s := new()
	watched := watch(t, s.Push)
	taken := map[weak.Pointer[byte]]bool{}
	for range len(watched) / 2 {
		taken[watchedBy(t, s.Pop)] = true
	}
	expectCollected(t, watched, taken)
	runtime.KeepAlive(s)
}

// storageClauses are the storage's own clauses and those of upstream's queue with
// the storage in it. Upstream's own faults are not the storage's.
func storageClauses() []clause[newStorage] {
	plugged := func(new newStorage) newQueue {
		return func(c workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
			c.Queue = new()
			return workqueue.NewTypedWithConfig(c)
		}
	}
	return slices.Concat(storageOnlyClauses, adapt(queueClauses(), plugged, "spurious-done", "concurrent-drains", "injected-storage"))
}
