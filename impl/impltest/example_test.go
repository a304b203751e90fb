package impltest_test

import (
	"testing"

	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/impl/impltest"
)

// lifo hands out the last item first: it keeps the contract but for the order.
type lifo struct{ items []string }

func (l *lifo) Touch(string)     {}
func (l *lifo) Push(item string) { l.items = append(l.items, item) }
func (l *lifo) Len() int         { return len(l.items) }

func (l *lifo) Pop() string {
	last := len(l.items) - 1
	item := l.items[last]
	l.items[last] = ""
	l.items = l.items[:last]
	return item
}

// newLIFOQueue is the constructor of the queue under test.
func newLIFOQueue(config workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
	if config.Queue == nil {
		config.Queue = &lifo{}
	}
	return workqueue.NewTypedWithConfig(config)
}

// testLIFOQueue would be called TestLIFOQueue in your package.
func testLIFOQueue(t *testing.T) {
	impltest.TestQueue(t, newLIFOQueue,
		"global-fifo", "requeue-place", // given up on purpose
		"fault:spurious-done", "fault:concurrent-drains", // of client-go's queue, which this one is built on
	)
}

// A queue of your own is tested by one call, which names the clauses that the
// queue gives up and the faults that it documents.
func ExampleTestQueue() {
	_ = testing.InternalTest{Name: "TestLIFOQueue", F: testLIFOQueue}
}

func TestExample(t *testing.T) { t.Run("TestLIFOQueue", testLIFOQueue) }
