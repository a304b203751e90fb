package bench

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Waited is for tests whose functions are no case's: how long part waits for locks.
func Waited(part func()) time.Duration {
	w := watchWaiting()
	part()
	return w.stop()
}

func TestForLock(t *testing.T) {
	const add, get, bench = "k8s.io/client-go/util/workqueue.(*Typed[...]).Add", "k8s.io/client-go/util/workqueue.(*Typed[...]).Get", here + "cycleOver[...]"
	for _, x := range []struct {
		want  bool
		stack []string
	}{
		{true, []string{"sync.(*Mutex).Lock", add, bench}},
		{true, []string{"internal/sync.(*Mutex).Lock", "sync.(*Mutex).Lock", get, bench}},
		{true, []string{"sync.(*RWMutex).RLock", "k8s.io/client-go/tools/cache.(*threadSafeMap).List", "k8s.io/client-go/tools/cache.(*cache).List", here + "readList"}},
		{true, []string{"runtime.selectgo", "example.com/mine.(*Spin).Lock", get, bench}}, // a lock of one's own
		{true, []string{"runtime.chanrecv1", "example.com/mine.(*Queue).Add", bench}},     // even without a name
		{true, []string{"sync.(*Mutex).Lock", "k8s.io/client-go/tools/cache.(*processorListener).run"}},
		{false, []string{"sync.(*Cond).Wait", get, bench}}, // waits for items
		{false, []string{"runtime.chanrecv1", bench}},      // for a place in the window
		{false, []string{"sync.(*WaitGroup).Wait", bench}},
		{false, []string{"runtime.chanrecv1", here + "event.func1", "k8s.io/client-go/tools/cache.ResourceEventHandlerFuncs.OnUpdate"}}, // in a handler
		{false, []string{"runtime.selectgo", "k8s.io/client-go/tools/cache.(*processorListener).pop"}},                                  // in the background
		{false, []string{"runtime.chanrecv1", "testing.(*B).run1"}},
	} {
		require.Equal(t, x.want, forLock(x.stack), "%v", x.stack)
	}
}
