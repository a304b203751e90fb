package informer

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/informerbench/informerbench/impl/indexer"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// TestGiveWay expects each kind of list to let another goroutine run on the only
// processor, while one is stalled.
func TestGiveWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
	store := indexer.NewSnapshot(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	assert.NoError(t, store.Add(pod))
	var stalled atomic.Int32
	x := forReaders(store, &stalled)
	for name, list := range map[string]func() int{
		"List":      func() int { return len(x.List()) },
		"ListKeys":  func() int { return len(x.ListKeys()) },
		"Index":     func() int { objs, _ := x.Index(cache.NamespaceIndex, pod); return len(objs) },
		"ByIndex":   func() int { objs, _ := x.ByIndex(cache.NamespaceIndex, "ns"); return len(objs) },
		"IndexKeys": func() int { keys, _ := x.IndexKeys(cache.NamespaceIndex, "ns"); return len(keys) },
	} {
		var other atomic.Bool
		stalled.Store(1)
		go func() { other.Store(true); stalled.Store(0) }()
		// Now and then the scheduler takes the goroutine that gave way.
		for range 3 {
			assert.Equal(t, 1, list(), name)
		}
		assert.True(t, other.Load(), "%s did not give way", name)
	}
}

// TestForReaders expects readers to find the methods that the store has besides.
func TestForReaders(t *testing.T) {
	var stalled atomic.Int32
	_, ok := forReaders(indexer.NewSnapshot(cache.MetaNamespaceKeyFunc, nil), &stalled).(iterable)
	assert.True(t, ok)
	_, ok = forReaders(cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil), &stalled).(iterable)
	assert.False(t, ok)
}

// TestStalled looks at the counter when a handler's goroutine has been woken,
// before it runs on, and during the call.
func TestStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stalled atomic.Int32
		var woken, called []int32
		target := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { called = append(called, stalled.Load()) }}
		h := newHandler(klog.Background(), target, "test", &stalled)
		h.wake.L = observed{&h.mu, func() { woken = append(woken, stalled.Load()) }}
		var f fanout
		f.add(h, nil)
		f.start()
		for range 2 {
			synctest.Wait()
			b := newBatch()
			b.add(notification{kind: added})
			f.publish(b)
		}
		synctest.Wait()
		f.stop()
		assert.Equal(t, []int32{1, 1, 0}, woken, "stalled goroutines at two wake-ups and at the end")
		assert.Equal(t, []int32{0, 0}, called, "stalled goroutines during the calls")
		assert.Zero(t, stalled.Load())
	})
}

// An observed lock tells when it is about to be taken.
type observed struct {
	sync.Locker
	locking func()
}

func (o observed) Lock() { o.locking(); o.Locker.Lock() }
