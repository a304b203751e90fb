package impltest

import (
	"errors"
	"testing/synctest"

	"github.com/informerbench/informerbench/impl/fifo"
	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/cache"
)

// poppingClauses are the clauses about Pop and Close that all kinds share.
var poppingClauses = []clause[newFIFO]{
	{name: "pop-blocks", contract: "fifo 1", run: fifoPopBlocks,
		reason: "Pop waits while there is nothing: the controller's loop would spin otherwise"},
	{name: "every-write-wakes", contract: "fifo 1", run: fifoEveryWriteWakes,
		reason: "whatever queues something wakes a blocked Pop: an event would wait for the next one otherwise"},
	{name: "pop-result", contract: "fifo 1", run: fifoPopResult,
		reason: "Pop returns what it gave the handler and the handler's error; a failed item is not queued again"},
	{name: "close-drains", contract: "fifo 1", run: fifoCloseDrains,
		reason: "what is queued at Close is still popped, then Pop answers cache.ErrFIFOClosed: the loop ends and loses nothing"},
	{name: "close-releases", contract: "fifo 1", run: fifoCloseReleases,
		reason: "Close ends every Pop that is blocked: the controller could not stop otherwise"},
	{name: "add-after-close", contract: "fifo 1", run: fifoAddAfterClose,
		reason: "Close refuses no writes: a reflector that is still running must not fail"},
	{name: "handler-panic-unlocks", contract: "fifo 6", run: fifoHandlerPanicUnlocks,
		reason: "a handler that panics leaves no lock held: the controller's recovery would be followed by a deadlock"},
}

func fifoPopBlocks(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{})
	p := pop(t, q)
	assert.Equal(t, "blocked", p.String(), "Pop of an empty queue")
	do(t, q.Add(object("a", 1)))
	synctest.Wait()
	assert.Contains(t, p.String(), "ns/a@1", "the blocked Pop after Add")
	assert.Equal(t, "blocked", pop(t, q).String(), "Pop after the only item was popped")
}

func fifoEveryWriteWakes(t *trial, new newFIFO) {
	for name, write := range map[string]func(cache.Queue) error{
		"Add":     func(q cache.Queue) error { return q.Add(object("a", 1)) },
		"Update":  func(q cache.Queue) error { return q.Update(object("a", 1)) },
		"Replace": func(q cache.Queue) error { return q.Replace([]any{object("a", 1)}, "1") },
	} {
		q := open(t, new, fifo.Config{})
		p := pop(t, q)
		do(t, write(q))
		synctest.Wait()
		assert.Contains(t, p.String(), "ns/a@1", "Pop that was blocked before %s", name)
	}
}

func fifoPopResult(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{})
	do(t, q.Add(object("a", 1)), q.Add(object("b", 1)))
	fails := errors.New("handler failed")
	p := &handled{failsWith: fails}
	result, err := q.Pop(p.single)
	assert.Equal(t, p.calls, []string{describe(result)}, "the result of Pop and what the handler was given")
	assert.Contains(t, describe(result), "ns/a@1", "the result of Pop")
	assert.ErrorIs(t, err, fails)
	assert.Contains(t, pop(t, q).String(), "ns/b@1", "Pop after a handler that failed")
	assert.Equal(t, "blocked", pop(t, q).String(), "Pop after that")
}

func fifoCloseDrains(t *trial, new newFIFO) {
	t.needs("close-releases")
	q := open(t, new, fifo.Config{})
	do(t, q.Add(object("a", 1)), q.Add(object("b", 1)))
	q.Close()
	assert.Contains(t, pop(t, q).String(), "ns/a@1", "the first Pop after Close")
	assert.Contains(t, pop(t, q).String(), "ns/b@1", "the second Pop after Close")
	assert.Equal(t, "closed", pop(t, q).String(), "Pop of a closed, empty queue")
	assert.Equal(t, "closed", pop(t, q).String(), "another Pop of a closed, empty queue")
}

func fifoCloseReleases(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{})
	p1, p2 := pop(t, q), pop(t, q)
	q.Close()
	synctest.Wait()
	assert.Equal(t, []string{"closed", "closed"}, []string{p1.String(), p2.String()}, "two Pops that were blocked before Close")
	q.Close() // once more is harmless
}

func fifoAddAfterClose(t *trial, new newFIFO) {
	t.needs("close-drains", "close-releases")
	q := open(t, new, fifo.Config{})
	q.Close()
	do(t, q.Add(object("a", 1)))
	assert.Contains(t, pop(t, q).String(), "ns/a@1", "Pop after Close and Add")
	assert.Equal(t, "closed", pop(t, q).String(), "Pop after that")
}

func fifoHandlerPanicUnlocks(t *trial, new newFIFO) {
	for _, atomic := range []bool{false, true} {
		q := open(t, new, fifo.Config{Atomic: atomic})
		do(t, q.Add(object("a", 1)), q.Add(object("b", 1)))
		func() {
			defer func() { _ = recover() }()
			_, _ = q.Pop(func(any, bool) error { panic("oops") })
		}()
		if !yieldUntil(t.Go(func() { q.HasSynced() })) {
			t.Fatalf("HasSynced is blocked after a handler's panic")
		}
		assert.Contains(t, pop(t, q).String(), "ns/b@1", "Pop after a handler's panic")
	}
}

// threeObjects is a list for Replace.
func threeObjects() []any { return []any{object("a", 1), object("b", 1), object("c", 1)} }

// syncedClauses are the clauses about the initial list.
var syncedClauses = []clause[newFIFO]{
	{name: "synced-after-first-list", contract: "fifo 2", run: fifoSyncedAfterFirstList,
		reason: "HasSynced is true when the first Replace's items were popped, not before: controllers start on it"},
	{name: "synced-event-first", contract: "fifo 2", run: fifoSyncedEventFirst,
		reason: "HasSynced is true at once if Add, Update or Delete comes before any Replace: there is no initial list then"},
	{name: "synced-empty-list", contract: "fifo 2", run: fifoSyncedEmptyList,
		reason: "an empty initial list is synced at once: a controller of a resource without objects would never start"},
	{name: "synced-not-by-later-lists", contract: "fifo 2", run: fifoSyncedNotByLaterLists,
		reason: "only the first Replace counts: a relist before the first list was popped must not make it look done"},
	{name: "synced-not-by-events", contract: "fifo 2", run: fifoSyncedNotByEvents,
		reason: "an event after the first Replace does not end the initial list"},
}

func fifoSyncedAfterFirstList(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{})
	assert.Equal(t, "false", synced(q), "a new queue")
	do(t, q.Replace(threeObjects(), "1"), q.Update(object("d", 2)))
	for n := range 3 {
		assert.Equal(t, "false", synced(q), "after %d of 3 Pops", n)
		p := pop(t, q)
		assert.Equal(t, []bool{true}, p.initial, "isInInitialList of Pop %d of 3", n+1)
	}
	assert.Equal(t, "true", synced(q), "after 3 of 3 Pops")
	assert.Equal(t, []bool{false}, pop(t, q).initial, "isInInitialList of an event after the list")
	do(t, q.Replace(threeObjects(), "2"))
	assert.Equal(t, "true", synced(q), "after a second Replace")
	assert.Equal(t, []bool{false}, pop(t, q).initial, "isInInitialList in a second list")
}

func fifoSyncedEventFirst(t *trial, new newFIFO) {
	for name, write := range map[string]func(cache.Queue, any) error{
		"Add": cache.Queue.Add, "Update": cache.Queue.Update, "Delete": cache.Queue.Delete,
	} {
		q := open(t, new, fifo.Config{})
		do(t, write(q, object("a", 1)))
		assert.Equal(t, "true", synced(q), "after %s", name)
		do(t, q.Replace(threeObjects(), "1"))
		assert.Equal(t, "true", synced(q), "after %s and Replace", name)
	}
}

func fifoSyncedEmptyList(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{})
	do(t, q.Replace(nil, "1"))
	assert.Equal(t, "true", synced(q), "after Replace with nothing")
}

func fifoSyncedNotByLaterLists(t *trial, new newFIFO) {
	t.needs("synced-after-first-list")
	q := open(t, new, fifo.Config{})
	do(t, q.Replace(threeObjects(), "1"), q.Replace(threeObjects(), "2"))
	pop(t, q)
	pop(t, q)
	assert.Equal(t, "false", synced(q), "after 2 Pops and two lists of 3")
	pop(t, q)
	assert.Equal(t, "true", synced(q), "after 3 Pops")
}

func fifoSyncedNotByEvents(t *trial, new newFIFO) {
	t.needs("synced-after-first-list")
	q := open(t, new, fifo.Config{})
	do(t, q.Replace(threeObjects(), "1"), q.Add(object("d", 1)), q.Update(object("e", 1)), q.Delete(object("f", 1)))
	assert.Equal(t, "false", synced(q), "after Replace, Add, Update and Delete")
}

// syncedAfterHandler is the clause that upstream's DeltaFIFO words differently:
// there, the checker is done before the last handler has run.
var syncedAfterHandler = []clause[newFIFO]{
	{name: "synced-after-handler", contract: "fifo 2", run: fifoSyncedAfterHandler,
		reason: "the initial list is done when its last handler has returned: the store would not be complete before"},
}

func fifoSyncedAfterHandler(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{})
	do(t, q.Replace([]any{object("a", 1)}, "1"))
	during := true
	_, err := q.Pop(func(any, bool) error {
		during = cache.IsDone(q.HasSyncedChecker())
		return nil
	})
	do(t, err)
	assert.False(t, during, "HasSyncedChecker while the last handler runs")
	assert.Equal(t, "true", synced(q), "after it has returned")
}

// keyClauses are the clauses about the key function.
var keyClauses = []clause[newFIFO]{
	{name: "key-error", contract: "fifo 3", run: fifoKeyError,
		reason: "an object without a key is a cache.KeyError with the object, and is not queued"},
	{name: "key-func", contract: "fifo 3", run: fifoKeyFunc,
		reason: "keys come from the config's function, by default namespace/name: objects of one name in two namespaces are two"},
}

func fifoKeyError(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{})
	cause := errors.New("no key for you")
	r := open(t, new, fifo.Config{KeyFunc: func(any) (string, error) { return "", cause }})
	for name, err := range map[string]error{
		"Add": q.Add("no object"), "Update": q.Update("no object"), "Delete": q.Delete("no object"),
		"Replace": q.Replace([]any{"no object"}, "1"),
	} {
		var keyError cache.KeyError
		if assert.ErrorAs(t, err, &keyError, "%s of a string", name) {
			assert.Equal(t, "no object", keyError.Obj, "%s: the object in the error", name)
		}
	}
	assert.ErrorIs(t, r.Add(object("a", 1)), cause, "the key function's error")
	expectPops(t, q)
	expectPops(t, r)
}

func fifoKeyFunc(t *trial, new newFIFO) {
	t.needs("close-drains")
	q := open(t, new, fifo.Config{})
	other := object("a", 1)
	other.Namespace = "other"
	cluster := object("a", 1)
	cluster.Namespace = ""
	do(t, q.Add(object("a", 1)), q.Add(other), q.Add(cluster), q.Add(cache.ExplicitKey("explicit")))
	for _, want := range []string{"ns/a@1", "other/a@1", "/a@1", "explicit"} {
		assert.Contains(t, pop(t, q).String(), want)
	}
	constant := open(t, new, fifo.Config{KeyFunc: func(any) (string, error) { return "same", nil }})
	do(t, constant.Replace([]any{object("a", 1)}, "1"), constant.Add(object("b", 2)))
	constant.Close()
	var got string
	for p := pop(t, constant); p.String() != "closed" && len(got) < 1000; p = pop(t, constant) {
		got += p.String() + ";"
	}
	assert.Contains(t, got, "ns/b@2", "objects that a key function gives the same key")
}

// transformClauses are the clauses about the transformer. FIFO has none.
var transformClauses = []clause[newFIFO]{
	{name: "transform-once", contract: "fifo 4", run: fifoTransformOnce,
		reason: "every object is transformed exactly once before it is queued: twice would spoil it, never would waste memory"},
	{name: "transform-not-known", contract: "fifo 4", run: fifoTransformNotKnown,
		reason: "tombstones and synced objects come from the store, behind the transformer: they are not transformed again"},
	{name: "transform-error", contract: "fifo 4", run: fifoTransformError,
		reason: "the transformer's error comes back to the reflector and its object is not queued"},
	{name: "transformer-shown", contract: "fifo 4", run: fifoTransformerShown,
		reason: "the queue is a cache.TransformingStore: the reflector transforms what it streams for the initial list too"},
}

func fifoTransformOnce(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{Transformer: transformed, EmitReplaced: true})
	do(t, q.Add(object("a", 1)), q.Update(object("b", 2)), q.Delete(object("b", 3)), q.Replace([]any{object("a", 4), object("c", 4)}, "4"))
	q.Close()
	for p := pop(t, q); p.returned && p.err == nil; p = pop(t, q) {
		assert.NotContains(t, p.String(), "''", "transformed more than once")
		assert.NotRegexp(t, `@\d\)`, p.String(), "not transformed")
	}
}

func fifoTransformNotKnown(t *trial, new newFIFO) {
	t.needs("resync", "replace-tombstones")
	q := open(t, new, fifo.Config{Transformer: transformed, EmitReplaced: true, KnownObjects: knows(object("a", 1))})
	do(t, q.Resync())
	assert.Equal(t, "Sync(ns/a@1)", pop(t, q).String(), "Pop after Resync")
	do(t, q.Replace(nil, "2"))
	assert.Equal(t, "Deleted(unknown final state of ns/a, last ns/a@1)", pop(t, q).String(), "Pop after an empty Replace")
	do(t, q.Delete(lost("a", object("a", 1))))
	assert.Equal(t, "Deleted(unknown final state of ns/a, last ns/a@1)", pop(t, q).String(), "Pop after Delete of a tombstone")
}

func fifoTransformError(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{Transformer: transformed})
	for name, err := range map[string]error{
		"Add": q.Add(object("refused", 1)), "Update": q.Update(object("refused", 1)),
		"Replace": q.Replace([]any{object("refused", 1)}, "1"),
	} {
		assert.ErrorContains(t, err, "transform: refused ns/refused@1", name)
	}
	expectPops(t, q)
}

func fifoTransformerShown(t *trial, new newFIFO) {
	t.needs("transform-once")
	s, ok := open(t, new, fifo.Config{Transformer: transformed}).(cache.TransformingStore)
	if !ok || s.Transformer() == nil {
		t.Fatalf("no cache.TransformingStore, or no transformer in it")
	}
	obj, err := s.Transformer()(object("a", 1))
	assert.NoError(t, err)
	assert.Equal(t, "ns/a@1'", describe(obj))
	if s, ok := open(t, new, fifo.Config{}).(cache.TransformingStore); ok {
		assert.Nil(t, s.Transformer(), "without a transformer in the config")
	}
}
