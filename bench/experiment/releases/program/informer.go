package main

import (
	"crypto/sha256"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

func informerCases() []benchCase {
	return []benchCase{
		{"informer", "op=event/n=10k", "a pod changes and its handler is told", cpuTime, func(b *testing.B) { event(b, 0, false) }},
		{"informer", "op=event/readers=10/n=10k", "the same beside ten readers that list all pods again and again", wallTime, func(b *testing.B) { event(b, 10, false) }},
		{"informer", "op=hand-over/n=10k", "an event is taken from the watch, while those before go into an index that takes some 30 µs an object", wallTime, func(b *testing.B) { event(b, 0, true) }},
	}
}

// A server lists its pods, in either of the ways that informers ask for, and
// then sends what is put into events.
type server struct {
	pods   []*corev1.Pod
	events chan watch.Event
}

func (s *server) List(metav1.ListOptions) (runtime.Object, error) {
	all := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for _, p := range s.pods {
		all.Items = append(all.Items, *p)
	}
	return all, nil
}

func (s *server) Watch(o metav1.ListOptions) (watch.Interface, error) {
	if o.SendInitialEvents != nil && *o.SendInitialEvents {
		go func() {
			for _, p := range s.pods {
				s.events <- watch.Event{Type: watch.Added, Object: p}
			}
			s.events <- watch.Event{Type: watch.Bookmark, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				ResourceVersion: "1", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
			}}}
		}()
	}
	return s, nil
}

func (s *server) ResultChan() <-chan watch.Event { return s.events }
func (s *server) Stop()                          {}

// event measures until the handler was told of a batch of events or, with an index that is
// slow, until all of them were taken from the watch.
func event(b *testing.B, readers int, handOver bool) {
	const n, batch = 10_000, 500
	s := &server{pods: pods(n, 1), events: make(chan watch.Event, 1)}
	// Versions rise from batch to batch, or an informer may drop an event as old.
	version := n
	var missing atomic.Int64
	all := make(chan struct{}, 1)
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	if handOver {
		indexers["slow"] = slowIndex
	}
	informer := cache.NewSharedIndexInformerWithOptions(s, &corev1.Pod{}, cache.SharedIndexInformerOptions{
		ResyncPeriod: time.Hour, Indexers: indexers,
	})
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) {
		if missing.Add(-1) == 0 {
			all <- struct{}{}
		}
	}})
	if err != nil {
		b.Fatal(err)
	}
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { informer.Run(stop) })
	defer func() { close(stop); running.Wait() }()
	if !cache.WaitForCacheSync(stop, handler.HasSynced) {
		b.Fatal("the informer did not sync")
	}
	for range readers {
		running.Go(func() { read(b, informer.GetIndexer(), n, stop) })
	}
	at := 0
	send := func() {
		missing.Store(batch)
		for i := range batch {
			p := *s.pods[at+i]
			version++
			p.ResourceVersion = strconv.Itoa(version)
			s.pods[at+i] = &p
			s.events <- watch.Event{Type: watch.Modified, Object: &p}
		}
		at = (at + batch) % n
	}
	if handOver {
		measuredThen(b, batch, send, func() { <-all })
	} else {
		measured(b, batch, func() { send(); <-all })
	}
	for _, p := range s.pods {
		got, _, _ := informer.GetStore().Get(p)
		if got, ok := got.(*corev1.Pod); !ok || got.ResourceVersion != p.ResourceVersion { // a list has copies
			b.Fatalf("%s: the store does not hold its last version", p.Name)
		}
	}
}

// slowIndex stands for an index function that parses or hashes what an object holds.
func slowIndex(object any) ([]string, error) {
	sum := sha256.Sum256(make([]byte, 32<<10))
	return []string{object.(*corev1.Pod).Namespace, string(sum[:1])}, nil
}

// read lists n objects, again and again.
func read(b *testing.B, x cache.Indexer, n int, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		if got := len(x.List()); got != n {
			b.Errorf("a list of %d objects, expected %d", got, n)
			return
		}
	}
}
