package upstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"

	"github.com/informerbench/informerbench/impl"
)

const benchmarkNamespace = "default"

func BenchmarkSharedIndexInformer(b *testing.B) {
	newInformer := variant(b, impl.Informers())
	for _, podCount := range []int{10_000, 20_000, 40_000, 80_000, 160_000} {
		b.Run(fmt.Sprintf("podCount=%d", podCount), func(b *testing.B) {
			pods := createPods(podCount)
			for _, readers := range []int{0, 1, 10, 20, 40, 80} {
				b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
					informUnderReaders(b, newInformer, pods, readers)
				})
			}
		})
	}
}

func createPods(count int) []corev1.Pod {
	pods := make([]corev1.Pod, count)
	for i := range pods {
		pods[i].Name, pods[i].Namespace = utilrand.String(20), benchmarkNamespace
	}
	return pods
}

// runInformer returns an informer that runs and has all pods, and its watch.
func runInformer(b *testing.B, newInformer impl.NewInformer, pods []corev1.Pod, indexers cache.Indexers) (cache.SharedIndexInformer, *watch.FakeWatcher) {
	watcher := watch.NewFakeWithChanSize(1, false)
	informer := newInformer(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &corev1.PodList{Items: pods}, nil
		},
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil && *o.SendInitialEvents { // the fake watch sends no list, and no end of one
				return nil, apierrors.NewBadRequest("sendInitialEvents is forbidden")
			}
			return watcher, nil
		},
	}, &corev1.Pod{}, cache.SharedIndexInformerOptions{ResyncPeriod: time.Minute, Indexers: indexers})
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { informer.Run(stop) })
	b.Cleanup(func() { close(stop); running.Wait() })
	if !cache.WaitForCacheSync(stop, informer.HasSynced) {
		b.Fatal("the informer did not sync")
	}
	return informer, watcher
}

// informUnderReaders sends a pod's update as soon as one of the ten before it
// has been handled, beside readers that list the namespace without pause.
func informUnderReaders(b *testing.B, newInformer impl.NewInformer, pods []corev1.Pod, readers int) {
	informer, watcher := runInformer(b, newInformer, pods, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	const queuedEvents = 10
	var writes, reads, failed atomic.Int64
	got := make(chan struct{}, queuedEvents)
	first := make(chan struct{})
	var once sync.Once
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) {
		once.Do(func() { close(first) })
		writes.Add(1)
		select {
		case <-got:
		default:
		}
	}})
	if err != nil {
		b.Fatal(err)
	}
	modify := func() {
		pod := pods[rand.Intn(len(pods))]
		watcher.Modify(&pod)
	}
	modify()
	<-first // the adds were handled before it

	stopReaders := make(chan struct{})
	var reading sync.WaitGroup
	for range readers {
		reading.Go(func() {
			for {
				select {
				case <-stopReaders:
					return
				default:
				}
				n := 0
				err := cache.ListAllByNamespace(informer.GetIndexer(), benchmarkNamespace, labels.Everything(), func(any) { n++ })
				if err != nil || n != len(pods) {
					failed.Add(1)
				}
				reads.Add(1)
			}
		})
	}
	writes.Store(0)
	reads.Store(0)
	for b.Loop() {
		modify()
		got <- struct{}{}
	}
	b.ReportMetric(float64(reads.Load())/b.Elapsed().Seconds(), "reads/s")
	b.ReportMetric(float64(writes.Load())/b.Elapsed().Seconds(), "writes/s")
	close(stopReaders)
	reading.Wait()
	if n := failed.Load(); n > 0 {
		b.Fatalf("%d of the lists did not hold %d pods", n, len(pods))
	}
}

func BenchmarkIndexer(b *testing.B) {
	itself := func(obj any) ([]string, error) { return []string{obj.(string)}, nil }
	store := variant(b, impl.Indexers())(func(obj any) (string, error) { return obj.(string), nil }, cache.Indexers{"testIndexer": itself})
	objects := make([]any, 5000)
	for i := range objects {
		objects[i] = fmt.Sprintf("object-number-%d", i)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if err := store.Update(objects[i%len(objects)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLister_Match_1k_100(b *testing.B)   { listMatching(b, 1000, 100) }
func BenchmarkLister_Match_10k_100(b *testing.B)  { listMatching(b, 10_000, 100) }
func BenchmarkLister_Match_100k_100(b *testing.B) { listMatching(b, 100_000, 100) }
func BenchmarkLister_Match_1M_100(b *testing.B)   { listMatching(b, 1_000_000, 100) }
func BenchmarkLister_Match_1M_0(b *testing.B)     { listMatching(b, 1_000_000, 0) }

// listMatching lists objects of which the first so many have the label; with
// none it selects nothing, as a selector that is nil does.
func listMatching(b *testing.B, objects, matching int) {
	store := variant(b, impl.Indexers())(cache.MetaNamespaceKeyFunc, nil)
	label := map[string]string{"match": "true"}
	for i := range objects {
		obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("obj-%d", i)}}
		if i < matching {
			obj.Labels = label
		}
		if err := store.Add(obj); err != nil {
			b.Fatal(err)
		}
	}
	selector := labels.SelectorFromSet(label)
	if matching == 0 {
		selector = labels.Nothing()
	}
	n := 0
	b.ResetTimer()
	for range b.N {
		n = 0
		if err := cache.ListAll(store, selector, func(any) { n++ }); err != nil {
			b.Fatal(err)
		}
	}
	if n != matching {
		b.Fatalf("%d objects listed, expected %d", n, matching)
	}
}

// BenchmarkAddWithSlowHandlers adds to a FIFO while a controller pops from it
// whose handler takes a millisecond. The FIFO is built as informers
// build it (unlockWhileProcessing=true) and as they used to.
func BenchmarkAddWithSlowHandlers(b *testing.B) {
	newFIFO := variant(b, impl.InOrderFIFOs())
	for _, unlock := range []bool{false, true} {
		b.Run(fmt.Sprintf("unlockWhileProcessing=%t", unlock), func(b *testing.B) {
			ctx, cancel := context.WithCancel(b.Context())
			source := fcache.NewFakeControllerSource()
			b.Cleanup(func() { cancel(); source.Shutdown() })
			source.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a-hello"}})
			c := impl.FIFOConfig{Atomic: unlock}
			store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
			if !unlock {
				c.KnownObjects = store
			}
			fifo := newFIFO(c)
			controller := cache.New(&cache.Config{
				Queue: fifo, ListerWatcher: source, ObjectType: &corev1.Pod{},
				Process:      func(obj any, _ bool) error { return process(store, obj) },
				ProcessBatch: func(deltas []cache.Delta, _ bool) error { return process(store, cache.Deltas(deltas)) },
			})
			go controller.RunWithContext(ctx)
			if !cache.WaitForCacheSync(ctx.Done(), controller.HasSynced) {
				b.Fatal("the controller did not sync")
			}
			go func() {
				ticker := time.NewTicker(time.Millisecond)
				defer ticker.Stop()
				for {
					select {
					case <-ctx.Done():
						return
					case <-ticker.C:
						source.Modify(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a-hello"}})
					}
				}
			}()
			b.ResetTimer()
			for range b.N {
				if err := fifo.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "b-hello"}}); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
		})
	}
}

// process stores what was popped, as upstream's processDeltas, which is not
// exported, and takes a millisecond for each update.
func process(store cache.Store, obj any) error {
	deltas, ok := obj.(cache.Deltas)
	if !ok {
		return errors.New("object given as Process argument is not Deltas")
	}
	for _, d := range deltas {
		if all, ok := d.Object.(cache.ReplacedAllInfo); ok {
			if err := store.Replace(all.Objects, all.ResourceVersion); err != nil {
				return err
			}
			continue
		}
		switch d.Type {
		case cache.Added, cache.Updated, cache.Replaced, cache.Sync:
			_, exists, err := store.Get(d.Object)
			if err == nil {
				err = store.Update(d.Object)
			}
			if err != nil {
				return err
			}
			if exists {
				time.Sleep(time.Millisecond)
			}
		}
	}
	return nil
}
