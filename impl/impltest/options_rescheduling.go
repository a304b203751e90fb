package impltest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
)

// A Rescheduler is a delaying queue with an option that upstream's does not have:
// its waiting items can be given another time, or none.
type Rescheduler interface {
	workqueue.TypedDelayingInterface[string]
	// Cancel drops a waiting AddAfter, and reports whether there was one.
	Cancel(item string) bool
	// Replace makes item ready once d has passed, sooner or later than before.
	Replace(item string, d time.Duration)
	// Postpone makes a waiting item ready no sooner than once d has passed, and
	// reports whether it waits.
	Postpone(item string, d time.Duration) bool
}

type newRescheduler = func(workqueue.TypedDelayingQueueConfig[string]) Rescheduler

// TestRescheduler tests the option of a delaying queue to cancel, replace and
// postpone. Relaxes names the clauses that it gives up; TestDelayingQueue tests
// everything else.
func TestRescheduler(t *testing.T, new func(workqueue.TypedDelayingQueueConfig[string]) Rescheduler, relaxes ...string) {
	t.Helper()
	runClauses(t, reschedulingClauses, new, relaxes)
}

var reschedulingClauses = []clause[newRescheduler]{
	{name: "cancel-drops", contract: "rescheduling 1", run: reschedulingCancel,
		reason: "a cancelled item is not handed out: the object that was to be looked at again is gone"},
	{name: "cancel-keeps-queued", contract: "rescheduling 1", run: reschedulingCancelQueued,
		reason: "Cancel touches neither what is queued nor what is in processing: no change of an object is lost"},
	{name: "replace-sooner-or-later", contract: "rescheduling 2", run: reschedulingReplace,
		reason: "the last Replace decides when an item is ready, also where AddAfter keeps the earlier time"},
	{name: "replace-now", contract: "rescheduling 2", run: reschedulingReplaceNow,
		reason: "Replace with a delay of zero or less is Cancel and Add: one delivery"},
	{name: "postpone-waiting-only", contract: "rescheduling 3", run: reschedulingPostpone,
		reason: "Postpone never makes an item ready earlier, and never makes one wait that does not"},
	{name: "rescheduling-after-shutdown", contract: "rescheduling 4", run: reschedulingAfterShutdown,
		reason: "nothing waits after shutdown began"},
	{name: "rescheduling-random", contract: "rescheduling", run: reschedulingRandom,
		reason: "any sequence of calls makes an item ready once, when the last of them said"},
}

func startRescheduler(t *trial, new newRescheduler) Rescheduler {
	q := new(workqueue.TypedDelayingQueueConfig[string]{})
	t.Cleanup(q.ShutDown)
	synctest.Wait()
	return q
}

func reschedulingCancel(t *trial, new newRescheduler) {
	q := startRescheduler(t, new)
	assert.False(t, q.Cancel("a"), "Cancel of an item that never waited")
	q.AddAfter("a", time.Hour)
	q.AddAfter("b", time.Hour)
	assert.True(t, q.Cancel("a"), "Cancel of a waiting item")
	assert.False(t, q.Cancel("a"), "Cancel of a cancelled item")
	after(time.Hour + heartbeat)
	assert.Equal(t, []string{"b"}, takeAll(t, q, 1))
	assert.Equal(t, 0, q.Len())
	q.AddAfter("a", time.Minute)
	after(time.Minute + heartbeat)
	assert.Equal(t, 1, q.Len(), "an item that was cancelled waits again")
}

func reschedulingCancelQueued(t *trial, new newRescheduler) {
	q := startRescheduler(t, new)
	q.Add("a")
	assert.False(t, q.Cancel("a"))
	assert.Equal(t, "a", take(t, q))
	q.AddAfter("a", time.Minute)
	assert.True(t, q.Cancel("a"), "Cancel of an item in processing that waits too")
	q.Add("a")
	q.Done("a")
	assert.Equal(t, 1, q.Len(), "it was added while it was processed")
}

func reschedulingReplace(t *trial, new newRescheduler) {
	q := startRescheduler(t, new)
	q.AddAfter("a", 20*time.Minute)
	q.Replace("a", time.Hour)
	q.Replace("b", time.Hour)
	q.Replace("b", 20*time.Minute)
	after(20*time.Minute + heartbeat)
	assert.Equal(t, []string{"b"}, takeAll(t, q, 1))
	after(40 * time.Minute)
	assert.Equal(t, []string{"a"}, takeAll(t, q, 1))
	after(time.Hour)
	assert.Equal(t, 0, q.Len(), "each is handed out once")
}

func reschedulingReplaceNow(t *trial, new newRescheduler) {
	q := startRescheduler(t, new)
	q.AddAfter("a", time.Hour)
	q.Replace("a", 0)
	q.Replace("b", -time.Second)
	assert.ElementsMatch(t, []string{"a", "b"}, takeAll(t, q, 2))
	q.Done("a")
	after(time.Hour + heartbeat)
	assert.Equal(t, 0, q.Len(), "the time that was replaced is over")
}

func reschedulingPostpone(t *trial, new newRescheduler) {
	q := startRescheduler(t, new)
	assert.False(t, q.Postpone("absent", time.Minute))
	q.AddAfter("a", time.Hour)
	assert.True(t, q.Postpone("a", time.Minute), "it waits, for longer than that")
	q.AddAfter("b", time.Minute)
	assert.True(t, q.Postpone("b", time.Hour))
	after(time.Hour - time.Second)
	assert.Equal(t, 0, q.Len(), "Len a second before both are ready")
	after(time.Second + heartbeat)
	assert.ElementsMatch(t, []string{"a", "b"}, takeAll(t, q, 2))
	after(2 * time.Hour)
	assert.Equal(t, 0, q.Len())
}

func reschedulingAfterShutdown(t *trial, new newRescheduler) {
	q := startRescheduler(t, new)
	q.AddAfter("a", time.Minute)
	q.ShutDown()
	assert.False(t, q.Cancel("a"))
	assert.False(t, q.Postpone("a", time.Hour))
	q.Replace("a", time.Minute)
	q.Replace("b", 0)
	after(time.Hour)
	assert.Equal(t, 0, q.Len())
}

func reschedulingRandom(t *trial, new newRescheduler) {
	q, rng := startRescheduler(t, new), t.Rand()
	ready := map[string]time.Time{} // the model
	for range 300 {
		item := keys("key", 20)[rng.IntN(20)]
		d := time.Duration(1+rng.IntN(1000)) * time.Second
		at, waits := ready[item]
		switch rng.IntN(5) {
		case 0:
			q.AddAfter(item, d)
			if !waits || time.Now().Add(d).Before(at) {
				ready[item] = time.Now().Add(d)
			}
		case 1:
			q.Replace(item, d)
			ready[item] = time.Now().Add(d)
		case 2:
			assert.Equal(t, waits, q.Postpone(item, d))
			if waits && time.Now().Add(d).After(at) {
				ready[item] = time.Now().Add(d)
			}
		case 3:
			assert.Equal(t, waits, q.Cancel(item))
			delete(ready, item)
		case 4:
			after(time.Duration(rng.IntN(100)) * time.Second)
			after(heartbeat)
			want := []string{}
			for item, at := range ready {
				if !at.After(time.Now()) {
					want = append(want, item)
					delete(ready, item)
				}
			}
			got := takeAll(t, q, len(want))
			assert.ElementsMatch(t, want, got)
			assert.Equal(t, 0, q.Len())
			for _, item := range got {
				q.Done(item)
			}
		}
	}
}
