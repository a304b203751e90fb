package fifo

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// A handler that holds up others is logged with the name of its queue: a program has
// dozens.
func TestSlowHandler(t *testing.T) {
	defer klog.ClearLogger()
	for _, q := range []cache.Queue{
		NewSliceDeltaFIFO(Config{Name: "of pods"}), NewRingDeltaFIFO(Config{Name: "of pods"}),
		NewSliceInOrder(Config{Name: "of pods"}), NewRingInOrder(Config{Name: "of pods"}),
	} {
		synctest.Test(t, func(t *testing.T) {
			logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
			klog.SetLoggerWithOptions(logger, klog.ContextualLogger(true))
			for i := range slowDepth + 2 {
				assert.NoError(t, q.Add(&metav1.ObjectMeta{Name: fmt.Sprint(i)}))
			}
			_, err := q.Pop(func(any, bool) error { time.Sleep(2 * slowHandler); return nil })
			assert.NoError(t, err)
			logged := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
			assert.Regexp(t, `Slow event handlers block the queue.*FIFO of pods"`, logged, "%T", q)
		})
	}
}
