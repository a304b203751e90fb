package informer_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/informerbench/informerbench/impl"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// BenchmarkGrowth shows how the cost of an event grows with the number of objects
// that the informer holds: bursts of a thousand updates, spread over all of them,
// go from the watch channel to one handler. The objects are metadata, in the
// namespace index.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		for _, v := range impl.Informers() {
			b.Run(fmt.Sprintf("n=%d/impl=%s", n, v.Name), func(b *testing.B) { events(b, v.New, n) })
		}
	}
}

func events(b *testing.B, newInformer impl.NewInformer, n int) {
	const burst = 1000
	old, next := metadata(n, "1"), metadata(n, "2")
	w := watch.NewFakeWithChanSize(burst, false)
	lw := &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: old}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return w, nil },
	}
	informer := newInformer(cache.ToListWatcherWithWatchListSemantics(lw, unsupported{}), &metav1.PartialObjectMetadata{},
		cache.SharedIndexInformerOptions{Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
	arrived := make(chan struct{}, burst)
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { arrived <- struct{}{} }})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	defer running.Wait()
	defer cancel()
	if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		b.Fatal("the informer did not sync")
	}
	const stride = 7919 // a prime: neighbours in time are none in memory
	at := 0
	for b.Loop() {
		for range burst {
			w.Modify(&next[at])
			if at = (at + stride) % n; at == 0 { // all have changed
				old, next = next, old
			}
		}
		for range burst {
			<-arrived
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/burst, "ns/event")
}

// unsupported is a client whose server has no streaming lists.
type unsupported struct{}

func (unsupported) IsWatchListSemanticsUnSupported() bool { return true }

func metadata(n int, version string) []metav1.PartialObjectMetadata {
	list := make([]metav1.PartialObjectMetadata, n)
	for i := range list {
		list[i] = metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-" + strconv.Itoa(i/1000), Name: "object-" + strconv.Itoa(i), ResourceVersion: version,
		}}
	}
	return list
}
