package delay_test

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/impl/delay"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
)

// A periodic check of an object is put off while the object changes, and dropped
// with the object.
func ExampleRescheduler() {
	clock := clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0))
	queue := delay.NewHeap4(workqueue.TypedDelayingQueueConfig[string]{Clock: clock}).(delay.Rescheduler[string])
	defer queue.ShutDown()

	queue.AddAfter("default/web", time.Minute)
	queue.AddAfter("default/db", time.Minute)
	fmt.Println("db waits:", queue.Cancel("default/db"))
	fmt.Println("db waits:", queue.Cancel("default/db"))

	clock.Step(30 * time.Second)
	fmt.Println("web waits:", queue.Postpone("default/web", time.Minute))
	queue.Replace("default/api", time.Hour)
	queue.Replace("default/api", time.Minute)

	clock.Step(time.Minute)
	first, _ := queue.Get()
	second, _ := queue.Get()
	fmt.Println(first, second)
	// Output:
	// db waits: true
	// db waits: false
	// web waits: true
	// default/web default/api
}
