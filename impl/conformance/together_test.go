package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/fifo"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// The tests in this file call every method of every variant together with every
// other, for the race detector, where the suite has two or three at a time.

// together makes every call 300 times in each of two goroutines.
func together(calls ...func(i int)) {
	var wg sync.WaitGroup
	for _, call := range calls {
		for range 2 {
			wg.Go(func() {
				for i := range 300 {
					call(i)
				}
			})
		}
	}
	wg.Wait()
}

func key(i int) string { return fmt.Sprint("web-", i%9) }

func pod(i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: key(i), ResourceVersion: fmt.Sprint(i + 1)},
		Spec:       corev1.PodSpec{NodeName: fmt.Sprint("node-", i%4)},
	}
}

func TestQueuesTogether(t *testing.T) {
	for _, v := range impl.Queues[string]() {
		t.Run("queue/"+v.Name, func(t *testing.T) {
			useQueue(t, v.New(workqueue.TypedQueueConfig[string]{Name: "q", MetricsProvider: silent{}}))
		})
	}
	for _, v := range impl.DelayingQueues[string]() {
		t.Run("delaying-queue/"+v.Name, func(t *testing.T) {
			q := v.New(workqueue.TypedDelayingQueueConfig[string]{Name: "q", MetricsProvider: silent{}})
			useQueue(t, q, func(i int) { q.AddAfter(key(i), time.Duration(i%3)*time.Microsecond) })
		})
	}
	for _, v := range impl.RateLimitingQueues[string]() {
		t.Run("rate-limiting-queue/"+v.Name, func(t *testing.T) {
			q := v.New(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Microsecond, time.Millisecond),
				workqueue.TypedRateLimitingQueueConfig[string]{Name: "q", MetricsProvider: silent{}})
			useQueue(t, q, retries(q)...)
		})
	}
	for _, v := range impl.PriorityQueues[string]() {
		t.Run("priority-queue/"+v.Name, func(t *testing.T) {
			q := v.New("q")
			useQueue(t, q, append(retries(q), func(i int) {
				priority := i % 5
				q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority, RateLimited: i%2 == 0}, key(i), key(i+1))
			})...)
		})
	}
}

func retries(q workqueue.TypedRateLimitingInterface[string]) []func(i int) {
	return []func(i int){
		func(i int) { q.AddAfter(key(i), time.Duration(i%3)*time.Microsecond) },
		func(i int) { q.AddRateLimited(key(i)) },
		func(i int) { q.NumRequeues(key(i)) },
		func(i int) { q.Forget(key(i)) },
	}
}

// useQueue makes the calls that every queue has and some more beside workers.
func useQueue(t *testing.T, q workqueue.TypedInterface[string], calls ...func(i int)) {
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			for {
				item, shutdown := q.Get()
				if shutdown {
					return
				}
				q.Done(item)
			}
		})
	}
	together(append(calls,
		func(i int) { q.Add(key(i)) },
		func(int) { q.Len() },
		func(int) { q.ShuttingDown() },
	)...)
	q.ShutDown()
	workers.Wait()
	assert.True(t, q.ShuttingDown())
}

func TestRateLimitersTogether(t *testing.T) {
	for _, v := range impl.RateLimiters[string]() {
		t.Run(v.Name, func(t *testing.T) {
			limiter := v.New()
			together(
				func(i int) { limiter.When(key(i)) },
				func(i int) { limiter.NumRequeues(key(i)) },
				func(i int) { limiter.Forget(key(i)) },
			)
			for i := range 9 {
				limiter.Forget(key(i))
				assert.Zero(t, limiter.NumRequeues(key(i)))
			}
		})
	}
}

func TestIndexersTogether(t *testing.T) {
	byNode := func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }
	for _, v := range impl.Indexers() {
		t.Run(v.Name, func(t *testing.T) {
			x := v.New(cache.MetaNamespaceKeyFunc, cache.Indexers{"node": byNode})
			ok := func(err error) { assert.NoError(t, err) }
			together(
				func(i int) { ok(x.Add(pod(i))) },
				func(i int) { ok(x.Update(pod(i))) },
				func(i int) { ok(x.Delete(pod(i))) },
				func(i int) { ok(x.Replace([]any{pod(i), pod(i + 1), pod(i + 2)}, fmt.Sprint(i))) },
				func(i int) {
					if s, transacts := x.(cache.TransactionStore); transacts {
						assert.Nil(t, s.Transaction(cache.Transaction{Type: cache.TransactionTypeAdd, Object: pod(i)},
							cache.Transaction{Type: cache.TransactionTypeDelete, Object: pod(i + 1)}))
					}
				},
				func(i int) { ok(addIndexer(x, i, byNode)) },
				func(i int) { ok(x.Resync()); x.Bookmark(fmt.Sprint(i)); x.LastStoreSyncResourceVersion() },
				func(int) { x.List(); x.ListKeys(); x.ListIndexFuncValues("node"); x.GetIndexers() },
				func(i int) { _, _, err := x.Get(pod(i)); ok(err) },
				func(i int) { _, _, err := x.GetByKey("default/" + key(i)); ok(err) },
				func(i int) { _, err := x.Index("node", pod(i)); ok(err) },
				func(int) { _, err := x.ByIndex("node", "node-1"); ok(err) },
				func(int) { _, err := x.IndexKeys("node", "node-1"); ok(err) },
			)
			indexed := 0
			for _, node := range x.ListIndexFuncValues("node") {
				members, err := x.ByIndex("node", node)
				ok(err)
				indexed += len(members)
			}
			assert.Len(t, x.List(), indexed)
			assert.Len(t, x.ListKeys(), indexed)
		})
	}
}

var indexers atomic.Int64

// addIndexer adds an index now and then, which all later writes keep up.
func addIndexer(x interface{ AddIndexers(cache.Indexers) error }, i int, fn cache.IndexFunc) error {
	if i%50 != 0 {
		return nil
	}
	return x.AddIndexers(cache.Indexers{fmt.Sprint(indexers.Add(1)): fn})
}

func TestFIFOsTogether(t *testing.T) {
	for kind, variants := range map[string][]impl.Variant[impl.NewFIFO]{
		"fifo": impl.FIFOs(), "delta-fifo": impl.DeltaFIFOs(), "in-order-fifo": impl.InOrderFIFOs(),
	} {
		for _, v := range variants {
			t.Run(kind+"/"+v.Name, func(t *testing.T) {
				known := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
				q := v.New(fifo.Config{KnownObjects: known})
				popped := make(chan error)
				go func() {
					var err error
					for err == nil {
						_, err = q.Pop(func(any, bool) error { return nil })
					}
					popped <- err
				}()
				ok := func(err error) { assert.NoError(t, err) }
				together(
					func(i int) { ok(q.Add(pod(i))) },
					func(i int) { ok(q.Update(pod(i))) },
					func(i int) { ok(q.Delete(pod(i))) },
					func(i int) { ok(q.Replace([]any{pod(i), pod(i + 1)}, "1")) },
					func(int) { ok(q.Resync()) },
					func(i int) { ok(known.Add(pod(i))) },
					func(int) { q.HasSynced(); cache.IsDone(q.HasSyncedChecker()) },
				)
				q.Close()
				assert.ErrorIs(t, <-popped, cache.ErrFIFOClosed)
				assert.True(t, q.HasSynced())
			})
		}
	}
}

func TestInformersTogether(t *testing.T) {
	for _, v := range impl.Informers() {
		t.Run(v.Name, func(t *testing.T) {
			changes := watch.NewFakeWithChanSize(1000, false)
			informer := v.New(&cache.ListWatch{
				ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
					return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []corev1.Pod{*pod(1), *pod(2)}}, nil
				},
				WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
					if options.SendInitialEvents != nil {
						return nil, errors.New("no streaming list")
					}
					return changes, nil
				},
			}, &corev1.Pod{}, cache.SharedIndexInformerOptions{ResyncPeriod: time.Second, Indexers: cache.Indexers{"namespace": cache.MetaNamespaceIndexFunc}})
			ctx, stop := context.WithCancel(t.Context())
			ran := make(chan struct{})
			go func() {
				defer close(ran)
				informer.RunWithContext(ctx)
			}()
			handler := cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}, UpdateFunc: func(any, any) {}, DeleteFunc: func(any) {}}
			together(
				func(i int) { changes.Modify(pod(i)) },
				func(int) { informer.HasSynced(); informer.IsStopped(); informer.LastSyncResourceVersion() },
				func(int) {
					informer.GetStore().List()
					informer.GetController()
					cache.IsDone(informer.HasSyncedChecker())
				},
				func(i int) { assert.NoError(t, addIndexer(informer, i, cache.MetaNamespaceIndexFunc)) },
				func(i int) {
					handle, err := informer.AddEventHandlerWithResyncPeriod(handler, time.Duration(i)*time.Second)
					assert.NoError(t, err)
					handle.HasSynced()
					assert.NoError(t, informer.RemoveEventHandler(handle))
				},
			)
			stop()
			<-ran
			assert.True(t, informer.IsStopped())
		})
	}
}

// silent makes metrics that keep nothing and lock nothing, for a lock would put calls
// in order between which there may be a race.
type silent struct{}

func (silent) Inc()            {}
func (silent) Dec()            {}
func (silent) Set(float64)     {}
func (silent) Observe(float64) {}

func (m silent) NewDepthMetric(string) workqueue.GaugeMetric                         { return m }
func (m silent) NewAddsMetric(string) workqueue.CounterMetric                        { return m }
func (m silent) NewLatencyMetric(string) workqueue.HistogramMetric                   { return m }
func (m silent) NewWorkDurationMetric(string) workqueue.HistogramMetric              { return m }
func (m silent) NewRetriesMetric(string) workqueue.CounterMetric                     { return m }
func (m silent) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric { return m }
func (m silent) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return m
}
