package informer

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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
	for i := range large {
		assert.NoError(t, store.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: strconv.Itoa(i)}}))
	}
	var turns turns
	x := forReaders(store, &turns)
	for name, list := range map[string]func() int{
		"List":      func() int { return len(x.List()) },
		"ListKeys":  func() int { return len(x.ListKeys()) },
		"Index":     func() int { objs, _ := x.Index(cache.NamespaceIndex, pod); return len(objs) },
		"ByIndex":   func() int { objs, _ := x.ByIndex(cache.NamespaceIndex, "ns"); return len(objs) },
		"IndexKeys": func() int { keys, _ := x.IndexKeys(cache.NamespaceIndex, "ns"); return len(keys) },
	} {
		var other atomic.Bool
		turns.stalled.Store(1)
		go func() { other.Store(true); turns.stalled.Store(0) }()
		// Now and then the scheduler takes the goroutine that gave way.
		for range 3 {
			turns.until.Store(0)
			assert.Equal(t, large, list(), name)
		}
		assert.True(t, other.Load(), "%s did not give way", name)
	}
}

// TestTurns walks through the moments at which readers give way.
func TestTurns(t *testing.T) {
	const us = time.Microsecond
	var x turns
	assert.True(t, x.due(slice), "after a slice")
	x.gave.Store(int64(1000 * us))
	x.back(1010 * us) // away for 10 µs
	assert.False(t, x.due(1100*us), "before the end of a slice")
	assert.True(t, x.due(1000*us+slice), "after a slice")
	x.stalled.Store(1)
	assert.False(t, x.due(1019*us), "sooner than the time away has passed again")
	assert.True(t, x.due(1020*us), "when it has")
	x.gave.Store(int64(2000 * us))
	x.back(12_000 * us)
	assert.False(t, x.due(21_999*us), "sooner than the time away has passed again")
	assert.True(t, x.due(22_000*us), "when it has")
	x.back(time.Hour)
	assert.True(t, x.due(time.Hour+longest), "after the process stood still")
}

// TestSmallLists expects lists of few elements to give way now and then, in
// proportion to what they cost, and only while a goroutine is stalled.
func TestSmallLists(t *testing.T) {
	gave := func(x *turns, lists, n int) (times int) {
		for range lists {
			x.gave.Store(0)
			x.until.Store(0)
			if x.listed(n); x.gave.Load() != 0 {
				times++
			}
		}
		return times
	}
	var x turns
	assert.Zero(t, gave(&x, 1000, large-1), "nobody waits")
	x.stalled.Store(1)
	assert.Equal(t, 1000, gave(&x, 1000, large-1))
	assert.InDelta(t, 100_000*11/large, gave(&x, 100_000, 10), 330, "ten standard deviations")
}

// TestForReaders expects readers to find the methods that the store has besides.
func TestForReaders(t *testing.T) {
	var turns turns
	snapshot := indexer.NewSnapshot(cache.MetaNamespaceKeyFunc, nil)
	for _, x := range []struct {
		store               cache.Indexer
		iterable, transacts bool
	}{
		{snapshot, true, true},
		{cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil), false, true},
		{struct{ cache.Indexer }{snapshot}, false, false},
	} {
		r := forReaders(x.store, &turns)
		_, ok := r.(iterable)
		assert.Equal(t, x.iterable, ok)
		txn := cache.Transaction{Object: cache.ExplicitKey("a"), Type: cache.TransactionTypeAdd}
		assert.Equal(t, x.transacts, r.(cache.TransactionStore).Transaction(txn) == nil)
		assert.Len(t, r.List(), 1)
	}
}

// TestStalled looks at the counter when a handler's goroutine has been woken,
// before it runs on, and during the call.
func TestStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stalled atomic.Int32
		var woken, called []int32
		target := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { called = append(called, stalled.Load()) }}
		h := newHandler(klog.Background(), target, nil, &stalled)
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
