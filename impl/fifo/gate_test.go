package fifo

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/cache"
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

// An observed lock tells when it is about to be taken.
type observed struct {
	sync.Locker
	locking func()
}

func (o observed) Lock() { o.locking(); o.Locker.Lock() }
