package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

type (
	informerVariant  = impl.Variant[impl.NewInformer]
	informerQuestion = question[impl.NewInformer]
)

// informerCases have the shape of client-go's BenchmarkSharedIndexInformer: all
// pods in one namespace, at most ten events on their way, readers that list the
// namespace.
func informerCases(seed uint64) []Case {
	var all []informerQuestion
	for _, n := range []int{10_000, 40_000} {
		var questions []informerQuestion
		questions = append(questions, informerQuestion{
			name: "op=event/readers=0/n=" + human(n), unit: cpuTime,
			summary: "a pod changes, nobody reads the cache",
			run: func(b *testing.B, v informerVariant) {
				event(b, v, n, &readers{window: 100 * time.Millisecond}, seed)
			},
		})
		for _, count := range []int{10, 40} {
			head, window := "", time.Second
			if n == 10_000 && count == 10 {
				head, window = "the events beside ten readers", 400*time.Millisecond // two minutes are for all headlines
			}
			questions = append(questions, informerQuestion{
				name: fmt.Sprintf("op=event/readers=%d/pause=10ms/n=%s", count, human(n)), unit: wallTime, quick: head != "", head: head,
				summary: "a pod changes beside readers that list its namespace every 10 ms",
				run: func(b *testing.B, v informerVariant) {
					event(b, v, n, &readers{count: count, pause: 10 * time.Millisecond, window: window}, seed)
				},
			}, informerQuestion{
				name: fmt.Sprintf("op=event/readers=%d/pause=none/n=%s", count, human(n)), unit: wallTime,
				summary: "a pod changes beside readers that list its namespace without pause (kubernetes/kubernetes#130767)",
				run: func(b *testing.B, v informerVariant) {
					event(b, v, n, &readers{count: count, window: 2 * time.Second}, seed)
				},
			})
		}
		all = append(all, withNull(newNullInformer(n), questions...)...)
	}
	for _, handlers := range []int{1, 10, 100} {
		all = append(all, informerQuestion{
			name: fmt.Sprintf("op=fan-out/handlers=%d/n=10k", handlers), unit: cpuTime,
			summary: "bursts of a thousand events reach every handler", null: newNullInformer(10_000),
			run: func(b *testing.B, v informerVariant) { fanOut(b, v, 10_000, handlers, seed) },
		})
	}
	all = append(all, informerWaitQuestions(seed)...)
	all = append(all, informerMemoryQuestions(seed)...)
	all = append(all, informerDecodeQuestions(seed)...)
	c := component[impl.NewInformer]{"informer", "client-go", impl.Informers()}
	return c.cases(all...)
}

// A server is the ListerWatcher of one informer. It sends its pods and the
// bookmark that ends them, then what send is given.
type server struct {
	list   []*corev1.Pod // the current version of each pod
	next   []*corev1.Pod // the version to send next
	order  []int
	at     int
	events chan watch.Event
}

func newServer(n int, seed uint64) *server {
	list := makePods(n) // of its own: it changes them
	for _, p := range list {
		p.Namespace = "default"
	}
	return &server{list: list, next: newer(list), order: shuffled(n, seed), events: make(chan watch.Event, 1)}
}

func (s *server) List(metav1.ListOptions) (runtime.Object, error) {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for _, p := range s.list {
		list.Items = append(list.Items, *p)
	}
	return list, nil
}

func (s *server) Watch(o metav1.ListOptions) (watch.Interface, error) {
	if o.SendInitialEvents != nil && *o.SendInitialEvents {
		go func() {
			for _, p := range s.list {
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

// send changes a pod.
func (s *server) send() {
	i := s.order[s.at]
	s.list[i], s.next[i] = s.next[i], s.list[i]
	s.events <- watch.Event{Type: watch.Modified, Object: s.list[i]}
	s.at = (s.at + 1) % len(s.order)
}

// check fails b unless the store holds the current version of each pod.
func (s *server) check(b *testing.B, store cache.Store) {
	b.Helper()
	for _, p := range s.list {
		if got, _, _ := store.Get(p); got != any(p) {
			b.Fatalf("%s: the store holds %v, expected resource version %s", p.Name, got, p.ResourceVersion)
		}
	}
	if got := len(store.ListKeys()); got != len(s.list) {
		b.Fatalf("%d objects stored, expected %d", got, len(s.list))
	}
}

// run starts an informer on s whose handlers all call update for each update.
func (s *server) run(b *testing.B, v informerVariant, handlers int, update func()) cache.SharedIndexInformer {
	b.Helper()
	return s.serve(b, v, slices.Repeat([]func(any){func(any) { update() }}, handlers))
}

// serve starts an informer on s with a handler for each of updates.
func (s *server) serve(b *testing.B, v informerVariant, updates []func(obj any)) cache.SharedIndexInformer {
	b.Helper()
	informer, stop := launch(b, s, v, updates)
	b.Cleanup(stop)
	return informer
}

// launch is serve for those that stop the informer themselves.
func launch(b *testing.B, source cache.ListerWatcher, v informerVariant, updates []func(obj any)) (_ cache.SharedIndexInformer, stop func()) {
	b.Helper()
	informer := v.New(source, &corev1.Pod{}, cache.SharedIndexInformerOptions{
		ResyncPeriod: time.Minute,
		Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
	})
	var synced []cache.DoneChecker
	for _, update := range updates {
		r, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, obj any) { update(obj) }})
		if err != nil {
			b.Fatal(err)
		}
		synced = append(synced, r.HasSyncedChecker())
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	stop = func() { cancel(); running.Wait() }
	if !cache.WaitFor(ctx, "", synced...) {
		stop()
		b.Fatal("the informer did not sync")
	}
	return informer, stop
}

// readers list the namespace for as long as a case runs.
type readers struct {
	count  int
	pause  time.Duration
	window time.Duration // of one measurement: many 10 ms slices of the scheduler for each reader
	reads  atomic.Int64
	short  atomic.Int64
}

func (r *readers) start(x cache.Indexer, n int) (stop func()) {
	var running, started sync.WaitGroup
	stopping := make(chan struct{})
	started.Add(r.count)
	warming := warmUp()
	for range r.count {
		running.Go(func() {
			read := func() {
				got := 0
				err := cache.ListAllByNamespace(x, "default", labels.Everything(), func(any) { got++ })
				if err != nil || got != n {
					r.short.Add(1)
				}
				r.reads.Add(1)
			}
			read()
			for warming() {
				read()
			}
			started.Done()
			for {
				select {
				case <-stopping:
					return
				default:
					read()
					time.Sleep(r.pause)
				}
			}
		})
	}
	started.Wait()
	return func() { close(stopping); running.Wait() }
}

// inFlight is how many events may be on their way.
const inFlight = 10

func event(b *testing.B, v informerVariant, n int, r *readers, seed uint64) {
	s := newServer(n, seed)
	var arrived atomic.Int64
	slots := make(chan struct{}, inFlight)
	informer := s.run(b, v, 1, func() { arrived.Add(1); <-slots })
	stop := r.start(informer.GetIndexer(), n)
	sent := int64(0)
	before := r.reads.Load()
	var w stopwatch
	part := func(window time.Duration) (count int) {
		for begun := time.Now(); time.Since(begun) < window; count++ {
			slots <- struct{}{}
			s.send()
		}
		for range inFlight { // all have arrived when all slots are free
			slots <- struct{}{}
		}
		sent += int64(count)
		return count
	}
	empty := func() {
		for range inFlight {
			<-slots
		}
	}
	for b.Loop() {
		w.start()
		w.stop(part(shortened(r.window)))
		empty()
	}
	read := r.reads.Load() - before
	w.watch(func() int { return part(shortened(r.window) / 4) })
	stop()
	if r.short.Load() > 0 {
		b.Fatalf("%d lists did not hold %d objects", r.short.Load(), n)
	}
	if arrived.Load() != sent {
		b.Fatalf("%d events arrived, expected %d", arrived.Load(), sent)
	}
	s.check(b, informer.GetStore())
	w.report(b, true)
	if r.count > 0 {
		b.ReportMetric(float64(read)/w.wall.Seconds(), "reads/s")
	}
}

func fanOut(b *testing.B, v informerVariant, n, handlers int, seed uint64) {
	const burst = 1000
	s := newServer(n, seed)
	var missing atomic.Int64
	all := make(chan struct{}, 1)
	informer := s.run(b, v, handlers, func() {
		if missing.Add(-1) == 0 {
			all <- struct{}{}
		}
	})
	measured(b, burst, true, func() {
		missing.Store(burst * int64(handlers))
		for range burst {
			s.send()
		}
		<-all
	})
	if missing.Load() != 0 {
		b.Fatalf("%d events too many", -missing.Load())
	}
	s.check(b, informer.GetStore())
}
