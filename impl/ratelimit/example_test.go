package ratelimit_test

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/impl/ratelimit"
	"k8s.io/client-go/util/workqueue"
)

// Events that come while an object waits for its retry count as failures upstream,
// and double the delay each. With options they don't, and no retry is far off.
func ExampleNewFusedQueueWithOptions() {
	queue := ratelimit.NewFusedQueueWithOptions(
		ratelimit.NewController[string](time.Minute, 24*time.Hour, 10, 100),
		workqueue.TypedRateLimitingQueueConfig[string]{},
		ratelimit.QueueOptions{OnceWhileWaiting: true, MaxWait: time.Hour},
	)
	defer queue.ShutDown()
	for range 10 {
		queue.AddRateLimited("default/web")
	}
	fmt.Println("failures:", queue.NumRequeues("default/web"))
	// Output: failures: 1
}
