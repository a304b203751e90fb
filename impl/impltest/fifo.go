package impltest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/informerbench/informerbench/impl/fifo"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

type newFIFO = func(fifo.Config) cache.Queue

// TestFIFO tests a FIFO: the latest object of each key. Relaxes names the
// clauses that it gives up.
func TestFIFO(t *testing.T, new func(fifo.Config) cache.Queue, relaxes ...string) {
	t.Helper()
	runClauses(t, fifoClauses(), new, relaxes)
}

// TestDeltaFIFO tests a DeltaFIFO: the changes of each key since it was last
// popped. Relaxes names the clauses that it gives up.
func TestDeltaFIFO(t *testing.T, new func(fifo.Config) cache.Queue, relaxes ...string) {
	t.Helper()
	runClauses(t, deltaFIFOClauses(), new, relaxes)
}

// TestInOrderFIFO tests an in-order FIFO, atomic and not: every event in order.
// Relaxes names the clauses that it gives up.
func TestInOrderFIFO(t *testing.T, new func(fifo.Config) cache.Queue, relaxes ...string) {
	t.Helper()
	runClauses(t, inOrderClauses(), new, relaxes)
}

func fifoClauses() []clause[newFIFO] {
	return slices.Concat(poppingClauses, syncedClauses, syncedAfterHandler, keyClauses, latestClauses,
		underLock, fifoHoldingClauses, fifoConcurrent(true), fifoDifferential(plainFIFO))
}

func deltaFIFOClauses() []clause[newFIFO] {
	return slices.Concat(poppingClauses, syncedClauses, keyClauses, deltaClauses, listedClauses, transformClauses,
		underLock, fifoHoldingClauses, fifoConcurrent(false), deltasRetained, fifoDifferential(deltaFIFO))
}

func inOrderClauses() []clause[newFIFO] {
	return slices.Concat(poppingClauses, syncedClauses, syncedAfterHandler, keyClauses, inOrderEventClauses,
		transformClauses, atomicClauses, batchClauses, underLock, lockReleaseClauses, fifoHoldingClauses, fifoConcurrent(false),
		deltasRetained, fifoDifferential(inOrderFIFO))
}

// open makes a FIFO that is closed when the clause ends.
func open(t *trial, new newFIFO, config fifo.Config) cache.Queue {
	q := new(config)
	t.Cleanup(q.Close)
	return q
}

// object makes an object of the namespace "ns" in that version.
func object(name string, version int) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, ResourceVersion: fmt.Sprint(version),
	}}
}

func objects(prefix string, n int) []any {
	objs := make([]any, n)
	for i, name := range keys(prefix, n) {
		objs[i] = object(name, 1)
	}
	return objs
}

func lost(name string, obj any) cache.DeletedFinalStateUnknown {
	return cache.DeletedFinalStateUnknown{Key: "ns/" + name, Obj: obj}
}

// describe is what a handler was given in a word a delta: "Updated(ns/a@3)". A
// transformed object has a ' for each transformation.
func describe(given any) string {
	switch o := given.(type) {
	case nil:
		return "nothing"
	case cache.Deltas:
		return describeAll(o)
	case []cache.Delta:
		return describeAll(o)
	case cache.Delta:
		return fmt.Sprintf("%s(%s)", o.Type, describe(o.Object))
	case cache.DeletedFinalStateUnknown:
		return fmt.Sprintf("unknown final state of %s, last %s", o.Key, describe(o.Obj))
	case cache.ReplacedAllInfo:
		all := make([]string, len(o.Objects))
		for i, obj := range o.Objects {
			all[i] = describe(obj)
		}
		return fmt.Sprintf("%v at %s", all, o.ResourceVersion)
	case *metav1.PartialObjectMetadata:
		return fmt.Sprintf("%s/%s@%s%s", o.Namespace, o.Name, o.ResourceVersion, strings.Repeat("'", int(o.Generation)))
	}
	return fmt.Sprintf("%T %v", given, given)
}

func describeAll(deltas []cache.Delta) string {
	words := make([]string, len(deltas))
	for i, d := range deltas {
		words[i] = describe(d)
	}
	return strings.Join(words, " ")
}

// transformed is a transformer that marks a copy. It refuses objects called
// "refused" and things that are no objects.
func transformed(obj any) (any, error) {
	o, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok || o.Name == "refused" {
		return nil, fmt.Errorf("transform: refused %s", describe(obj))
	}
	o = o.DeepCopy()
	o.Generation++
	return o, nil
}

// A handled is a call of Pop or PopBatch in a goroutine of its own. Its fields
// may be read after synctest.Wait.
type handled struct {
	calls     []string // what the handlers were given
	initial   []bool   // and whether that belonged to the initial list
	result    any
	err       error
	returned  bool
	failsWith error // what the handlers return
}

func (h *handled) String() string {
	switch {
	case !h.returned:
		return "blocked"
	case errors.Is(h.err, cache.ErrFIFOClosed):
		return "closed"
	case h.err != nil:
		return fmt.Sprintf("%s, %v", strings.Join(h.calls, "; "), h.err)
	}
	return strings.Join(h.calls, "; ")
}

func (h *handled) single(obj any, isInInitialList bool) error {
	h.calls = append(h.calls, describe(obj))
	h.initial = append(h.initial, isInInitialList)
	return h.failsWith
}

func (h *handled) batch(deltas []cache.Delta, isInInitialList bool) error {
	h.calls = append(h.calls, "batch "+describe(deltas))
	h.initial = append(h.initial, isInInitialList)
	return h.failsWith
}

// pop calls Pop and lets everything settle.
func pop(t *trial, q cache.Queue) *handled {
	h := &handled{}
	t.Go(func() {
		h.result, h.err = q.Pop(h.single)
		h.returned = true
	})
	synctest.Wait()
	return h
}

// popBatch calls PopBatch and lets everything settle.
func popBatch(t *trial, q cache.Queue) *handled {
	b, ok := q.(cache.QueueWithBatch)
	if !ok {
		t.Fatalf("%T is no cache.QueueWithBatch: informers would process its events one by one", q)
	}
	h := &handled{}
	t.Go(func() {
		h.err = b.PopBatch(h.batch, h.single)
		h.returned = true
	})
	synctest.Wait()
	return h
}

// expectPops checks what the next calls of Pop hand out, and that there is no
// more; q is closed by it.
func expectPops(t *trial, q cache.Queue, want ...string) {
	t.Helper()
	t.needs("close-drains", "close-releases")
	q.Close()
	var got []string
	for len(got) < len(want)+4 {
		h := pop(t, q)
		if h.String() == "closed" {
			break
		}
		got = append(got, h.String())
		if !h.returned {
			break
		}
	}
	assert.Equal(t, want, got, "what Pop handed out after Close")
}

// do fails the clause if a write fails that must not.
func do(t *trial, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatalf("a write failed: %v", err)
		}
	}
}

// synced is HasSynced, and what the checker says if that differs.
func synced(q cache.Queue) string {
	done := cache.IsDone(q.HasSyncedChecker())
	if has := q.HasSynced(); has != done {
		return fmt.Sprintf("HasSynced %t but HasSyncedChecker done %t", has, done)
	}
	return fmt.Sprint(done)
}

// A known is a store for Config.KnownObjects that lists its keys in order.
type known struct {
	keys []string
	objs map[string]any
}

func knows(objs ...*metav1.PartialObjectMetadata) *known {
	k := &known{objs: map[string]any{}}
	for _, o := range objs {
		k.set("ns/"+o.Name, o)
	}
	return k
}

func (k *known) set(key string, obj any) {
	if _, ok := k.objs[key]; !ok {
		k.keys = append(k.keys, key)
	}
	k.objs[key] = obj
}

func (k *known) remove(key string) {
	delete(k.objs, key)
	k.keys = slices.DeleteFunc(k.keys, func(other string) bool { return other == key })
}

func (k *known) ListKeys() []string { return slices.Clone(k.keys) }

func (k *known) GetByKey(key string) (any, bool, error) {
	obj, ok := k.objs[key]
	return obj, ok, nil
}
