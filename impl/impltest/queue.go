package impltest

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

type newQueue = func(workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string]

// TestQueue tests a work queue. Relaxes names the clauses that it gives up.
func TestQueue(t *testing.T, new func(workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string], relaxes ...string) {
	t.Helper()
	runClauses(t, queueClauses(), new, relaxes)
}

func queueClauses() []clause[newQueue] {
	return slices.Concat(orderClauses, shutdownClauses, metricsClauses, configClauses, retentionClauses,
		concurrencyClauses, differentialClauses)
}

// start makes a queue that is shut down when the clause ends.
func start(t *trial, new newQueue, config workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
	q := new(config)
	t.Cleanup(q.ShutDown)
	return q
}

// plain makes a queue with the zero config.
func plain(t *trial, new newQueue) workqueue.TypedInterface[string] {
	return start(t, new, workqueue.TypedQueueConfig[string]{})
}

// A getter is what queues of this family have in common for a worker.
type getter interface{ Get() (string, bool) }

// A pending is a call of Get in a goroutine of its own, which may return at any
// time.
type pending struct{ answer atomic.Pointer[answer] }

// An answer is what Get returned.
type answer struct {
	item     string
	shutdown bool
}

func (p *pending) returned() bool { return p.answer.Load() != nil }

func (p *pending) String() string {
	switch a := p.answer.Load(); {
	case a == nil:
		return "blocked"
	case a.shutdown:
		return "shutdown"
	default:
		return fmt.Sprintf("%q", a.item)
	}
}

// get calls Get and lets everything settle.
func get(t *trial, q getter) *pending {
	p := &pending{}
	t.Go(func() {
		item, shutdown := q.Get()
		p.answer.Store(&answer{item, shutdown})
	})
	synctest.Wait()
	return p
}

// take gets the item that must be there.
func take(t *trial, q getter) string {
	p := get(t, q)
	a := p.answer.Load()
	if a == nil || a.shutdown {
		t.Fatalf("Get: %v, expected an item", p)
	}
	return a.item
}

// takeAll gets n items, with Done after each.
func takeAll(t *trial, q workqueue.TypedInterface[string], n int) []string {
	items := make([]string, n)
	for i := range items {
		items[i] = take(t, q)
		q.Done(items[i])
	}
	return items
}

// expectEmpty checks that there is nothing to get; q is shut down by it.
func expectEmpty(t *trial, q workqueue.TypedInterface[string], when string) {
	t.needs("get-blocks")
	p := get(t, q)
	assert.Equal(t, "blocked", p.String(), "Get %s", when)
	t.Go(q.ShutDown)
	synctest.Wait()
}

// keys returns n different keys with a common prefix.
func keys(prefix string, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s-%03d", prefix, i)
	}
	return keys
}

// orderClauses are the clauses about which item is handed out when.
var orderClauses = []clause[newQueue]{
	{name: "added-once", contract: "queue 1", run: queueAddedOnce,
		reason: "an item that is added again before it is handed out is handed out once: many events, one reconcile"},
	{name: "requeue-after-done", contract: "queue 1", run: queueRequeueAfterDone,
		reason: "an item that is added while it is processed is handed out again after Done, so the last change is never lost"},
	{name: "requeue-wakes", contract: "queue 1", run: queueRequeueWakes,
		reason: "Done of an item that was added while it was processed wakes a blocked Get, or the change waits for the next event"},
	{name: "single-holder", contract: "queue 1", run: queueSingleHolder,
		reason: "an item is never held by two workers, or two reconciles of one object race"},
	{name: "global-fifo", contract: "queue 2", run: queueGlobalFIFO, weaker: queueGlobalFIFORelaxed,
		reason: "Get takes the oldest ready item, so that no object starves"},
	{name: "requeue-place", contract: "queue 2", run: queueRequeuePlace,
		reason: "an item that was added while it was processed takes its place at Done, behind what was queued meanwhile"},
	{name: "get-blocks", contract: "queue 2", run: queueGetBlocks,
		reason: "Get blocks while the queue is empty; workers would spin or end otherwise"},
	{name: "wake-ups", contract: "queue 2", run: queueWakeUps,
		reason: "n Adds wake n blocked workers, each with an item of its own; a lost wake-up leaves an object unreconciled"},
	{name: "len-counts-queued", contract: "queue 5", run: queueLenCountsQueued,
		reason: "Len counts what waits to be handed out: not what is processed, even when it was added again"},
	{name: "done-unknown", contract: "queue 1", run: queueDoneUnknown,
		reason: "Done of an item that the queue does not know changes nothing"},
	{name: "spurious-done", contract: "queue 6", run: queueSpuriousDone,
		reason: "Done of an item that is queued and not processed changes nothing: a second entry would mean two holders of it"},
	{name: "any-key", contract: "queue 1", run: queueAnyKey,
		reason: "every key is equal before the queue: empty, very long, with any bytes"},
}

func queueAddedOnce(t *trial, new newQueue) {
	q := plain(t, new)
	q.Add("a")
	q.Add("a")
	q.Add("a")
	assert.Equal(t, "a", take(t, q))
	q.Done("a")
	expectEmpty(t, q, "after three Adds, Get and Done of one item")
}

func queueRequeueAfterDone(t *trial, new newQueue) {
	q := plain(t, new)
	q.Add("a")
	take(t, q)
	q.Add("a")
	q.Add("a")
	q.Done("a")
	assert.Equal(t, "a", take(t, q))
	q.Done("a")
	expectEmpty(t, q, "after the second Done")
}

func queueRequeueWakes(t *trial, new newQueue) {
	t.needs("get-blocks", "requeue-after-done")
	q := plain(t, new)
	q.Add("a")
	q.Add("b")
	take(t, q)
	take(t, q)
	first, second := get(t, q), get(t, q)
	require.Equal(t, "blocked", first.String(), "Get while both items are processed")
	q.Add("a")
	q.Done("a") // b is still processed
	synctest.Wait()
	assert.True(t, first.returned() || second.returned(), "one of two blocked Gets has returned after Add and Done of a")
	q.Add("b")
	q.Done("b")
	synctest.Wait()
	assert.ElementsMatch(t, []string{`"a"`, `"b"`}, []string{first.String(), second.String()}, "both Gets after Add and Done of b too")
}

func queueSingleHolder(t *trial, new newQueue) {
	t.needs("get-blocks")
	q := plain(t, new)
	q.Add("a")
	take(t, q)
	q.Add("a")
	p := get(t, q)
	require.Equal(t, "blocked", p.String(), "Get while the item is processed and was added again")
	q.Add("b")
	synctest.Wait()
	assert.Equal(t, `"b"`, p.String(), "Get after another item was added")
}

func queueGlobalFIFO(t *trial, new newQueue) {
	t.needs("storage-fifo", "added-once", "requeue-after-done")
	q := plain(t, new)
	want := keys("key", 200)
	for _, key := range want {
		q.Add(key)
	}
	q.Add(want[0]) // keeps its place
	got := []string{take(t, q)}
	if !t.relaxed("requeue-place") {
		q.Add(got[0])
		want = append(want, got[0])
	}
	q.Done(got[0]) // goes to the end
	got = append(got, takeAll(t, q, len(want)-1)...)
	assert.Equal(t, want, got, "order of Get")
}

func queueGlobalFIFORelaxed(t *trial, new newQueue) {
	q := plain(t, new)
	want := keys("key", 200)
	for _, key := range want {
		q.Add(key)
	}
	assert.ElementsMatch(t, want, takeAll(t, q, len(want)), "in any order, but every item once")
	expectEmpty(t, q, "after every item was taken")
}

func queueRequeuePlace(t *trial, new newQueue) {
	t.needs("global-fifo", "storage-fifo", "requeue-after-done", "single-holder")
	q := plain(t, new)
	q.Add("a")
	take(t, q)
	q.Add("a")
	q.Add("b")
	synctest.Wait()
	q.Done("a")
	assert.Equal(t, []string{"b", "a"}, takeAll(t, q, 2))
}

func queueGetBlocks(t *trial, new newQueue) {
	q := plain(t, new)
	p := get(t, q)
	require.Equal(t, "blocked", p.String(), "Get on the empty queue")
	q.Add("a")
	synctest.Wait()
	assert.Equal(t, `"a"`, p.String(), "the blocked Get after Add")
}

func queueWakeUps(t *trial, new newQueue) {
	t.needs("get-blocks")
	q := plain(t, new)
	var workers []*pending
	for range 8 {
		workers = append(workers, get(t, q))
	}
	want := keys("key", 5)
	for _, key := range want {
		q.Add(key)
	}
	synctest.Wait()
	var got []string
	for _, p := range workers {
		if a := p.answer.Load(); a != nil {
			got = append(got, a.item)
		}
	}
	assert.ElementsMatch(t, want, got, "items that 8 blocked Gets have after 5 Adds")
}

func queueLenCountsQueued(t *trial, new newQueue) {
	t.needs("storage-len", "added-once", "requeue-after-done", "single-holder")
	q := plain(t, new)
	assert.Equal(t, 0, q.Len(), "empty")
	q.Add("a")
	q.Add("b")
	q.Add("a")
	assert.Equal(t, 2, q.Len(), "after Add of a, b, a")
	item := take(t, q)
	assert.Equal(t, 1, q.Len(), "after Get")
	q.Add(item)
	assert.Equal(t, 1, q.Len(), "after Add of the item that is processed")
	q.Done(item)
	assert.Equal(t, 2, q.Len(), "after its Done")
	takeAll(t, q, 2)
	assert.Equal(t, 0, q.Len(), "after all were taken")
}

func queueDoneUnknown(t *trial, new newQueue) {
	q := plain(t, new)
	q.Done("a")
	q.Add("b")
	assert.Equal(t, []string{"b"}, takeAll(t, q, 1))
	q.Done("b")
	expectEmpty(t, q, "after Done of unknown items")
}

func queueSpuriousDone(t *trial, new newQueue) {
	t.needs("done-unknown")
	q := plain(t, new)
	q.Add("a")
	q.Add("b")
	q.Done("a")
	synctest.Wait()
	assert.Equal(t, 2, q.Len(), "Len after Add of a and b and Done of a")
	assert.ElementsMatch(t, []string{"a", "b"}, []string{take(t, q), take(t, q)})
	expectEmpty(t, q, "after both items were taken")
}

func queueAnyKey(t *trial, new newQueue) {
	t.needs("added-once")
	q := plain(t, new)
	want := []string{"", "\x00", strings.Repeat("long", 1<<18), "ns/name", "\xff\xfe"}
	for range 2 {
		for _, key := range want {
			q.Add(key)
			q.Add(key)
		}
		got := takeAll(t, q, len(want))
		for _, key := range want {
			assert.Equal(t, 1, count(got, key), "how often the key %.20q of %d bytes was handed out", key, len(key))
		}
	}
	expectEmpty(t, q, "after every key was taken")
}
