package calibration

import (
	"fmt"

	"github.com/informerbench/informerbench/impl"
	"k8s.io/client-go/util/workqueue"
)

// AddPlanted adds the queues of the planted trials to the catalogue; only their
// child processes call it.
func AddPlanted() error {
	for _, every := range []int{0, 10, 20} {
		err := impl.Add("queue", impl.Variant[impl.NewQueue[string]]{
			Name: plantedName(every), Summary: "client-go's, each so manieth item done twice",
			New: func(c workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
				return &planted{TypedInterface: workqueue.NewTypedWithConfig(c), every: every}
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func plantedName(every int) string { return fmt.Sprintf("twice-each-%d", every) }

// A planted queue passes every item on, and after so many does one again: just
// that much more of the same work. The baseline is a planted queue that never
// does, so that both pay for the counting and the difference is no larger than
// it is said to be. It is for one goroutine.
type planted struct {
	workqueue.TypedInterface[string]
	every, done int
}

func (q *planted) Done(item string) {
	q.TypedInterface.Done(item)
	if q.done++; q.done != q.every {
		return
	}
	q.done = 0
	q.Add(item)
	again, _ := q.Get()
	q.TypedInterface.Done(again)
}
