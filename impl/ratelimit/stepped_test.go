package ratelimit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestSteppedQueuePromotesWhenItsOwnerSays(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	q := NewStepped(NewController[string](time.Second, time.Minute, 10, 100, WithClock(clock)),
		workqueue.TypedRateLimitingQueueConfig[string]{Clock: clock})
	get := func() string {
		item, ok := q.TryGet()
		assert.Equal(t, ok, item != "")
		return item
	}
	assert.Empty(t, get(), "of an empty queue")
	_, waits := q.Next()
	assert.False(t, waits)

	q.AddAfter("late", 3*time.Second)
	q.AddAfter("early", 2*time.Second)
	q.AddRateLimited("failed")
	q.Add("now")
	assert.Equal(t, "now", get())
	for _, want := range []struct {
		item string
		at   time.Duration
	}{{"failed", time.Second}, {"early", 2 * time.Second}, {"late", 3 * time.Second}} {
		at, waits := q.Next()
		assert.True(t, waits)
		assert.Equal(t, want.at, at)
		clock.SetTime(time.Unix(0, 0).Add(at - 1))
		q.Promote()
		assert.Zero(t, q.Len(), "a nanosecond early")
		clock.SetTime(time.Unix(0, 0).Add(at))
		q.Promote()
		assert.Equal(t, want.item, get())
	}
	_, waits = q.Next()
	assert.False(t, waits)

	q.Add("now")
	assert.Empty(t, get(), "while it is in processing")
	q.Done("now")
	assert.Equal(t, "now", get())
	assert.Equal(t, 1, q.NumRequeues("failed"))
	q.Forget("failed")
	assert.Zero(t, q.NumRequeues("failed"))
	assert.False(t, clock.HasWaiters(), "the clock is never asked for a timer")
}
