package priority

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

func TestSteppedQueuePromotesWhenItsOwnerSays(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	q := NewStepped(Config[string]{Clock: clock})
	add := func(item string, priority int, after time.Duration) {
		q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority, After: after}, item)
	}
	get := func() string {
		item, _, ok := q.TryGet()
		assert.Equal(t, ok, item != "")
		return item
	}
	assert.Empty(t, get(), "of an empty queue")
	add("low", -100, 0)
	add("high", 0, 0)
	add("later", 0, time.Second)
	assert.Equal(t, "high", get())
	assert.Equal(t, "low", get())
	add("low", -100, 0)
	assert.Empty(t, get(), "while the only ready item is in processing")
	q.Done("low")
	assert.Equal(t, "low", get())

	at, waits := q.Next()
	assert.True(t, waits)
	assert.Equal(t, time.Second, at)
	q.Promote()
	assert.Empty(t, get(), "early")
	clock.Step(at)
	q.Promote()
	assert.Equal(t, "later", get())
	_, waits = q.Next()
	assert.False(t, waits)
	assert.False(t, clock.HasWaiters(), "the clock is never asked for a timer")
}
