package impltest

import (
	"errors"
	"testing/synctest"

	"github.com/informerbench/informerbench/impl/fifo"
	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/cache"
)

// latestClauses are the clauses about what a FIFO hands out.
var latestClauses = []clause[newFIFO]{
	{name: "latest-value", contract: "latest-object fifo 1", run: fifoLatestValue,
		reason: "a key is handed out once, with its latest object, at the place of its first change"},
	{name: "deleted-skipped", contract: "latest-object fifo 2", run: fifoDeletedSkipped,
		reason: "Pop skips a deleted key, and hands it out if it was added again"},
	{name: "deleted-pop-blocks", contract: "latest-object fifo 2", run: fifoDeletedPopBlocks,
		reason: "Pop blocks while every queued key is deleted"},
	{name: "replace-clears", contract: "latest-object fifo 3", run: fifoReplaceClears,
		reason: "Replace drops what is queued and queues the list, the last object of each key"},
	{name: "replace-all-or-nothing", contract: "latest-object fifo 3", run: fifoReplaceAllOrNothing,
		reason: "a list with an object that has no key changes nothing"},
}

func fifoLatestValue(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{})
	do(t, q.Add(object("a", 1)), q.Add(object("b", 2)), q.Update(object("a", 3)), q.Add(object("c", 4)), q.Update(object("b", 5)))
	expectPops(t, q, "ns/a@3", "ns/b@5", "ns/c@4")
}

func fifoDeletedSkipped(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{})
	do(t, q.Add(object("a", 1)), q.Add(object("b", 1)), q.Add(object("c", 1)),
		q.Delete(object("a", 2)), q.Delete(object("c", 2)), q.Delete(object("unknown", 1)), q.Add(object("c", 3)))
	expectPops(t, q, "ns/b@1", "ns/c@3")
}

func fifoDeletedPopBlocks(t *trial, new newFIFO) {
	t.needs("deleted-skipped")
	q := open(t, new, fifo.Config{})
	do(t, q.Add(object("a", 1)), q.Delete(object("a", 2)))
	p := pop(t, q)
	assert.Equal(t, "blocked", p.String())
	do(t, q.Add(object("a", 3)))
	synctest.Wait()
	assert.Equal(t, "ns/a@3", p.String(), "the blocked Pop after Add")
}

func fifoReplaceClears(t *trial, new newFIFO) {
	t.needs("latest-value")
	q := open(t, new, fifo.Config{})
	do(t, q.Add(object("gone", 1)), q.Add(object("a", 1)), q.Replace([]any{object("a", 2), object("a", 3)}, "3"),
		q.Update(object("b", 4)), q.Update(object("a", 5)), q.Resync())
	expectPops(t, q, "ns/a@5", "ns/b@4")
}

func fifoReplaceAllOrNothing(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{})
	do(t, q.Add(object("a", 1)))
	assert.Error(t, q.Replace([]any{object("b", 1), "no object"}, "2"))
	expectPops(t, q, "ns/a@1")
}

// deltaClauses are the clauses about how a DeltaFIFO collects the changes of a key.
var deltaClauses = []clause[newFIFO]{
	{name: "delta-order", contract: "delta fifo 1", run: deltaOrder,
		reason: "a key's changes come as one Deltas, oldest first and none merged; keys come in the order of their first change"},
	{name: "popped-forgotten", contract: "delta fifo 1", run: deltaPoppedForgotten,
		reason: "a key that was popped starts anew, at the end of the order"},
	{name: "dedup-consecutive-deletes", contract: "delta fifo 2", run: deltaDedupConsecutiveDeletes,
		reason: "two deletions in a row are one, the older, which saw the final state; others stay"},
	{name: "dedup-prefers-final-state", contract: "delta fifo 2", run: deltaDedupPrefersFinalState,
		reason: "of two deletions in a row the newer stays if the older does not know the final state"},
	{name: "delete-unknown-ignored", contract: "delta fifo 3", run: deltaDeleteUnknownIgnored,
		reason: "a deletion of a key that is neither queued nor known was reported before, by a list"},
}

func deltaOrder(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{})
	do(t, q.Add(object("a", 1)), q.Add(object("b", 2)), q.Update(object("a", 3)), q.Update(object("a", 3)),
		q.Delete(object("a", 4)), q.Add(object("a", 5)), q.Add(object("c", 6)), q.Update(object("b", 7)))
	expectPops(t, q, "Added(ns/a@1) Updated(ns/a@3) Updated(ns/a@3) Deleted(ns/a@4) Added(ns/a@5)",
		"Added(ns/b@2) Updated(ns/b@7)", "Added(ns/c@6)")
}

func deltaPoppedForgotten(t *trial, new newFIFO) {
	t.needs("delta-order")
	q := open(t, new, fifo.Config{})
	do(t, q.Add(object("a", 1)), q.Update(object("a", 2)), q.Add(object("b", 1)))
	pop(t, q)
	do(t, q.Update(object("a", 3)))
	expectPops(t, q, "Added(ns/b@1)", "Updated(ns/a@3)")
}

func deltaDedupConsecutiveDeletes(t *trial, new newFIFO) {
	t.needs("delta-order")
	q := open(t, new, fifo.Config{})
	do(t, q.Add(object("a", 1)), q.Delete(object("a", 2)), q.Delete(object("a", 3)), q.Delete(lost("a", object("a", 4))),
		q.Add(object("a", 5)), q.Delete(object("a", 6)))
	expectPops(t, q, "Added(ns/a@1) Deleted(ns/a@2) Added(ns/a@5) Deleted(ns/a@6)")
}

func deltaDedupPrefersFinalState(t *trial, new newFIFO) {
	t.needs("delta-order", "dedup-consecutive-deletes")
	q := open(t, new, fifo.Config{})
	do(t, q.Add(object("a", 1)), q.Delete(lost("a", object("a", 2))), q.Delete(object("a", 3)), q.Delete(object("a", 4)))
	do(t, q.Add(object("b", 1)), q.Delete(lost("b", object("b", 2))), q.Delete(lost("b", object("b", 3))))
	expectPops(t, q, "Added(ns/a@1) Deleted(ns/a@3)",
		"Added(ns/b@1) Deleted(unknown final state of ns/b, last ns/b@3)")
}

func deltaDeleteUnknownIgnored(t *trial, new newFIFO) {
	t.needs("delta-order", "dedup-consecutive-deletes")
	q := open(t, new, fifo.Config{})
	do(t, q.Delete(object("a", 1)))
	expectPops(t, q)
	q = open(t, new, fifo.Config{KnownObjects: knows(object("b", 1))})
	do(t, q.Add(object("c", 1)), q.Delete(object("a", 1)), q.Delete(lost("b", nil)), q.Delete(object("c", 2)))
	expectPops(t, q, "Added(ns/c@1) Deleted(ns/c@2)", "Deleted(unknown final state of ns/b, last nothing)")
}

// listedClauses are the clauses about a DeltaFIFO's Replace and Resync.
var listedClauses = []clause[newFIFO]{
	{name: "replace-emits", contract: "delta fifo 4", run: deltaReplaceEmits,
		reason: "Replace queues Replaced for each object if EmitReplaced is set, Sync if not"},
	{name: "replace-tombstones", contract: "delta fifo 4", run: deltaReplaceTombstones,
		reason: "Replace queues a tombstone for every key that is queued or known but not listed: deletions were missed"},
	{name: "replace-tombstone-unwrapped", contract: "delta fifo 4", run: deltaReplaceTombstoneUnwrapped,
		reason: "the tombstone of a queued tombstone has the object, not a tombstone in a tombstone"},
	{name: "replace-synced-counts-tombstones", contract: "delta fifo 4", run: deltaReplaceSyncedCountsTombstones,
		reason: "the initial list is popped when its tombstones are popped too"},
	{name: "resync", contract: "delta fifo 5", run: deltaResync,
		reason: "Resync queues Sync for known keys that are not queued: a queued event is newer than the store"},
	{name: "resync-wakes", contract: "delta fifo 5", run: deltaResyncWakes,
		reason: "Resync wakes a blocked Pop"},
}

func deltaReplaceEmits(t *trial, new newFIFO) {
	t.needs("delta-order")
	for emit, kind := range map[bool]string{true: "Replaced", false: "Sync"} {
		q := open(t, new, fifo.Config{EmitReplaced: emit})
		do(t, q.Add(object("b", 1)), q.Replace([]any{object("a", 2), object("b", 2), object("a", 3)}, "3"))
		expectPops(t, q, "Added(ns/b@1) "+kind+"(ns/b@2)", kind+"(ns/a@2) "+kind+"(ns/a@3)")
	}
}

func deltaReplaceTombstones(t *trial, new newFIFO) {
	t.needs("delta-order", "dedup-consecutive-deletes", "replace-emits")
	q := open(t, new, fifo.Config{EmitReplaced: true, KnownObjects: knows(object("k1", 1), object("a", 1), object("k2", 1), object("queued", 1))})
	do(t, q.Update(object("queued", 2)), q.Add(object("gone", 3)), q.Delete(object("gone", 4)), q.Replace([]any{object("a", 5)}, "5"))
	expectPops(t, q,
		"Updated(ns/queued@2) Deleted(unknown final state of ns/queued, last ns/queued@2)",
		"Added(ns/gone@3) Deleted(ns/gone@4)",
		"Replaced(ns/a@5)",
		"Deleted(unknown final state of ns/k1, last ns/k1@1)",
		"Deleted(unknown final state of ns/k2, last ns/k2@1)")
}

func deltaReplaceTombstoneUnwrapped(t *trial, new newFIFO) {
	t.needs("replace-tombstones")
	q := open(t, new, fifo.Config{KnownObjects: knows(object("a", 1))})
	do(t, q.Replace(nil, "2"), q.Replace(nil, "3"))
	expectPops(t, q, "Deleted(unknown final state of ns/a, last ns/a@1)")
}

func deltaReplaceSyncedCountsTombstones(t *trial, new newFIFO) {
	t.needs("synced-after-first-list", "replace-tombstones")
	q := open(t, new, fifo.Config{KnownObjects: knows(object("k", 1))})
	do(t, q.Replace([]any{object("a", 2), object("a", 3)}, "3"))
	pop(t, q)
	assert.Equal(t, "false", synced(q), "a tombstone is left")
	pop(t, q)
	assert.Equal(t, "true", synced(q), "after 2 Pops for one listed and one missing key")
}

func deltaResync(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{KnownObjects: knows(object("a", 1), object("b", 1), object("c", 1))})
	do(t, q.Update(object("b", 2)), q.Delete(object("c", 2)), q.Resync(), q.Resync())
	expectPops(t, q, "Updated(ns/b@2)", "Deleted(ns/c@2)", "Sync(ns/a@1)")
	q = open(t, new, fifo.Config{})
	do(t, q.Resync())
	expectPops(t, q)
}

func deltaResyncWakes(t *trial, new newFIFO) {
	t.needs("resync")
	q := open(t, new, fifo.Config{KnownObjects: knows(object("a", 1))})
	p := pop(t, q)
	do(t, q.Resync())
	synctest.Wait()
	assert.Equal(t, "Sync(ns/a@1)", p.String(), "the blocked Pop after Resync")
}

// inOrderEventClauses are the clauses about an in-order FIFO that is not atomic.
var inOrderEventClauses = []clause[newFIFO]{
	{name: "event-order", contract: "in-order fifo 1", run: inOrderEventOrder,
		reason: "every event is handed out, in order, none merged: handlers see what the server saw"},
	{name: "delete-unknown-delivered", contract: "in-order fifo 2", run: inOrderDeleteUnknownDelivered,
		reason: "a deletion is handed out whether its key is known or not: nothing is decided before the store is asked"},
	{name: "replace-tombstones-first", contract: "in-order fifo 3", run: inOrderReplaceTombstonesFirst,
		reason: "Replace queues tombstones for queued and known keys that are not listed, then the list: a recreated object is not deleted last"},
	{name: "resync", contract: "in-order fifo 3", run: inOrderResync,
		reason: "Resync queues Sync for known keys that are not queued: a queued event is newer than the store"},
	{name: "resync-error-cause", contract: "in-order fifo 3", run: inOrderResyncErrorCause,
		reason: "Resync's error wraps what kept it from queueing an object (kubernetes/kubernetes#141098)"},
}

func inOrderEventOrder(t *trial, new newFIFO) {
	for _, atomic := range []bool{false, true} {
		q := open(t, new, fifo.Config{Atomic: atomic})
		do(t, q.Add(object("a", 1)), q.Add(object("b", 2)), q.Update(object("a", 3)), q.Update(object("a", 3)),
			q.Delete(object("a", 4)), q.Delete(object("a", 5)), q.Add(object("a", 6)))
		expectPops(t, q, "Added(ns/a@1)", "Added(ns/b@2)", "Updated(ns/a@3)", "Updated(ns/a@3)",
			"Deleted(ns/a@4)", "Deleted(ns/a@5)", "Added(ns/a@6)")
	}
}

func inOrderDeleteUnknownDelivered(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{KnownObjects: knows(object("b", 1))})
	do(t, q.Delete(object("a", 1)), q.Delete(lost("c", nil)))
	expectPops(t, q, "Deleted(ns/a@1)", "Deleted(unknown final state of ns/c, last nothing)")
}

func inOrderReplaceTombstonesFirst(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{KnownObjects: knows(object("k1", 1), object("a", 1), object("k2", 1), object("queued", 1), object("gone", 1))})
	do(t, q.Update(object("queued", 2)), q.Update(object("gone", 3)), q.Update(object("queued", 4)), q.Delete(object("gone", 5)),
		q.Replace([]any{object("a", 6), object("b", 6)}, "6"))
	expectPops(t, q, "Updated(ns/queued@2)", "Updated(ns/gone@3)", "Updated(ns/queued@4)", "Deleted(ns/gone@5)",
		"Deleted(unknown final state of ns/queued, last ns/queued@4)",
		"Deleted(unknown final state of ns/k1, last ns/k1@1)", "Deleted(unknown final state of ns/k2, last ns/k2@1)",
		"Replaced(ns/a@6)", "Replaced(ns/b@6)")
}

func inOrderResync(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{KnownObjects: knows(object("a", 1), object("b", 1), object("c", 1))})
	do(t, q.Update(object("b", 2)), q.Resync(), q.Resync())
	expectPops(t, q, "Updated(ns/b@2)", "Sync(ns/a@1)", "Sync(ns/c@1)")
}

func inOrderResyncErrorCause(t *trial, new newFIFO) {
	cause := errors.New("no key for you")
	q := open(t, new, fifo.Config{
		KnownObjects: knows(object("a", 1)),
		KeyFunc:      func(any) (string, error) { return "", cause },
	})
	assert.ErrorIs(t, q.Resync(), cause)
	expectPops(t, q)
}

// atomicClauses are the clauses about an atomic in-order FIFO.
var atomicClauses = []clause[newFIFO]{
	{name: "atomic-replace", contract: "in-order fifo 4", run: atomicReplace,
		reason: "an atomic Replace is one ReplacedAll delta with the list, transformed, and its resource version"},
	{name: "atomic-resync", contract: "in-order fifo 4", run: atomicResync,
		reason: "an atomic Resync is one SyncAll delta: the store knows what to sync"},
	{name: "bookmark", contract: "in-order fifo 4", run: atomicBookmark,
		reason: "a bookmark is a delta of an atomic queue, so that the store's resource version keeps up; another queue ignores it"},
}

func atomicReplace(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{Atomic: true, Transformer: transformed, KnownObjects: knows(object("k", 1))})
	do(t, q.Replace([]any{object("b", 2), object("a", 2)}, "2"), q.Replace([]any{}, "3"))
	assert.Equal(t, "false", synced(q), "after Replace")
	p := pop(t, q)
	assert.Equal(t, "ReplacedAll([ns/b@2' ns/a@2'] at 2)", p.String())
	assert.Equal(t, []bool{true}, p.initial, "isInInitialList")
	assert.Equal(t, "true", synced(q), "after Replace was popped")
	assert.Error(t, q.Replace([]any{object("a", 4), object("refused", 4)}, "4"))
	expectPops(t, q, "ReplacedAll([] at 3)")
}

func atomicResync(t *trial, new newFIFO) {
	t.needs("atomic-replace")
	q := open(t, new, fifo.Config{Atomic: true, KnownObjects: knows(object("k", 1))})
	p := pop(t, q)
	do(t, q.Resync())
	synctest.Wait()
	assert.Equal(t, "SyncAll(cache.SyncAllInfo {})", p.String(), "the blocked Pop after Resync")
}

func atomicBookmark(t *trial, new newFIFO) {
	t.needs("atomic-replace")
	for _, atomic := range []bool{false, true} {
		q := open(t, new, fifo.Config{Atomic: atomic})
		store, ok := q.(cache.ReflectorBookmarkStore)
		if !ok {
			t.Fatalf("%T is no cache.ReflectorBookmarkStore: the reflector would keep its bookmarks", q)
		}
		p := pop(t, q)
		do(t, store.Bookmark("7"))
		synctest.Wait()
		if atomic {
			assert.Equal(t, "Bookmark(cache.BookmarkInfo {7})", p.String(), "the blocked Pop after Bookmark")
		} else {
			assert.Equal(t, "blocked", p.String(), "the blocked Pop after Bookmark, not atomic")
		}
		assert.Equal(t, "false", synced(q), "a bookmark is no event")
	}
}
