package impltest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// TestHandler tests an event handler that adds the keys of objects to a work queue:
// new makes one that adds with add. Example is an object of the handler's type, of
// which all others are copies under other names. Relaxes names the clauses that the
// handler gives up; one that filters updates gives up "update-adds".
func TestHandler(t *testing.T, new func(add func(key string)) cache.ResourceEventHandler, example runtime.Object, relaxes ...string) {
	t.Helper()
	if _, err := meta.Accessor(example); err != nil {
		t.Fatalf("example: found a %T, expected an object with metadata: %v", example, err)
	}
	runClauses(t, handlerClauses, handlerMaker{new, example}, relaxes)
}

// A handlerMaker makes the handlers of a clause, and their objects.
type handlerMaker struct {
	new     func(add func(key string)) cache.ResourceEventHandler
	example runtime.Object
}

var handlerClauses = []clause[handlerMaker]{
	{name: "add-adds", contract: "handler 1", run: handlerAddAdds,
		reason: "an object that is new is added, in the initial list too: else it waits for its first change"},
	{name: "update-adds", contract: "handler 1", run: handlerUpdateAdds,
		reason: "an object that has changed is added"},
	{name: "recreated-adds", contract: "handler 1", run: handlerRecreatedAdds,
		reason: "after a relist an object that was deleted and made again comes as an update with another UID, and is added"},
	{name: "delete-adds", contract: "handler 1", run: handlerDeleteAdds,
		reason: "an object that is gone is added, so that a reconcile cleans up"},
	{name: "tombstone-with-object", contract: "handler 2", run: handlerTombstoneWithObject,
		reason: "a deletion that a relist noticed comes as a cache.DeletedFinalStateUnknown, by value: a handler that asserts its own type panics"},
	{name: "tombstone-without-object", contract: "handler 2", run: handlerTombstoneWithoutObject,
		reason: "a tombstone may hold no object: its key is all there is"},
	{name: "duplicates", contract: "handler 3", run: handlerDuplicates,
		reason: "additions and deletions may come twice, deletions of what was never added: the server decides"},
	{name: "resync", contract: "handler 3", run: handlerResync,
		reason: "a resync brings the same object as old and new"},
	{name: "objects-unchanged", contract: "handler 4", run: handlerObjectsUnchanged,
		reason: "the objects are the cache's, and every reader's: a handler changes nothing of them"},
}

// A fedHandler is a handler under test and the keys that it has added.
type fedHandler struct {
	cache.ResourceEventHandler
	t     *trial
	maker handlerMaker
	keys  []string
}

func (m handlerMaker) open(t *trial) *fedHandler {
	h := &fedHandler{t: t, maker: m}
	h.ResourceEventHandler = m.new(func(key string) { h.keys = append(h.keys, key) })
	return h
}

// object is a version of an object; another uid is another object of that name.
func (m handlerMaker) object(t *trial, name string, version int, uid string) (obj runtime.Object, key string) {
	obj = m.example.DeepCopyObject()
	o, err := meta.Accessor(obj)
	require.NoError(t, err)
	o.SetName(name)
	o.SetResourceVersion(fmt.Sprint(version))
	o.SetGeneration(int64(version))
	o.SetUID(types.UID(uid))
	key, err = cache.MetaNamespaceKeyFunc(obj)
	require.NoError(t, err)
	return obj, key
}

// expectAdded checks that the handler has added key, and perhaps others, since the
// last time.
func (h *fedHandler) expectAdded(key, when string) {
	h.t.Helper()
	assert.Contains(h.t, h.keys, key, "keys added %s", when)
	h.keys = nil
}

func handlerAddAdds(t *trial, m handlerMaker) {
	h := m.open(t)
	for _, initial := range []bool{true, false} {
		obj, key := m.object(t, fmt.Sprint("initial-", initial), 1, "1")
		h.OnAdd(obj, initial)
		h.expectAdded(key, fmt.Sprintf("for an addition, initial = %t", initial))
	}
}

func handlerUpdateAdds(t *trial, m handlerMaker) {
	h := m.open(t)
	old, key := m.object(t, "a", 1, "1")
	changed, _ := m.object(t, "a", 2, "1")
	h.OnAdd(old, true)
	h.keys = nil
	h.OnUpdate(old, changed)
	h.expectAdded(key, "for an update")
}

func handlerRecreatedAdds(t *trial, m handlerMaker) {
	h := m.open(t)
	old, key := m.object(t, "a", 1, "1")
	other, _ := m.object(t, "a", 2, "2")
	h.OnAdd(old, true)
	h.keys = nil
	h.OnUpdate(old, other)
	h.expectAdded(key, "for an update to another UID")
}

func handlerDeleteAdds(t *trial, m handlerMaker) {
	h := m.open(t)
	obj, key := m.object(t, "a", 1, "1")
	h.OnAdd(obj, true)
	h.keys = nil
	h.OnDelete(obj)
	h.expectAdded(key, "for a deletion")
}

func handlerTombstoneWithObject(t *trial, m handlerMaker) {
	h := m.open(t)
	obj, key := m.object(t, "a", 1, "1")
	h.OnAdd(obj, true)
	h.keys = nil
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: key, Obj: obj})
	h.expectAdded(key, "for a tombstone with its object")
}

func handlerTombstoneWithoutObject(t *trial, m handlerMaker) {
	h := m.open(t)
	obj, key := m.object(t, "a", 1, "1")
	h.OnAdd(obj, true)
	h.keys = nil
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: key})
	h.expectAdded(key, "for a tombstone without an object")
}

func handlerDuplicates(t *trial, m handlerMaker) {
	h := m.open(t)
	obj, _ := m.object(t, "a", 1, "1")
	newer, _ := m.object(t, "a", 2, "1")
	unknown, _ := m.object(t, "b", 3, "3")
	for range 2 {
		h.OnAdd(obj, true) // a late registration gets the initial list once more
		h.OnAdd(obj, false)
		h.OnUpdate(newer, obj) // out of order
		h.OnDelete(obj)
		h.OnDelete(unknown)
		h.OnUpdate(unknown, unknown)
	}
}

func handlerResync(t *trial, m handlerMaker) {
	h := m.open(t)
	obj, _ := m.object(t, "a", 1, "1")
	h.OnAdd(obj, true)
	for range 3 {
		h.OnUpdate(obj, obj)
	}
}

func handlerObjectsUnchanged(t *trial, m handlerMaker) {
	h := m.open(t)
	old, _ := m.object(t, "a", 1, "1")
	changed, _ := m.object(t, "a", 2, "1")
	was, becomes := old.DeepCopyObject(), changed.DeepCopyObject()
	h.OnAdd(old, false)
	h.OnUpdate(old, changed)
	h.OnDelete(changed)
	assert.Equal(t, was, old, "the object that was added")
	assert.Equal(t, becomes, changed, "the object that it became")
}
