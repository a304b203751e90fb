package impltest

import (
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shutdownClauses are the clauses about ShutDown and ShutDownWithDrain.
var shutdownClauses = []clause[newQueue]{
	{name: "shutting-down", contract: "queue 4", run: queueShuttingDown,
		reason: "ShuttingDown is false before and true after either way of shutting down"},
	{name: "shutdown-wakes", contract: "queue 4", run: queueShutdownWakes,
		reason: "ShutDown ends every blocked Get, or workers outlive the controller"},
	{name: "drain-wakes", contract: "queue 4", run: queueDrainWakes,
		reason: "ShutDownWithDrain ends every blocked Get"},
	{name: "drain-after-shutdown", contract: "queue 2", run: queueDrainAfterShutdown, weaker: queueDrainAfterShutdownRelaxed,
		reason: "what is queued at ShutDown is handed out before Get answers shutdown"},
	{name: "requeue-after-shutdown", contract: "queue 2", run: queueRequeueAfterShutdown,
		reason: "an item that was added while it was processed, before ShutDown, is still handed out after its Done"},
	{name: "add-after-shutdown", contract: "queue 3", run: queueAddAfterShutdown,
		reason: "Add after ShutDown is ignored without error: informers still deliver events while the controller stops"},
	{name: "add-after-drain", contract: "queue 3", run: queueAddAfterDrain,
		reason: "Add after ShutDownWithDrain began is ignored, or a busy source would keep the controller from stopping"},
	{name: "shutdown-returns", contract: "queue 4", run: queueShutdownReturns,
		reason: "ShutDown returns at once, whatever is processed or queued"},
	{name: "shutdown-twice", contract: "queue 4", run: queueShutdownTwice,
		reason: "ShutDown and ShutDownWithDrain may be called again and from several goroutines: a deferred ShutDown is common"},
	{name: "drain-waits-processing", contract: "queue 4", run: queueDrainWaitsProcessing,
		reason: "ShutDownWithDrain waits for every item that is processed, so that no reconcile is cut off"},
	{name: "drain-ignores-queued", contract: "queue 4", run: queueDrainIgnoresQueued,
		reason: "ShutDownWithDrain does not wait for what is queued and not processed (kubernetes/kubernetes#141079 discusses it)"},
	{name: "drain-includes-requeued", contract: "queue 4", run: queueDrainIncludesRequeued,
		reason: "an item that goes back to the queue during a drain is handed out, and the drain waits for it once it is"},
	{name: "shutdown-ends-drain", contract: "queue 4", run: queueShutdownEndsDrain,
		reason: "ShutDown after ShutDownWithDrain ends the wait: a second signal stops the controller now"},
	{name: "concurrent-drains", contract: "queue 4", run: queueConcurrentDrains,
		reason: "every one of several ShutDownWithDrain calls returns when nothing is processed any more"},
	{name: "no-goroutine-leak", contract: "queue 11", run: queueNoGoroutineLeak,
		reason: "no goroutine outlives ShutDown: controllers are started and stopped many times in one process"},
	{name: "no-goroutine-after-drain", contract: "queue 11", run: queueNoGoroutineAfterDrain,
		reason: "no goroutine outlives ShutDownWithDrain either"},
}

func queueShuttingDown(t *trial, new newQueue) {
	q, drained := plain(t, new), plain(t, new)
	assert.False(t, q.ShuttingDown(), "before")
	q.ShutDown()
	assert.True(t, q.ShuttingDown(), "after ShutDown")
	drained.ShutDownWithDrain()
	assert.True(t, drained.ShuttingDown(), "after ShutDownWithDrain")
}

func queueShutdownWakes(t *trial, new newQueue) {
	t.needs("get-blocks")
	q := plain(t, new)
	var workers []*pending
	for range 5 {
		workers = append(workers, get(t, q))
	}
	q.ShutDown()
	synctest.Wait()
	for _, p := range workers {
		assert.Equal(t, "shutdown", p.String(), "a blocked Get after ShutDown")
		if p.returned() {
			assert.Zero(t, p.answer.Load().item, "item of a Get that answers shutdown")
		}
	}
}

func queueDrainWakes(t *trial, new newQueue) {
	t.needs("get-blocks")
	q := plain(t, new)
	q.Add("a")
	take(t, q)
	var workers []*pending
	for range 5 {
		workers = append(workers, get(t, q))
	}
	t.Go(q.ShutDownWithDrain)
	synctest.Wait()
	for _, p := range workers {
		assert.Equal(t, "shutdown", p.String(), "a blocked Get after ShutDownWithDrain")
	}
}

func queueDrainAfterShutdown(t *trial, new newQueue) {
	q := plain(t, new)
	q.Add("a")
	q.Add("b")
	q.ShutDown()
	assert.ElementsMatch(t, []string{"a", "b"}, takeAll(t, q, 2))
	assert.Equal(t, "shutdown", get(t, q).String(), "Get after the last item")
	assert.Equal(t, "shutdown", get(t, q).String(), "Get once more")
}

func queueDrainAfterShutdownRelaxed(t *trial, new newQueue) {
	q := plain(t, new)
	q.Add("a")
	q.ShutDown()
	assert.NotEqual(t, "blocked", get(t, q).String(), "what is queued may be dropped, but Get never blocks after ShutDown")
}

func queueRequeueAfterShutdown(t *trial, new newQueue) {
	t.needs("requeue-after-done", "drain-after-shutdown", "shutdown-returns")
	q := plain(t, new)
	q.Add("a")
	take(t, q)
	q.Add("a")
	q.ShutDown()
	q.Done("a")
	assert.Equal(t, "a", take(t, q))
	q.Done("a")
	assert.Equal(t, "shutdown", get(t, q).String(), "Get after the last item")
}

func queueAddAfterShutdown(t *trial, new newQueue) {
	t.needs("shutdown-returns")
	q := plain(t, new)
	q.Add("a")
	take(t, q)
	q.ShutDown()
	q.Add("a")
	q.Add("b")
	synctest.Wait()
	assert.Equal(t, 0, q.Len(), "Len after Add of an item in processing and of another one")
	q.Done("a")
	assert.Equal(t, "shutdown", get(t, q).String(), "Get")
}

func queueAddAfterDrain(t *trial, new newQueue) {
	q := plain(t, new)
	q.Add("a")
	take(t, q)
	drained := t.Go(q.ShutDownWithDrain)
	synctest.Wait()
	q.Add("a")
	q.Add("b")
	synctest.Wait()
	assert.Equal(t, 0, q.Len(), "Len after Add of an item in processing and of another one")
	q.Done("a")
	synctest.Wait()
	assert.True(t, closed(drained), "ShutDownWithDrain has returned after Done of the last item")
}

func queueShutdownReturns(t *trial, new newQueue) {
	q := plain(t, new)
	q.Add("a")
	q.Add("b")
	take(t, q)
	down := t.Go(q.ShutDown)
	synctest.Wait()
	assert.True(t, closed(down), "ShutDown has returned while an item is processed")
}

func queueShutdownTwice(t *trial, new newQueue) {
	q := plain(t, new)
	for range 4 {
		t.Go(q.ShutDown)
		t.Go(q.ShutDownWithDrain)
	}
	synctest.Wait()
	q.ShutDown()
	ended := t.Go(q.ShutDownWithDrain)
	synctest.Wait()
	assert.True(t, closed(ended), "another ShutDownWithDrain has returned")
}

func queueDrainWaitsProcessing(t *trial, new newQueue) {
	q := plain(t, new)
	q.Add("a")
	q.Add("b")
	take(t, q)
	take(t, q)
	drained := t.Go(q.ShutDownWithDrain)
	synctest.Wait()
	assert.False(t, closed(drained), "ShutDownWithDrain has returned while two items are processed")
	q.Done("a")
	synctest.Wait()
	assert.False(t, closed(drained), "ShutDownWithDrain has returned while one item is processed")
	q.Done("b")
	synctest.Wait()
	assert.True(t, closed(drained), "ShutDownWithDrain has returned when nothing is processed")
}

func queueDrainIgnoresQueued(t *trial, new newQueue) {
	q := plain(t, new)
	q.Add("a")
	drained := t.Go(q.ShutDownWithDrain)
	synctest.Wait()
	assert.True(t, closed(drained), "ShutDownWithDrain has returned while an item is queued and none is processed")
}

func queueDrainIncludesRequeued(t *trial, new newQueue) {
	t.needs("requeue-after-done", "drain-after-shutdown", "drain-waits-processing")
	q := plain(t, new)
	q.Add("a")
	q.Add("b")
	a, b := take(t, q), take(t, q)
	q.Add(a)
	drained := t.Go(q.ShutDownWithDrain)
	synctest.Wait()
	q.Done(a)
	require.Equal(t, a, take(t, q), "Get of the item that was added before the drain")
	q.Done(b)
	synctest.Wait()
	assert.False(t, closed(drained), "ShutDownWithDrain has returned while the item is processed again")
	q.Done(a)
	synctest.Wait()
	assert.True(t, closed(drained), "ShutDownWithDrain has returned when nothing is processed")
}

func queueShutdownEndsDrain(t *trial, new newQueue) {
	t.needs("drain-waits-processing", "shutdown-twice", "shutdown-returns")
	q := plain(t, new)
	q.Add("a")
	take(t, q)
	drained := t.Go(q.ShutDownWithDrain)
	synctest.Wait()
	require.False(t, closed(drained), "ShutDownWithDrain has returned while an item is processed")
	q.ShutDown()
	synctest.Wait()
	assert.True(t, closed(drained), "ShutDownWithDrain has returned after ShutDown")
}

func queueConcurrentDrains(t *trial, new newQueue) {
	t.needs("shutdown-twice", "drain-waits-processing")
	q := plain(t, new)
	q.Add("a")
	take(t, q)
	first, second := t.Go(q.ShutDownWithDrain), t.Go(q.ShutDownWithDrain)
	synctest.Wait()
	q.Done("a")
	synctest.Wait()
	assert.True(t, closed(first) && closed(second), "both calls of ShutDownWithDrain have returned")
}

func queueNoGoroutineLeak(t *trial, new newQueue) {
	q, _ := measured(t, new)
	q.Add("a")
	take(t, q)
	q.Done("a")
	synctest.Wait()
	q.ShutDown()
	synctest.Wait()
	assert.Empty(t, t.Goroutines(), "goroutines left after ShutDown")
}

func queueNoGoroutineAfterDrain(t *trial, new newQueue) {
	q, _ := measured(t, new)
	q.Add("a")
	take(t, q)
	q.Done("a")
	synctest.Wait()
	q.ShutDownWithDrain()
	synctest.Wait()
	assert.Empty(t, t.Goroutines(), "goroutines left after ShutDownWithDrain")
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
