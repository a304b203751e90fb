package fifo

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// TestStalled looks at the counter when a consumer has been woken, before it runs
// on, and while it handles the item.
func TestStalled(t *testing.T) {
	for _, open := range []func(Config) (cache.Queue, *gate){
		func(c Config) (cache.Queue, *gate) { f := NewSliceFIFO(c); return f, &f.gate },
		func(c Config) (cache.Queue, *gate) { f := NewRingFIFO(c); return f, &f.gate },
		func(c Config) (cache.Queue, *gate) { f := NewSliceDeltaFIFO(c); return f, &f.gate },
		func(c Config) (cache.Queue, *gate) { f := NewRingDeltaFIFO(c); return f, &f.gate },
		func(c Config) (cache.Queue, *gate) { f := NewSliceInOrder(c); return f, &f.gate },
		func(c Config) (cache.Queue, *gate) { f := NewRingInOrder(c); return f, &f.gate },
	} {
		synctest.Test(t, func(t *testing.T) {
			var stalled atomic.Int32
			var woken, handled []int32
			q, g := open(Config{Stalled: &stalled, KeyFunc: func(any) (string, error) { return "key", nil }})
			g.changed.L = observed{&g.mu, func() { woken = append(woken, stalled.Load()) }}
			handle := func(any, bool) error { handled = append(handled, stalled.Load()); return nil }
			go func() {
				for {
					if _, err := q.Pop(handle); err != nil {
						return
					}
				}
			}()
			for range 2 {
				synctest.Wait()
				assert.NoError(t, q.Add(1))
			}
			synctest.Wait()
			q.Close()
			synctest.Wait()
			assert.NoError(t, q.Add(1), "when no consumer is left")
			assert.Equal(t, []int32{1, 1, 0}, woken, "%T: stalled consumers at two wake-ups and at Close", q)
			assert.Equal(t, []int32{0, 0}, handled, "%T: stalled consumers during the handler", q)
			assert.Zero(t, stalled.Load(), "%T", q)
		})
	}
}

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

// An observed lock tells when it is about to be taken.
type observed struct {
	sync.Locker
	locking func()
}

func (o observed) Lock() { o.locking(); o.Locker.Lock() }
