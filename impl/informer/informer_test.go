package informer_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/impl/fifo"
	"github.com/informerbench/informerbench/impl/impltest"
	"github.com/informerbench/informerbench/impl/indexer"
	"github.com/informerbench/informerbench/impl/informer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// TestParts runs the suite over parts that the catalogue does not combine.
func TestParts(t *testing.T) {
	for name, parts := range map[string]struct {
		informer.Options
		relaxes []string
	}{
		"delta-fifo-sharded": {informer.Options{
			NewFIFO:    func(c fifo.Config) cache.Queue { return fifo.NewRingDeltaFIFO(c) },
			NewIndexer: func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return indexer.NewSharded(k, i) },
		}, []string{"in-order", "as-received", "bookmark", "differential", "metrics-queued-items"}}, // keys in the order of their first change, and no gauge
		"not-atomic-client-go": {informer.Options{
			NewFIFO:    func(c fifo.Config) cache.Queue { c.Atomic = false; return fifo.NewRingInOrder(c) },
			NewIndexer: func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return cache.NewIndexer(k, i) },
		}, []string{"bookmark"}}, // its queue has none
		"no-transactions": {informer.Options{
			NewIndexer: func(k cache.KeyFunc, i cache.Indexers) cache.Indexer {
				return struct{ cache.Indexer }{cache.NewIndexer(k, i)}
			},
		}, nil},
	} {
		t.Run(name, func(t *testing.T) { impltest.TestInformer(t, parts.New, parts.relaxes...) })
	}
}

// Where a log says which queue is slow, it names the informer.
func TestQueueNames(t *testing.T) {
	named, err := cache.NewInformerName("named")
	require.NoError(t, err)
	defer named.Release()
	for want, options := range map[string]cache.SharedIndexInformerOptions{
		"*v1.Pod":                      {},
		"widgets of the shop":          {ObjectDescription: "widgets of the shop"},
		"named shop/v1, Resource=pods": {Identifier: named.WithResource(schema.GroupVersionResource{Group: "shop", Version: "v1", Resource: "pods"})},
	} {
		var name string
		parts := informer.Options{NewFIFO: func(c fifo.Config) cache.Queue {
			name = fifo.NewRingInOrder(c).Name()
			return fifo.NewRingInOrder(c)
		}}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		parts.New(listOf(), &corev1.Pod{}, options).RunWithContext(ctx)
		require.Equal(t, "in-order FIFO "+want, name)
	}
}

func listOf(pods ...corev1.Pod) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: pods}, nil
		},
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, errors.New("no streaming")
			}
			return watch.NewFake(), nil
		},
	}
}

// The names of upstream's checkers tell handlers apart.
func TestHandlerNames(t *testing.T) {
	ours, upstream := informer.NewWithResync(listOf(), &corev1.Pod{}, 0, nil), cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, nil)
	for _, handler := range []cache.ResourceEventHandler{
		cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}},
		&cache.ResourceEventHandlerFuncs{},
		cache.FilteringResourceEventHandler{},
	} {
		got, err := ours.AddEventHandler(handler)
		require.NoError(t, err)
		want, err := upstream.AddEventHandler(handler)
		require.NoError(t, err)
		assert.Equal(t, want.HasSyncedChecker().Name(), got.HasSyncedChecker().Name())
	}
}

func TestFactory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f informer.Factory
		pods := f.For(&corev1.Pod{}, listOf(*pod("a")), cache.SharedIndexInformerOptions{})
		assert.Same(t, pods, f.For(&corev1.Pod{}, nil, cache.SharedIndexInformerOptions{}), "the second informer of a type")
		ctx, cancel := context.WithCancel(context.Background())
		f.Start(ctx)
		f.Start(ctx)
		synctest.Wait()
		nodes := f.For(&corev1.Node{}, listOf(), cache.SharedIndexInformerOptions{})
		result := f.WaitForCacheSync(ctx)
		assert.NoError(t, result.AsError())
		assert.Equal(t, map[reflect.Type]bool{reflect.TypeFor[*corev1.Pod](): true}, result.Synced, "nodes have not started")
		cancel()
		f.Shutdown()
		assert.True(t, pods.IsStopped())
		f.Start(context.Background())
		synctest.Wait()
		assert.False(t, nodes.IsStopped())
		assert.False(t, nodes.HasSynced(), "after Shutdown, Start starts nothing")
	})
}

func TestFactoryUnsynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f informer.Factory
		stuck := make(chan struct{})
		lw := listOf()
		lw.ListWithContextFunc = func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			<-stuck
			return nil, errors.New("no list")
		}
		f.For(&corev1.Pod{}, lw, cache.SharedIndexInformerOptions{})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		f.Start(ctx)
		assert.ErrorContains(t, f.WaitForCacheSync(ctx).AsError(), "*v1.Pod")
		close(stuck)
		f.Shutdown()
	})
}

// TestMutationDetector mutates an object of the store in a process with the
// detector on, which must end it.
func TestMutationDetector(t *testing.T) {
	const detector = "KUBE_CACHE_MUTATION_DETECTOR"
	if os.Getenv(detector) != "true" {
		child := exec.Command(os.Args[0], "-test.run=^TestMutationDetector$")
		child.Env = append(os.Environ(), detector+"=true")
		out, err := child.CombinedOutput()
		assert.Error(t, err)
		assert.Contains(t, string(out), "cache *v1.Pod modified")
		return
	}
	synctest.Test(t, func(t *testing.T) {
		i := informer.New(listOf(*pod("a")), &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		go i.RunWithContext(t.Context())
		synctest.Wait()
		i.GetStore().List()[0].(*corev1.Pod).Labels = map[string]string{"changed": "yes"}
		time.Sleep(10 * time.Second) // fake time
		assert.Fail(t, "the mutation was not noticed")
	})
}
