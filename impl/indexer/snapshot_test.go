package indexer

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/impl/impltest"
)

func TestLocked(t *testing.T)   { impltest.TestIndexer(t, asIndexer(NewLocked)) }
func TestSharded(t *testing.T)  { impltest.TestIndexer(t, asIndexer(NewSharded)) }
func TestSnapshot(t *testing.T) { impltest.TestIndexer(t, asIndexer(NewSnapshot)) }

func asIndexer[X cache.Indexer](new func(cache.KeyFunc, cache.Indexers) X) func(cache.KeyFunc, cache.Indexers) cache.Indexer {
	return func(keyFunc cache.KeyFunc, indexers cache.Indexers) cache.Indexer { return new(keyFunc, indexers) }
}

func pod(i, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: fmt.Sprint("ns", i%4), Name: fmt.Sprint("pod", i), ResourceVersion: fmt.Sprint(version),
	}}
}

func podsIndexer(t *testing.T, n int) *Snapshot {
	x := NewSnapshot(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for i := range n {
		require.NoError(t, x.Add(pod(i, 1)))
	}
	return x
}

func versions(objs []any) map[string]int {
	seen := map[string]int{}
	for _, obj := range objs {
		seen[obj.(*corev1.Pod).ResourceVersion]++
	}
	return seen
}

// TestIterationSeesOneMoment writes from inside an iteration: it neither blocks
// nor shows in it.
func TestIterationSeesOneMoment(t *testing.T) {
	const n = 1000
	x := podsIndexer(t, n)
	inNamespace, err := x.AllByIndex(cache.NamespaceIndex, "ns1")
	require.NoError(t, err)
	for name, all := range map[string]struct {
		seq  func(func(any) bool)
		want int
	}{"All": {x.All(), n}, "AllByIndex": {inNamespace, n / 4}} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, x.Replace(nil, "0"))
			for i := range n {
				require.NoError(t, x.Add(pod(i, 1)))
			}
			var seen []any
			for obj := range all.seq {
				i := len(seen)
				seen = append(seen, obj)
				require.NoError(t, x.Update(pod(n-1-i, 2)))
				require.NoError(t, x.Delete(pod(i*7%n, 3)))
				_, exists, err := x.GetByKey(fmt.Sprintf("ns%d/pod%d", i*7%n%4, i*7%n))
				require.NoError(t, err)
				require.False(t, exists, "what was just deleted")
				require.NoError(t, x.Add(pod(n+i, 2)))
			}
			assert.Equal(t, map[string]int{"1": all.want}, versions(seen))
		})
	}
	_, err = x.AllByIndex("unknown", "ns1")
	assert.Error(t, err)
}

// TestEndedIterationFreesWriter leaves iterations early and by a panic: the
// writer must stop copying for them.
func TestEndedIterationFreesWriter(t *testing.T) {
	x := podsIndexer(t, 100)
	inNamespace, err := x.AllByIndex(cache.NamespaceIndex, "ns1")
	require.NoError(t, err)
	for range x.All() {
		break
	}
	for range inNamespace {
		break
	}
	assert.Panics(t, func() {
		for range x.All() {
			panic("a caller's")
		}
	})
	_, _ = x.ByIndex(cache.NamespaceIndex, "ns1")
	_, _ = x.Index(cache.NamespaceIndex, pod(1, 1))
	_, _ = x.IndexKeys(cache.NamespaceIndex, "ns1")
	x.List()
	x.ListKeys()
	x.ListIndexFuncValues(cache.NamespaceIndex)
	assert.Zero(t, x.store.live.Load(), "live snapshots")
}

// TestWritesCopyOncePerSnapshot counts the leaves that writes copy.
func TestWritesCopyOncePerSnapshot(t *testing.T) {
	x := podsIndexer(t, 10*leafLen)
	leaves := func() map[*item]bool {
		all := map[*item]bool{}
		for _, node := range *x.store.contents.Load().items.spine.Load() {
			for _, l := range node {
				all[&l.elems[0]] = true
			}
		}
		return all
	}
	copied := func(before map[*item]bool) int {
		n := 0
		for l := range leaves() {
			if !before[l] {
				n++
			}
		}
		return n
	}
	update := func(times int) {
		for i := range times {
			require.NoError(t, x.Update(pod(i*leafLen, 2)))
			require.NoError(t, x.Update(pod(i*leafLen+1, 2)))
		}
	}
	x.List()
	before := leaves()
	update(10)
	assert.Zero(t, copied(before), "leaves copied without a reader")
	for range x.All() {
		update(3)
		assert.Equal(t, 3, copied(before), "leaves copied beside a reader")
		before = leaves()
		update(3)
		assert.Zero(t, copied(before), "leaves copied again for the same reader")
		break
	}
	update(10)
	assert.Zero(t, copied(before), "leaves copied after the reader has ended")
}

// TestIndexFuncsRunOnce counts calls: one a write, whatever was stored before.
func TestIndexFuncsRunOnce(t *testing.T) {
	calls := 0
	x := NewSnapshot(cache.MetaNamespaceKeyFunc, cache.Indexers{"n": func(obj any) ([]string, error) {
		calls++
		return []string{obj.(*corev1.Pod).Labels["a"]}, nil
	}})
	for i, label := range []string{"x", "x", "y", "y"} {
		p := pod(1, i)
		p.Labels = map[string]string{"a": label}
		require.NoError(t, x.Update(p))
		assert.Equal(t, i+1, calls)
	}
	require.NoError(t, x.Delete(pod(1, 9)))
	assert.Equal(t, 4, calls, "calls after Delete")
}

// TestReplaceNamesFirst replaces by a list with an object that an index function
// panics for and, further on, one without a key: upstream reports the key.
func TestReplaceNamesFirst(t *testing.T) {
	failing := cache.Indexers{"n": func(obj any) ([]string, error) {
		if obj.(*corev1.Pod).Name == "pod3" {
			return nil, errors.New("no value")
		}
		return nil, nil
	}}
	for name, x := range map[string]cache.Indexer{
		"client-go": cache.NewIndexer(cache.MetaNamespaceKeyFunc, failing),
		"snapshot":  NewSnapshot(cache.MetaNamespaceKeyFunc, failing),
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, x.Add(pod(1, 1)))
			list := make([]any, 100)
			for i := range list {
				list[i] = pod(i, 2)
			}
			assert.Panics(t, func() { _ = x.Replace(list, "2") })
			list[90] = "no key"
			var keyErr cache.KeyError
			require.ErrorAs(t, x.Replace(list, "2"), &keyErr)
			assert.Equal(t, "no key", keyErr.Obj)
		})
	}
}

func TestReplaceByManyLengths(t *testing.T) {
	x := podsIndexer(t, 10)
	var list []any
	var want []string
	for i := range 100 {
		p := pod(i, i)
		p.Name = strings.Repeat("x", 3*i) + fmt.Sprint(i)
		list, want = append(list, p), append(want, p.Namespace+"/"+p.Name)
	}
	require.NoError(t, x.Replace(append(list, list[7]), "1"))
	assert.ElementsMatch(t, want, x.ListKeys())
	for i, key := range want {
		obj, exists, _ := x.GetByKey(key)
		require.True(t, exists, key)
		require.Same(t, list[i], obj)
		require.NoError(t, x.Delete(obj))
		_, exists, _ = x.GetByKey(key)
		require.False(t, exists, key)
	}
	assert.Empty(t, x.List())
}

// TestMemoryShrinks deletes nearly all of many objects.
func TestMemoryShrinks(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const n = 50_000
	x := NewSnapshot(cache.MetaNamespaceKeyFunc, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		"name":               func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Name}, nil },
	})
	before := heap()
	for i := range n {
		require.NoError(t, x.Add(pod(i, 1)))
	}
	full := heap() - before
	for i := range n - 50 {
		require.NoError(t, x.Delete(pod(i, 2)))
	}
	left := heap() - before
	assert.Less(t, left, full/20, "bytes of %d left after all but 50 objects were deleted", full)
	assert.Len(t, x.List(), 50)
	runtime.KeepAlive(x)
}

// TestThreadSafeStores covers what the interface has beside an indexer's.
func TestThreadSafeStores(t *testing.T) {
	for name, s := range map[string]cache.ThreadSafeStoreWithTransaction{
		"locked":   NewLockedStore(nil),
		"sharded":  NewShardedStore(nil),
		"snapshot": NewSnapshotStore(nil),
	} {
		t.Run(name, func(t *testing.T) {
			s.Replace(map[string]any{"a": pod(1, 1), "b": nil}, "5")
			s.Add("c", pod(3, 6))
			version := s.LastStoreSyncResourceVersion()
			s.Delete("a")
			s.Delete("never")
			assert.Equal(t, version, s.LastStoreSyncResourceVersion(), "Delete by key leaves the resource version")
			obj, exists := s.Get("b")
			assert.True(t, exists && obj == nil, "a nil object is stored")
			s.DeleteWithObject("c", pod(3, 7))
			keys := s.ListKeys()
			slices.Sort(keys)
			assert.Equal(t, []string{"b"}, keys)
			require.NoError(t, s.AddIndexers(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}))
			s.Update("b", pod(1, 8))
			keys, err := s.IndexKeys(cache.NamespaceIndex, "ns1")
			require.NoError(t, err)
			assert.Equal(t, []string{"b"}, keys)
			s.Update("b", nil)
			assert.Empty(t, s.ListIndexFuncValues(cache.NamespaceIndex))
			assert.NoError(t, s.Resync())
		})
	}
}
