package indexer

import (
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// TestGiveWay expects each kind of list to let another goroutine run on the only
// processor when a slice is over, and not before.
func TestGiveWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
	x := NewSnapshot(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	assert.NoError(t, x.Add(pod))
	for i := range large - 1 {
		assert.NoError(t, x.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: strconv.Itoa(i)}}))
	}
	for name, list := range map[string]func() int{
		"List":      func() int { return len(x.List()) },
		"ListKeys":  func() int { return len(x.ListKeys()) },
		"Index":     func() int { objs, _ := x.Index(cache.NamespaceIndex, pod); return len(objs) },
		"ByIndex":   func() int { objs, _ := x.ByIndex(cache.NamespaceIndex, "ns"); return len(objs) },
		"IndexKeys": func() int { keys, _ := x.IndexKeys(cache.NamespaceIndex, "ns"); return len(keys) },
	} {
		assert.NoError(t, x.Update(pod)) // so that there is somebody to give way to
		turns := &x.store.turns
		turns.until.Store(0)
		turns.gave.Store(int64(time.Since(epoch) + time.Hour))
		assert.Equal(t, large, list(), name)
		assert.Zero(t, turns.until.Load(), "%s gave way within a slice", name)
		var other atomic.Bool
		go other.Store(true)
		// Now and then the scheduler takes the goroutine that gave way.
		for range 3 {
			turns.gave.Store(0)
			turns.until.Store(0)
			assert.Equal(t, large, list(), name)
		}
		assert.True(t, other.Load(), "%s did not give way", name)
	}
}

// TestNobodyToGiveWayTo expects listers to go on when nothing was written for long.
func TestNobodyToGiveWayTo(t *testing.T) {
	var x turns
	assert.True(t, x.needed(time.Second, 1), "a write")
	assert.True(t, x.needed(time.Second+idle-1, 1))
	assert.False(t, x.needed(time.Second+idle, 1), "and no other for long")
	assert.True(t, x.needed(time.Second+idle, 2), "another write")
}

// TestTurns walks through the moments at which listers give way.
func TestTurns(t *testing.T) {
	const us = time.Microsecond
	var x turns
	assert.True(t, x.due(slice), "after a slice")
	x.gave.Store(int64(1000 * us))
	assert.False(t, x.due(1000*us+slice-1), "before the end of a slice")
	assert.True(t, x.due(1000*us+slice))
	x.back(1010*us, 1)
	assert.True(t, x.due(1000*us+slice), "a write is nothing beside a slice")
	x.back(1010*us, 1000)
	assert.False(t, x.due(1010*us+1000*perWrite-1), "before as much was listed as written")
	assert.True(t, x.due(1010*us+1000*perWrite))
	x.back(1000*us+2*overlong, 0)
	assert.False(t, x.due(1000*us+4*overlong-1), "sooner than the time away has passed again")
	assert.True(t, x.due(1000*us+4*overlong))
	x.back(1010*us, 1<<60)
	assert.True(t, x.due(1010*us+longest), "however much was written")
	x.back(time.Hour, 0)
	assert.True(t, x.due(time.Hour+longest), "after the process stood still")
}

// TestSmallLists expects lists of few elements to give way now and then, in
// proportion to what they cost.
func TestSmallLists(t *testing.T) {
	s := NewSnapshotStore(nil)
	const lists, n = 100_000, 82
	gave := 0
	for range lists {
		s.turns.gave.Store(0)
		s.turns.until.Store(0)
		if s.listed(n); s.turns.gave.Load() != 0 {
			gave++
		}
	}
	assert.InDelta(t, lists*n/large, gave, 320, "ten standard deviations")
	s.turns.gave.Store(0)
	s.listed(0)
	assert.Zero(t, s.turns.gave.Load())
}
