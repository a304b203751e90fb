package fifo_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/informerbench/informerbench/impl/fifo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

func object(name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

func deltaQueues(c fifo.Config) map[string]cache.Queue {
	return map[string]cache.Queue{
		"SliceDeltaFIFO": fifo.NewSliceDeltaFIFO(c), "RingDeltaFIFO": fifo.NewRingDeltaFIFO(c),
		"SliceInOrder": fifo.NewSliceInOrder(c), "RingInOrder": fifo.NewRingInOrder(c),
	}
}

var errStore = errors.New("store failed")

// failingStore knows keys but not their objects.
type failingStore struct{}

func (failingStore) ListKeys() []string { return []string{"ns/missing", "ns/failing"} }
func (failingStore) GetByKey(key string) (any, bool, error) {
	if key == "ns/failing" {
		return object("stale"), true, errStore
	}
	return nil, false, nil
}

// A store that can't answer costs the final state, not the deletion, and is reported if
// it failed: an object that went after its key was listed is no error.
func TestStoreWithoutAnswer(t *testing.T) {
	handlers := utilruntime.ErrorHandlers
	defer func() { utilruntime.ErrorHandlers = handlers }()
	var reported []error
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, err error, _ string, _ ...any) {
		reported = append(reported, err)
	}}
	for name, q := range deltaQueues(fifo.Config{KnownObjects: failingStore{}}) {
		require.NoError(t, q.Resync(), name)
		require.NoError(t, q.Replace(nil, "1"), name)
		for _, key := range []string{"ns/missing", "ns/failing"} {
			got, err := q.Pop(func(any, bool) error { return nil })
			require.NoError(t, err, name)
			assert.Equal(t, cache.Deltas{{Type: cache.Deleted, Object: cache.DeletedFinalStateUnknown{Key: key}}}, got, name)
		}
		assert.Equal(t, []error{errStore, errStore}, reported, "%s: one at Resync, one at Replace", name)
		reported = nil
	}
}

// An object that lost its key in the transformer ends its batch, as upstream's.
func TestBatchEndsAtBrokenKey(t *testing.T) {
	c := fifo.Config{Transformer: func(obj any) (any, error) {
		if obj.(*metav1.PartialObjectMetadata).Name == "b" {
			return "no object", nil
		}
		return obj, nil
	}}
	for name, q := range map[string]cache.QueueWithBatch{"SliceInOrder": fifo.NewSliceInOrder(c), "RingInOrder": fifo.NewRingInOrder(c)} {
		for _, n := range []string{"a", "b", "c", "d"} {
			require.NoError(t, q.Add(object(n)))
		}
		var sizes []int
		batch := func(deltas []cache.Delta, _ bool) error { sizes = append(sizes, len(deltas)); return nil }
		for range 2 {
			require.NoError(t, q.PopBatch(batch, nil), name)
		}
		assert.Equal(t, []int{2, 2}, sizes, name)
	}
}

// The rings allocate the Deltas they hand out, with the interface around them,
// nothing else.
func TestSteadyStateAllocations(t *testing.T) {
	objs := make([]any, 200)
	for i := range objs {
		objs[i] = object(fmt.Sprint("object-", i))
	}
	single := func(any, bool) error { return nil }
	for name, test := range map[string]struct {
		q    cache.Queue
		want float64
	}{
		"RingFIFO":      {fifo.NewRingFIFO(fifo.Config{}), 0},
		"RingDeltaFIFO": {fifo.NewRingDeltaFIFO(fifo.Config{}), 2},
		"RingInOrder":   {fifo.NewRingInOrder(fifo.Config{Atomic: true}), 2},
	} {
		cycle := func() {
			for _, obj := range objs {
				_ = test.q.Update(obj)
			}
			for range objs {
				_, _ = test.q.Pop(single)
			}
		}
		cycle()
		// The log line of a Pop that a busy machine made slow allocates too.
		allocs := min(testing.AllocsPerRun(10, cycle), testing.AllocsPerRun(10, cycle), testing.AllocsPerRun(10, cycle))
		assert.Equal(t, test.want*float64(len(objs)), allocs, name)
	}
}

// TestController runs upstream's controller over each queue: the store ends up
// with what the server has.
func TestController(t *testing.T) {
	for _, atomic := range []bool{false, true} {
		for i, name := range []string{"SliceDeltaFIFO", "RingDeltaFIFO", "SliceInOrder", "RingInOrder"} {
			if atomic && i < 2 {
				continue
			}
			t.Run(fmt.Sprintf("%s/atomic=%t", name, atomic), func(t *testing.T) {
				store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
				q := deltaQueues(fifo.Config{KnownObjects: store, EmitReplaced: true, Atomic: atomic})[name]
				watcher := watch.NewFakeWithChanSize(10, false)
				watcher.Modify(versioned("b", "4"))
				watcher.Delete(versioned("a", "5"))
				watcher.Add(versioned("last", "6"))
				runController(t, q, store, watcher)
				assert.ElementsMatch(t, []string{"ns/b", "ns/last"}, store.ListKeys())
				assert.True(t, cache.IsDone(q.HasSyncedChecker()))
			})
		}
	}
}

func versioned(name, resourceVersion string) *metav1.PartialObjectMetadata {
	o := object(name)
	o.ResourceVersion = resourceVersion
	return o
}

// runController lists a and b, watches, and stops when "last" is in the store.
func runController(t *testing.T, q cache.Queue, store cache.Store, watcher watch.Interface) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	apply := func(d cache.Delta) error {
		switch info := d.Object.(type) {
		case cache.ReplacedAllInfo:
			return store.Replace(info.Objects, info.ResourceVersion)
		case cache.BookmarkInfo:
			return nil
		}
		if d.Type == cache.Deleted {
			return store.Delete(d.Object)
		}
		if o := d.Object.(*metav1.PartialObjectMetadata); o.Name == "last" {
			defer stop()
		}
		return store.Update(d.Object)
	}
	batch := func(deltas []cache.Delta, _ bool) error {
		var errs []error
		for _, d := range deltas {
			errs = append(errs, apply(d))
		}
		return errors.Join(errs...)
	}
	cache.New(&cache.Config{
		Queue: q,
		ListerWatcher: &cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				return &metav1.PartialObjectMetadataList{
					ListMeta: metav1.ListMeta{ResourceVersion: "3"},
					Items:    []metav1.PartialObjectMetadata{*versioned("a", "1"), *versioned("b", "2")},
				}, nil
			},
			WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
				if options.SendInitialEvents != nil {
					return nil, errors.New("no streaming list")
				}
				return watcher, nil
			},
		},
		ObjectType:   &metav1.PartialObjectMetadata{},
		Process:      func(obj any, initial bool) error { return batch(obj.(cache.Deltas), initial) },
		ProcessBatch: batch,
	}).RunWithContext(ctx)
}

// Lists that replace one another, as those of a small store, reuse the memory; one
// that fails changes nothing, nor does it spoil what is reused.
func TestRingFIFOReplace(t *testing.T) {
	f := fifo.NewRingFIFO(fifo.Config{})
	drain := func() (names []string) {
		require.NoError(t, f.Add(object("last")))
		for len(names) == 0 || names[len(names)-1] != "last" {
			obj, err := f.Pop(func(any, bool) error { return nil })
			require.NoError(t, err)
			names = append(names, obj.(*metav1.PartialObjectMetadata).Name)
		}
		return names
	}
	lists := [][]any{{object("a"), object("b")}, {object("b"), object("c")}, {object("c")}}
	for range 100 { // past several segments
		for _, list := range lists { // the later ones while the earlier are queued
			require.NoError(t, f.Replace(list, ""))
		}
		require.Error(t, f.Replace([]any{object("d"), "no object"}, ""))
		require.Equal(t, []string{"c", "last"}, drain())
		require.Error(t, f.Replace([]any{object("d"), "no object"}, "")) // of an empty one
		require.Equal(t, []string{"last"}, drain())
	}
	last := any(object("last"))
	round := func() {
		_ = f.Replace(lists[0], "")
		_ = f.Add(last)
		for range 3 {
			_, _ = f.Pop(func(any, bool) error { return nil })
		}
	}
	require.Zero(t, testing.AllocsPerRun(1000, round))
}
