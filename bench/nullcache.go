package bench

import (
	"context"

	"github.com/informerbench/informerbench/impl"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// A nullFIFO pops what it is given beforehand in turn, whatever was added.
type nullFIFO struct {
	cache.Queue // nil: the cases call nothing else
	turn[any]
	once   bool // give out each once and be closed then
	atomic bool
	closed bool
}

// nullPlain pops an object at a time, as FIFOs do.
func nullPlain(impl.FIFOConfig) cache.Queue {
	return &nullFIFO{turn: turn[any]{keys: []any{pods(1)[0]}}}
}

// nullDeltas pops so many deltas at a time, as DeltaFIFOs do.
func nullDeltas(n int) impl.NewFIFO {
	return func(impl.FIFOConfig) cache.Queue { return &nullFIFO{turn: turn[any]{keys: []any{updates(n)}}} }
}

// nullInOrder pops batches of ten, after an atomic Replace all objects.
func nullInOrder(c impl.FIFOConfig) cache.Queue {
	return &nullBatches{nullFIFO{turn: turn[any]{keys: []any{updates(10)}}, atomic: c.Atomic}}
}

func updates(n int) cache.Deltas {
	deltas := make(cache.Deltas, n)
	for i := range deltas {
		deltas[i] = cache.Delta{Type: cache.Updated, Object: pods(1)[0]}
	}
	return deltas
}

func (q *nullFIFO) Add(any) error    { return nil }
func (q *nullFIFO) Update(any) error { return nil }
func (q *nullFIFO) Delete(any) error { return nil }
func (q *nullFIFO) Resync() error    { return nil }

func (q *nullFIFO) Replace(list []any, _ string) error {
	if q.atomic {
		q.keys = []any{cache.Deltas{{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{Objects: list}}}}
	}
	return nil
}

func (q *nullFIFO) Pop(process cache.PopProcessFunc) (any, error) {
	if q.closed {
		return nil, cache.ErrFIFOClosed
	}
	item := q.next()
	q.closed = q.once && q.at == 0
	return nil, process(item, false)
}

// nullBatches hands each of its deltas out as a batch.
type nullBatches struct{ nullFIFO }

var _ cache.QueueWithBatch = &nullBatches{}

func (q *nullBatches) PopBatch(process cache.ProcessBatchFunc, _ cache.PopProcessFunc) error {
	_, err := q.Pop(func(item any, initial bool) error { return process(item.(cache.Deltas), initial) })
	return err
}

func (q *nullFIFO) Close() {
	if !q.once {
		q.closed = true
	}
}

// related is how many objects share a value of another index than the namespace's.
const related = 30

// A nullIndexer holds n times the same object, whatever was stored.
type nullIndexer struct {
	cache.Indexer // nil: the cases call nothing else
	objects       []any
	namespace     int // objects in each
}

func newNullIndexer(n int) impl.NewIndexer { return newNullIndexerOf(n, objectsPerNamespace) }

func newNullIndexerOf(n, namespace int) impl.NewIndexer {
	return func(cache.KeyFunc, cache.Indexers) cache.Indexer {
		return nullIndexer{objects: make([]any, n), namespace: namespace}
	}
}

func (s nullIndexer) Add(any) error                      { return nil }
func (s nullIndexer) Update(any) error                   { return nil }
func (s nullIndexer) Delete(any) error                   { return nil }
func (s nullIndexer) Replace([]any, string) error        { return nil }
func (s nullIndexer) Get(obj any) (any, bool, error)     { return obj, true, nil }
func (s nullIndexer) GetByKey(string) (any, bool, error) { return s.objects[0], true, nil }
func (s nullIndexer) List() []any                        { return s.objects }
func (s nullIndexer) ListKeys() []string                 { return make([]string, len(s.objects)) }
func (s nullIndexer) Index(name string, _ any) ([]any, error) {
	if name == cache.NamespaceIndex {
		return s.objects, nil
	}
	return s.objects[:related], nil
}
func (s nullIndexer) ByIndex(string, string) ([]any, error) {
	return s.objects[:s.namespace], nil
}

// A nullInformer calls its handlers from the goroutine that reads the watch.
type nullInformer struct {
	cache.SharedIndexInformer // nil: the cases call nothing else
	source                    cache.ListerWatcher
	store                     nullIndexer
	handlers                  []cache.ResourceEventHandler
}

func newNullInformer(n int) impl.NewInformer {
	return func(source cache.ListerWatcher, _ runtime.Object, _ cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return &nullInformer{source: source, store: nullIndexer{objects: make([]any, n), namespace: objectsPerNamespace}}
	}
}

func (i *nullInformer) GetIndexer() cache.Indexer { return i.store }
func (i *nullInformer) GetStore() cache.Store     { return i.store }

func (i *nullInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handlers = append(i.handlers, h)
	return synced{}, nil
}

func (i *nullInformer) RunWithContext(ctx context.Context) {
	w, err := cache.ToListerWatcherWithContext(i.source).WatchWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		return // the case hangs without it and is timed out
	}
	for {
		select {
		case e := <-w.ResultChan():
			for _, h := range i.handlers {
				h.OnUpdate(e.Object, e.Object)
			}
		case <-ctx.Done():
			return
		}
	}
}

// synced is a registration that lacks nothing.
type synced struct{}

var always = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (synced) HasSynced() bool                     { return true }
func (synced) HasSyncedChecker() cache.DoneChecker { return synced{} }
func (synced) Name() string                        { return "" }
func (synced) Done() <-chan struct{}               { return always }
