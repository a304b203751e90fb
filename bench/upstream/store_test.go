package upstream

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/loadgen/durations"
)

const nodeIndex = "spec.nodeName"

// A podGrid is how many pods there are in how many namespaces, and on how many nodes.
type podGrid struct{ namespaces, podsPerNamespace, nodes int }

// BenchmarkStoreWriteThroughput is the API server's, with an informer in the place
// of its watch cache. There etcd paces the writers; here a writer goes on when the
// informer has handled its write. Handlers are the watchers. An informer has no
// lists of an exact or a least version and starts no watch for a reader, so those
// of upstream's backgrounds are left out. Pods are small: nothing decodes them.
func BenchmarkStoreWriteThroughput(b *testing.B) {
	storeWriteThroughput(b, variant(b, impl.Informers()), podGrid{namespaces: 50, podsPerNamespace: 3_000, nodes: 5_000})
}

func storeWriteThroughput(b *testing.B, newInformer impl.NewInformer, g podGrid) {
	b.Run(fmt.Sprintf("Namespaces=%d/Pods=%d/Nodes=%d", g.namespaces, g.namespaces*g.podsPerNamespace, g.nodes), func(b *testing.B) {
		s := newWrittenStore(b, newInformer, g)
		for _, traffic := range []string{"DeleteCreate", "Patch"} {
			b.Run(fmt.Sprintf("Traffic=%s", traffic), func(b *testing.B) {
				const parallelism = 25
				b.Run(fmt.Sprintf("Parallelism=%d", parallelism), func(b *testing.B) {
					for _, background := range []struct {
						name    string
						indexed bool
					}{{"None", false}, {"Watcher", false}, {"Watcher", true}, {"Lister", false}, {"Lister", true}} {
						b.Run(fmt.Sprintf("Background=%s/UseIndex=%v", background.name, background.indexed), func(b *testing.B) {
							b.SetParallelism(parallelism)
							s.throughput(b, traffic, background.name, background.indexed)
						})
					}
				})
			})
		}
	})
}

// A writtenStore is an informer's, with what is known of the writes under way.
type writtenStore struct {
	informer cache.SharedIndexInformer
	watcher  *watch.FakeWatcher
	pods     []corev1.Pod
	written  []time.Time     // by pod: when its last write was sent
	handled  []chan struct{} // by pod
	latency  durations.Histogram
}

func newWrittenStore(b *testing.B, newInformer impl.NewInformer, g podGrid) *writtenStore {
	s := &writtenStore{pods: make([]corev1.Pod, g.namespaces*g.podsPerNamespace)}
	s.written = make([]time.Time, len(s.pods))
	s.handled = make([]chan struct{}, len(s.pods))
	for i := range s.pods {
		s.pods[i].Namespace = fmt.Sprintf("namespace-%d", i/g.podsPerNamespace)
		s.pods[i].Name = strconv.Itoa(i)
		s.pods[i].Spec.NodeName = fmt.Sprintf("node-%d", i%g.nodes)
		s.handled[i] = make(chan struct{}, 1)
	}
	s.informer, s.watcher = runInformer(b, newInformer, s.pods, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		nodeIndex:            func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil },
	})
	s.handle(b, cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if !initial {
				s.done(obj)
			}
		},
		UpdateFunc: func(_, obj any) { s.done(obj) },
		DeleteFunc: s.done,
	})
	return s
}

// done lets the writer of a pod go on.
func (s *writtenStore) done(obj any) {
	i, err := strconv.Atoi(obj.(*corev1.Pod).Name)
	if err != nil {
		panic(err) // names are numbers
	}
	s.latency.Record(time.Since(s.written[i]))
	s.handled[i] <- struct{}{}
}

// handle adds a handler, until the benchmark ends, and waits until it has had all pods.
func (s *writtenStore) handle(b *testing.B, h cache.ResourceEventHandler) {
	registration, err := s.informer.AddEventHandler(h)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.informer.RemoveEventHandler(registration); err != nil {
			b.Error(err)
		}
	})
	if !cache.WaitForCacheSync(b.Context().Done(), registration.HasSynced) {
		b.Fatal("a handler did not sync")
	}
}

func (s *writtenStore) throughput(b *testing.B, traffic, background string, indexed bool) {
	var events, lists, listed, turn atomic.Int64
	stop := make(chan struct{})
	var listing sync.WaitGroup
	switch background {
	case "Watcher":
		for i := range 10 {
			s.handle(b, counting(&events, s.pods[i%len(s.pods)].Spec.NodeName, indexed))
		}
	case "Lister":
		listing.Go(func() {
			for ticker := time.NewTicker(10 * time.Millisecond); ; {
				select {
				case <-stop:
					ticker.Stop()
					return
				case <-ticker.C:
					listed.Add(int64(s.list(b, indexed)))
					lists.Add(1)
				}
			}
		})
	}
	s.latency.Reset()
	events.Store(0)
	lists.Store(0)
	listed.Store(0)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			s.write(traffic, int(turn.Add(1))%len(s.pods))
		}
	})
	seconds := b.Elapsed().Seconds()
	close(stop)
	listing.Wait()
	writes := turn.Load()
	if traffic == "DeleteCreate" {
		writes *= 2
	}
	b.ReportMetric(float64(writes)/seconds, "writes/s")
	switch background {
	case "Watcher":
		b.ReportMetric(float64(events.Load())/seconds, "watch-events/s")
	case "Lister":
		b.ReportMetric(float64(lists.Load())/seconds, "list-calls/s")
		b.ReportMetric(float64(listed.Load())/seconds, "list-objs/s")
	}
	b.ReportMetric(s.latency.Quantile(0.99).Seconds(), "watch-latency-p99-s")
	if found := len(s.informer.GetIndexer().List()); found != len(s.pods) {
		b.Fatalf("%d pods in the end, expected %d", found, len(s.pods))
	}
}

// counting counts a handler's events, with the index as one that watches a node does:
// those of its pods.
func counting(events *atomic.Int64, node string, indexed bool) cache.ResourceEventHandler {
	count := func(any) { events.Add(1) }
	return cache.FilteringResourceEventHandler{
		FilterFunc: func(obj any) bool { return !indexed || obj.(*corev1.Pod).Spec.NodeName == node },
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: count, DeleteFunc: count, UpdateFunc: func(_, obj any) { count(obj) },
		},
	}
}

// list reads all pods, or through the index a node's.
func (s *writtenStore) list(b *testing.B, indexed bool) int {
	if !indexed {
		return len(s.informer.GetIndexer().List())
	}
	found, err := s.informer.GetIndexer().ByIndex(nodeIndex, s.pods[0].Spec.NodeName)
	if err != nil {
		b.Error(err)
	}
	return len(found)
}

// write sends a pod's change and waits until it is handled.
func (s *writtenStore) write(traffic string, i int) {
	next := s.pods[i]
	send := func(event func(*corev1.Pod)) {
		s.written[i] = time.Now()
		event(&next)
		<-s.handled[i]
	}
	if traffic == "Patch" {
		next.Annotations = map[string]string{"updated-by-benchmark": strconv.Itoa(i)}
		send(func(pod *corev1.Pod) { s.watcher.Modify(pod) })
		return
	}
	send(func(pod *corev1.Pod) { s.watcher.Delete(pod) })
	send(func(pod *corev1.Pod) { s.watcher.Add(pod) })
}
