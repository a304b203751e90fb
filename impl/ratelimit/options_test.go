package ratelimit

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

// limiters are one whose failures the queue keeps, and one from elsewhere.
var limiters = map[string]func() workqueue.TypedRateLimiter[string]{
	"own": func() workqueue.TypedRateLimiter[string] {
		return NewController[string](time.Minute, 24*time.Hour, 10, 100)
	},
	"foreign": func() workqueue.TypedRateLimiter[string] {
		return NewItemExponentialFailure[string](time.Minute, 24*time.Hour)
	},
}

func withOptions(t *testing.T, o QueueOptions, test func(t *testing.T, q rateQueue)) {
	for name, limiter := range limiters {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := NewFusedQueueWithOptions(limiter(), queueConfig{}, o)
				defer q.ShutDown()
				test(t, q)
			})
		})
	}
}

// An item that waits already counts no second failure; once it was got it does.
func TestOnceWhileWaiting(t *testing.T) {
	withOptions(t, QueueOptions{OnceWhileWaiting: true}, func(t *testing.T, q rateQueue) {
		for range 5 {
			q.AddRateLimited("key")
			require.Equal(t, 1, q.NumRequeues("key"))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 1, q.Len())
		item, _ := q.Get()
		q.AddRateLimited(item)
		q.AddRateLimited(item)
		require.Equal(t, 2, q.NumRequeues("key"))
		q.Done(item)
		time.Sleep(2*time.Minute - 1)
		synctest.Wait()
		require.Zero(t, q.Len())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, 1, q.Len())
	})
}

func TestMaxWait(t *testing.T) {
	withOptions(t, QueueOptions{MaxWait: 90 * time.Second}, func(t *testing.T, q rateQueue) {
		for range 8 {
			q.AddRateLimited("key")
		}
		require.Equal(t, 8, q.NumRequeues("key"))
		q.Forget("other")
		time.Sleep(90 * time.Second)
		synctest.Wait()
		require.Equal(t, 1, q.Len())
		item, _ := q.Get()
		q.AddRateLimited(item)
		q.Done(item)
		time.Sleep(90*time.Second - 1)
		synctest.Wait()
		require.Zero(t, q.Len())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, 1, q.Len())
	})
}
