package drive

import (
	"strings"
	"sync"
	"testing"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// The planted faults are variants whose names begin so.
const planted = "planted-"

func isPlanted(p Parts) bool { return strings.Contains(nameOfParts(p), planted) }

func nameOfParts(p Parts) string {
	return strings.Join([]string{p.Informer, p.Indexer, p.FIFO, p.RateLimitingQueue, p.DelayingQueue, p.Queue, p.RateLimiter}, " ")
}

func plant[New any](t *testing.T, component, name string, v New) {
	t.Helper()
	if err := impl.Add(component, impl.Variant[New]{Name: planted + name, New: v}); err != nil {
		require.ErrorContains(t, err, "already") // an earlier -count
	}
}

// everyNth reports true once in n calls.
type everyNth struct {
	mu sync.Mutex
	n  int
	at int
}

func (e *everyNth) now() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at++
	return e.at%e.n == 0
}

type droppingQueue struct {
	workqueue.TypedRateLimitingInterface[string]
	drop *everyNth
}

func (q droppingQueue) Add(key string) {
	if !q.drop.now() {
		q.TypedRateLimitingInterface.Add(key)
	}
}

// A doublingQueue gives some keys to two workers at once.
type doublingQueue struct {
	workqueue.TypedRateLimitingInterface[string]
	double *everyNth
	mu     sync.Mutex
	again  []string
}

func (q *doublingQueue) Get() (string, bool) {
	q.mu.Lock()
	if len(q.again) > 0 {
		key := q.again[0]
		q.again = q.again[1:]
		q.mu.Unlock()
		return key, false
	}
	q.mu.Unlock()
	key, shutdown := q.TypedRateLimitingInterface.Get()
	if !shutdown && q.double.now() {
		q.mu.Lock()
		q.again = append(q.again, key)
		q.mu.Unlock()
	}
	return key, shutdown
}

// A deafInformer does not tell its handlers some of the updates.
type deafInformer struct {
	cache.SharedIndexInformer
	drop *everyNth
}

func (i deafInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: h.OnAdd, DeleteFunc: h.OnDelete,
		UpdateFunc: func(old, new any) {
			if !i.drop.now() {
				h.OnUpdate(old, new)
			}
		},
	})
}

// An oldIndexer shows some readers an object's first state.
type oldIndexer struct {
	cache.Indexer
	old   *everyNth
	mu    sync.Mutex
	first map[string]any
}

func (x *oldIndexer) Update(obj any) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	key, _ := cache.MetaNamespaceKeyFunc(obj)
	if before, ok, _ := x.Indexer.GetByKey(key); ok && x.first[key] == nil {
		x.first[key] = before
	}
	return x.Indexer.Update(obj)
}

func (x *oldIndexer) GetByKey(key string) (any, bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if before, ok := x.first[key]; ok && x.old.now() {
		return before, true, nil
	}
	return x.Indexer.GetByKey(key)
}

// What loses or shows something wrong is found, and its keys are named.
func TestPlantedFaultsAreFound(t *testing.T) {
	plant(t, "rate-limiting-queue", "dropping", func(l workqueue.TypedRateLimiter[string], c workqueue.TypedRateLimitingQueueConfig[string]) workqueue.TypedRateLimitingInterface[string] {
		return droppingQueue{workqueue.NewTypedRateLimitingQueueWithConfig(l, c), &everyNth{n: 20}}
	})
	plant(t, "rate-limiting-queue", "doubling", func(l workqueue.TypedRateLimiter[string], c workqueue.TypedRateLimitingQueueConfig[string]) workqueue.TypedRateLimitingInterface[string] {
		return &doublingQueue{TypedRateLimitingInterface: workqueue.NewTypedRateLimitingQueueWithConfig(l, c), double: &everyNth{n: 20}}
	})
	plant(t, "informer", "deaf", func(lw cache.ListerWatcher, example runtime.Object, o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return deafInformer{cache.NewSharedIndexInformerWithOptions(lw, example, o), &everyNth{n: 20}}
	})
	plant(t, "indexer", "old", func(k cache.KeyFunc, i cache.Indexers) cache.Indexer {
		return &oldIndexer{Indexer: cache.NewIndexer(k, i), old: &everyNth{n: 20}, first: map[string]any{}}
	})
	for _, test := range []struct {
		name  string
		parts Parts
		found func(Accounting) int
		words string
	}{
		{"a queue that drops keys", Parts{RateLimitingQueue: planted + "dropping"}, func(a Accounting) int { return a.Lost }, "expected version"},
		{"an informer that drops events", Parts{Informer: planted + "deaf"}, func(a Accounting) int { return a.Stale }, "expected version"},
		{"a cache that shows an old state", Parts{Indexer: planted + "old"}, func(a Accounting) int { return a.Backwards }, "was seen at version"},
		{"a queue that gives a key to two workers", Parts{RateLimitingQueue: planted + "doubling"}, func(a Accounting) int { return a.Together }, "two workers at once"},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := updates(t, 50, 400, 200, "constant")
			spec.Reconcile.Workers = 4
			r := virtually(t, Config{Spec: spec, Speed: 1, Parts: test.parts})
			a := r.Accounting
			assert.False(t, a.Sound())
			assert.Positive(t, test.found(a), "%+v", a)
			assert.Equal(t, a.Sent, a.Delivered+a.Coalesced+a.Lost, "the balance names what is missing")
			require.NotEmpty(t, a.Bad)
			assert.LessOrEqual(t, len(a.Bad), badKeys)
			assert.Contains(t, strings.Join(a.Bad, "\n"), test.words)
			assert.Contains(t, a.Bad[0], "pods ")
		})
	}
}

// Whatever the watch goes through, it ends in balance.
func TestFaultyWatches(t *testing.T) {
	for name, faults := range map[string]loadgen.Faults{
		"gone":       {Gone: 150},
		"disconnect": {Disconnect: 700_000_000},
		"duplicate":  {Duplicate: 0.2},
		"stale":      {Stale: 0.2},
		"throttle":   {Throttle: 150},
		"all":        {Gone: 200, Disconnect: 900_000_000, Duplicate: 0.1, Stale: 0.1, Bookmarks: 1_000_000_000, SlowList: 100_000_000},
	} {
		for _, informer := range []string{"client-go", "plain", "snapshot"} {
			t.Run(name+"/"+informer, func(t *testing.T) {
				spec := updates(t, 100, 1000, 200, "poisson")
				spec.Resources[0].Events.Mix = loadgen.Mix{Add: 1, Update: 5, Delete: 1}
				spec.Reconcile.Workers = 5
				spec.Faults = faults
				r := virtually(t, Config{Spec: spec, Speed: 1, Parts: Parts{Informer: informer}})
				a := r.Accounting
				require.True(t, a.Sound(), "%+v", a)
				assert.Equal(t, 1000, a.Sent)
				if faults.Gone > 0 {
					assert.Positive(t, a.Relists)
				}
				if faults.Disconnect > 0 {
					assert.Positive(t, a.Disconnects)
				}
			})
		}
	}
}
