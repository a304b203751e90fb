package impltest

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

type newOldest = func(every int) priorityqueue.PriorityQueue[string]

// TestOldest tests an option of a priority queue that controller-runtime's does not have:
// every so many-th Get takes the item that has been ready for longest, whatever its
// priority. Relaxes names the clauses that it gives up; TestPriorityQueue tests the queue
// without the option.
func TestOldest(t *testing.T, new func(every int) priorityqueue.PriorityQueue[string], relaxes ...string) {
	t.Helper()
	runClauses(t, oldestClauses, new, relaxes)
}

var oldestClauses = []clause[newOldest]{
	{name: "oldest-in-turn", contract: "oldest 1", run: oldestInTurn,
		reason: "a steady stream of important items does not starve the others: each has its turn (kubernetes-sigs/controller-runtime#3496)"},
	{name: "priority-in-between", contract: "oldest 2", run: oldestPriorityInBetween,
		reason: "important items are handed out first in all other turns"},
	{name: "oldest-after-waiting", contract: "oldest 1", run: oldestAfterWaiting,
		reason: "age is the time for which an item is ready: one that waited for its time is not older than what was ready meanwhile"},
}

func startOldest(t *trial, new newOldest, every int) priorityqueue.PriorityQueue[string] {
	q := new(every)
	t.Cleanup(q.ShutDown)
	synctest.Wait()
	return q
}

func oldestInTurn(t *trial, new newOldest) {
	const every = 4
	q := startOldest(t, new, every)
	q.AddWithOpts(at(-100), "low-1")
	q.AddWithOpts(at(-200), "low-2")
	var turns []int
	for n := range 3 * every {
		for i := range 2 { // more than one worker takes
			q.AddWithOpts(at(1), fmt.Sprint("high-", n, "-", i))
		}
		item := take(t, q)
		q.Done(item)
		if item == "low-1" || item == "low-2" {
			turns = append(turns, n+1)
		}
	}
	assert.Equal(t, []int{every, 2 * every}, turns, "the Gets that answered the two items of low priority")
}

func oldestPriorityInBetween(t *trial, new newOldest) {
	q := startOldest(t, new, 3)
	for n := range 6 {
		q.AddWithOpts(at(n), fmt.Sprint(n))
	}
	assert.Equal(t, []string{"5@5", "4@4", "0@0", "3@3", "2@2", "1@1"}, takePrioritized(t, q, 6))
}

func oldestAfterWaiting(t *trial, new newOldest) {
	q := startOldest(t, new, 1)
	waits := at(9)
	waits.After = heartbeat
	q.AddWithOpts(waits, "waited")
	q.AddWithOpts(at(1), "ready")
	after(2 * heartbeat)
	q.AddWithOpts(at(5), "late")
	assert.Equal(t, []string{"ready@1", "waited@9", "late@5"}, takePrioritized(t, q, 3))
}
