package sim

import (
	"time"

	"github.com/informerbench/informerbench/impl/priority"
	"github.com/informerbench/informerbench/impl/ratelimit"
	"github.com/informerbench/informerbench/loadgen"
	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// A key is a resource's index and the object's number within it.
type key uint64

func keyOf(resource int, object uint32) key { return key(resource)<<32 | key(object) }

func (k key) resource() int  { return int(k >> 32) }
func (k key) object() uint32 { return uint32(k) }

// workQueue is what the engine asks of a queue, plain or with priorities.
type workQueue interface {
	add(k key, priority int)
	addAfter(k key, priority int, d time.Duration)
	addRateLimited(k key, priority int)
	get() (k key, priority int, ok bool)

	Done(key)
	Forget(key)
	NumRequeues(key) int
	Next() (time.Duration, bool)
	Promote()
}

var (
	_ workQueue = plainQueue{}
	_ workQueue = priorityQueue{}
)

// lowPriority is of what came by a list or a resync, as in controller-runtime.
const lowPriority = -100

// newWorkQueue makes the real queue around the real limiter. The metrics are
// upstream's, observed by m.
func newWorkQueue(c *virtualClock, l loadgen.Limiter, config *Config, m workqueue.MetricsProvider) workQueue {
	limiter := ratelimit.NewController[key](l.BaseDelay, l.MaxDelay, rate.Limit(l.Rate), l.Burst, ratelimit.WithClock(c))
	if config.Priority {
		return priorityQueue{priority.NewStepped(priority.Config[key]{Name: "sim", Clock: c, MetricsProvider: m, RateLimiter: limiter, OldestEvery: config.OldestEvery})}
	}
	return plainQueue{ratelimit.NewStepped(limiter, workqueue.TypedRateLimitingQueueConfig[key]{Name: "sim", Clock: c, MetricsProvider: m})}
}

type plainQueue struct{ ratelimit.Stepped[key] }

func (q plainQueue) add(k key, _ int)                       { q.Add(k) }
func (q plainQueue) addAfter(k key, _ int, d time.Duration) { q.AddAfter(k, d) }
func (q plainQueue) addRateLimited(k key, _ int)            { q.AddRateLimited(k) }
func (q plainQueue) get() (k key, priority int, ok bool) {
	k, ok = q.TryGet()
	return k, 0, ok
}

// priorityQueue keeps the priority of an item that comes back, as
// controller-runtime does.
type priorityQueue struct{ priority.Stepped[key] }

func (q priorityQueue) add(k key, priority int) {
	q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, k)
}

func (q priorityQueue) addAfter(k key, priority int, d time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority, After: d}, k)
}

func (q priorityQueue) addRateLimited(k key, priority int) {
	q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority, RateLimited: true}, k)
}

func (q priorityQueue) get() (k key, priority int, ok bool) { return q.TryGet() }
