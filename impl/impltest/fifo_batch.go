package impltest

import (
	"errors"
	"fmt"
	"strings"
	"testing/synctest"

	"github.com/informerbench/informerbench/impl/fifo"
	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/cache"
)

// maxBatch is the length of the longest batch.
const maxBatch = 1000

// batchClauses are the clauses about PopBatch.
var batchClauses = []clause[newFIFO]{
	{name: "batch-distinct-keys", contract: "in-order fifo 5", run: batchDistinctKeys,
		reason: "a batch ends before a key that it has: the store applies it as one transaction"},
	{name: "batch-alone", contract: "in-order fifo 5", run: batchAlone,
		reason: "a delta of an atomic event ends the batch before it and comes alone: it concerns every key"},
	{name: "batch-initial-list", contract: "in-order fifo 5", run: batchInitialList,
		reason: "a batch ends at the end of the initial list: isInInitialList holds for all of it, and HasSynced is exact"},
	{name: "batch-synced-after-handler", contract: "in-order fifo 5", run: batchSyncedAfterHandler,
		reason: "the initial list is done when the batch with its last item was handled"},
	{name: "batch-limit", contract: "in-order fifo 5", run: batchLimit,
		reason: "a batch has at most 1,000 deltas: the store is locked for all of it"},
	{name: "batch-result", contract: "in-order fifo 5", run: batchResult,
		reason: "PopBatch blocks, returns the handler's error, drains after Close and then answers cache.ErrFIFOClosed"},
}

func batchDistinctKeys(t *trial, new newFIFO) {
	t.needs("delete-unknown-delivered")
	q := open(t, new, fifo.Config{})
	do(t, q.Add(object("a", 1)), q.Add(object("b", 1)), q.Delete(lost("c", nil)), q.Update(object("a", 2)), q.Update(object("c", 2)), q.Update(object("c", 3)))
	assert.Equal(t, "batch Added(ns/a@1) Added(ns/b@1) Deleted(unknown final state of ns/c, last nothing)", popBatch(t, q).String())
	assert.Equal(t, "batch Updated(ns/a@2) Updated(ns/c@2)", popBatch(t, q).String())
	assert.Equal(t, "Updated(ns/c@3)", popBatch(t, q).String(), "a batch of one goes to the handler for one")
	assert.Equal(t, "blocked", popBatch(t, q).String())
}

func batchAlone(t *trial, new newFIFO) {
	t.needs("batch-distinct-keys", "atomic-resync", "bookmark", "atomic-replace")
	q := open(t, new, fifo.Config{Atomic: true})
	do(t, q.Add(object("a", 1)), q.Add(object("b", 1)), q.Replace([]any{object("a", 2)}, "2"), q.Resync(), q.Add(object("c", 3)), q.Add(object("d", 3)))
	if store, ok := q.(cache.ReflectorBookmarkStore); ok {
		do(t, store.Bookmark("4"))
	}
	do(t, q.Add(object("e", 5)), q.Add(object("f", 5)))
	for _, want := range []string{"batch Added(ns/a@1) Added(ns/b@1)", "ReplacedAll([ns/a@2] at 2)", "SyncAll(cache.SyncAllInfo {})",
		"batch Added(ns/c@3) Added(ns/d@3)", "Bookmark(cache.BookmarkInfo {4})", "batch Added(ns/e@5) Added(ns/f@5)"} {
		assert.Equal(t, want, popBatch(t, q).String())
	}
}

func batchInitialList(t *trial, new newFIFO) {
	t.needs("batch-distinct-keys")
	q := open(t, new, fifo.Config{})
	do(t, q.Replace([]any{object("a", 1), object("b", 1)}, "1"), q.Add(object("c", 2)), q.Add(object("d", 2)))
	p := popBatch(t, q)
	assert.Equal(t, "batch Replaced(ns/a@1) Replaced(ns/b@1)", p.String())
	assert.Equal(t, []bool{true}, p.initial, "isInInitialList of the list")
	assert.Equal(t, "true", synced(q), "after the list")
	p = popBatch(t, q)
	assert.Equal(t, "batch Added(ns/c@2) Added(ns/d@2)", p.String())
	assert.Equal(t, []bool{false}, p.initial, "isInInitialList of events after the list")
}

func batchSyncedAfterHandler(t *trial, new newFIFO) {
	t.needs("batch-distinct-keys")
	q, ok := open(t, new, fifo.Config{}).(cache.QueueWithBatch)
	if !ok {
		t.Fatalf("no cache.QueueWithBatch")
	}
	do(t, q.Replace(objects("listed", 5), "1"))
	during := true
	do(t, q.PopBatch(func([]cache.Delta, bool) error {
		during = cache.IsDone(q.HasSyncedChecker())
		return nil
	}, (&handled{}).single))
	assert.False(t, during, "HasSyncedChecker while the handler runs")
	assert.Equal(t, "true", synced(q), "after it has returned")
}

func batchLimit(t *trial, new newFIFO) {
	t.needs("batch-distinct-keys")
	q := open(t, new, fifo.Config{})
	all := objects("object", 2*maxBatch+1)
	for _, obj := range all {
		do(t, q.Add(obj))
	}
	var want []string
	for i := range 2 {
		var batch []string
		for _, obj := range all[i*maxBatch : (i+1)*maxBatch] {
			batch = append(batch, fmt.Sprintf("Added(%s)", describe(obj)))
		}
		want = append(want, "batch "+strings.Join(batch, " "))
	}
	for i, want := range append(want, "Added("+describe(all[2*maxBatch])+")") {
		if got := popBatch(t, q).String(); got != want {
			t.Errorf("batch %d of 2,001 distinct keys has %d deltas or another order, expected 1,000, 1,000 and 1", i+1, strings.Count(got, "Added"))
		}
	}
}

func batchResult(t *trial, new newFIFO) {
	t.needs("batch-distinct-keys")
	q := open(t, new, fifo.Config{})
	p := popBatch(t, q)
	assert.Equal(t, "blocked", p.String(), "PopBatch of an empty queue")
	do(t, q.Add(object("a", 1)))
	synctest.Wait()
	assert.Equal(t, "Added(ns/a@1)", p.String(), "the blocked PopBatch after Add")

	q = open(t, new, fifo.Config{})
	do(t, q.Add(object("a", 1)), q.Add(object("b", 1)), q.Add(object("b", 2)))
	b, ok := q.(cache.QueueWithBatch)
	if !ok {
		t.Fatalf("no cache.QueueWithBatch")
	}
	fails := errors.New("handler failed")
	h := &handled{failsWith: fails}
	assert.ErrorIs(t, b.PopBatch(h.batch, h.single), fails, "of the handler for a batch")
	assert.ErrorIs(t, b.PopBatch(h.batch, h.single), fails, "of the handler for one")
	do(t, q.Add(object("c", 1)))
	q.Close()
	assert.Equal(t, "Added(ns/c@1)", popBatch(t, q).String(), "the first PopBatch after Close")
	assert.Equal(t, "closed", popBatch(t, q).String(), "the second PopBatch after Close")
}

// underLock is the clause about handlers that need the lock.
var underLock = []clause[newFIFO]{
	{name: "handler-under-lock", contract: "fifo 6", run: fifoHandlerUnderLock,
		reason: "the handler runs under the queue's lock: the store can't change between an event and Replace's look at it"},
}

func fifoHandlerUnderLock(t *trial, new newFIFO) {
	q := open(t, new, fifo.Config{})
	do(t, q.Add(object("a", 1)))
	var added <-chan struct{}
	_, err := q.Pop(func(any, bool) error {
		var held bool
		if added, held = t.heldUp(func() { _ = q.Add(object("b", 1)) }); !held {
			t.Errorf("Add returned while the handler was running")
		}
		return nil
	})
	do(t, err)
	<-added
	assert.Contains(t, pop(t, q).String(), "ns/b@1", "Pop after an Add that waited for the handler")
}

// poppers call Pop or PopBatch with handler.
var poppers = map[string]func(q cache.Queue, handler func() error) error{
	"Pop": func(q cache.Queue, handler func() error) error {
		_, err := q.Pop(func(any, bool) error { return handler() })
		return err
	},
	"PopBatch": func(q cache.Queue, handler func() error) error {
		b, ok := q.(cache.QueueWithBatch)
		if !ok {
			return errors.New("no cache.QueueWithBatch")
		}
		return b.PopBatch(func([]cache.Delta, bool) error { return handler() }, func(any, bool) error { return handler() })
	},
}

// taken is how many deltas one call takes.
var taken = map[string]int{"Pop": 1, "PopBatch": maxBatch}

// lockReleaseClauses are the clauses about the lock of an atomic in-order FIFO.
var lockReleaseClauses = []clause[newFIFO]{
	{name: "lock-released", contract: "fifo 6", run: fifoLockReleased,
		reason: "an atomic queue takes events while a handler runs, unless two batches are waiting: the watch is not held up"},
	{name: "back-pressure", contract: "fifo 6", run: fifoBackPressure,
		reason: "with two batches waiting the lock is kept while a handler runs: a slow handler must not grow the queue without limit"},
}

func fifoLockReleased(t *trial, new newFIFO) {
	t.needs("batch-distinct-keys", "atomic-replace")
	for name, pop := range poppers {
		for _, waiting := range []int{0, 2*maxBatch - 1} {
			q := open(t, new, fifo.Config{Atomic: true})
			for _, obj := range objects("object", waiting+taken[name]) {
				do(t, q.Add(obj))
			}
			do(t, pop(q, func() error {
				if !yieldUntil(t.Go(func() { _ = q.Add(object("b", 1)) })) {
					t.Errorf("Add is blocked while %s's handler runs and %d deltas wait", name, waiting)
				}
				return nil
			}))
		}
	}
}

func fifoBackPressure(t *trial, new newFIFO) {
	for name, pop := range poppers {
		q := open(t, new, fifo.Config{Atomic: true})
		for _, obj := range objects("object", 2*maxBatch+taken[name]) {
			do(t, q.Add(obj))
		}
		var added <-chan struct{}
		do(t, pop(q, func() error {
			var held bool
			if added, held = t.heldUp(func() { _ = q.Add(object("b", 1)) }); !held {
				t.Errorf("Add returned while %s's handler was running and 2,000 deltas were waiting", name)
			}
			return nil
		}))
		<-added
	}
}
