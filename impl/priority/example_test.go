package priority_test

import (
	"fmt"

	"github.com/informerbench/informerbench/impl/priority"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// After a restart the initial list has a low priority and changes come all the time: with
// OldestEvery each third Get takes what has been ready for longest.
func ExampleNewWithConfig() {
	q := priority.NewWithConfig(priority.Config[string]{OldestEvery: 3})
	defer q.ShutDown()
	low := -100
	q.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, "listed-1", "listed-2")
	for n := range 6 {
		q.Add(fmt.Sprint("changed-", n))
		item, priority, _ := q.GetWithPriority()
		fmt.Println(item, priority)
		q.Done(item)
	}
	// Output:
	// changed-0 0
	// changed-1 0
	// listed-1 -100
	// changed-2 0
	// changed-3 0
	// listed-2 -100
}
