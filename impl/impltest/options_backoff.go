package impltest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
)

type newBackOff = func(limiter workqueue.TypedRateLimiter[string], maxWait time.Duration) workqueue.TypedRateLimitingInterface[string]

// TestBackOff tests two options of a rate limiting queue that upstream's does not
// have, with both of them on: AddRateLimited of an item that waits already does
// nothing, and makes none wait for longer than maxWait. Relaxes names the clauses that
// it gives up; TestRateLimitingQueue tests a queue with both of them off.
func TestBackOff(t *testing.T, new func(limiter workqueue.TypedRateLimiter[string], maxWait time.Duration) workqueue.TypedRateLimitingInterface[string], relaxes ...string) {
	t.Helper()
	runClauses(t, backOffOptionClauses, new, relaxes)
}

var backOffOptionClauses = []clause[newBackOff]{
	{name: "no-second-token", contract: "back-off 1", run: backOffNoSecondToken,
		reason: "events that come while a retry is pending are no failures: each would double the delay and take a token from other objects"},
	{name: "failures-still-count", contract: "back-off 1", run: backOffFailuresStillCount,
		reason: "a retry that fails counts as before, so that the delay grows"},
	{name: "wait-is-bounded", contract: "back-off 2", run: backOffWaitIsBounded,
		reason: "an object that was repaired is looked at again within the bound, whatever its limiter says"},
}

func startBackOff(t *trial, new newBackOff, limiter workqueue.TypedRateLimiter[string], maxWait time.Duration) workqueue.TypedRateLimitingInterface[string] {
	q := new(limiter, maxWait)
	t.Cleanup(q.ShutDown)
	synctest.Wait()
	return q
}

func backOffNoSecondToken(t *trial, new newBackOff) {
	limiter := &scripted{delay: time.Minute}
	q := startBackOff(t, new, limiter, time.Hour)
	for range 5 {
		q.AddRateLimited("a")
	}
	q.AddRateLimited("b")
	assert.Equal(t, []string{"a", "b"}, limiter.asked, "what the limiter was asked for")
	after(time.Minute + heartbeat)
	assert.ElementsMatch(t, []string{"a", "b"}, takeAll(t, q, 2))
}

func backOffFailuresStillCount(t *trial, new newBackOff) {
	limiter := &scripted{delay: time.Minute}
	q := startBackOff(t, new, limiter, time.Hour)
	q.Add("a")
	for range 3 {
		item := take(t, q)
		q.AddRateLimited(item)
		q.AddRateLimited(item)
		q.Done(item)
		assert.Equal(t, 0, q.Len())
		after(time.Minute + heartbeat)
	}
	assert.Equal(t, []string{"a", "a", "a"}, limiter.asked, "one question for each time that it was processed")
}

func backOffWaitIsBounded(t *trial, new newBackOff) {
	q := startBackOff(t, new, &scripted{delay: 24 * time.Hour}, time.Hour)
	q.AddRateLimited("a")
	q.AddAfter("b", 2*time.Hour) // no back-off
	after(time.Hour - time.Second)
	assert.Equal(t, 0, q.Len(), "Len a second before the bound")
	after(time.Second + heartbeat)
	assert.Equal(t, []string{"a"}, takeAll(t, q, 1))
	after(time.Hour)
	assert.Equal(t, []string{"b"}, takeAll(t, q, 1))
}
