package drive

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// A controller is the standard one: handlers put keys into a queue, workers take
// them, read the cache and reconcile.
type controller struct {
	spec      loadgen.Reconcile
	seed      uint64
	resources map[string]*resource
	ledger    *ledger
	meters    *meters
	work      *pastime                // how a reconcile spends its time
	client    flowcontrol.RateLimiter // nil for no limit
	exposed   *exposed

	queue workqueue.TypedRateLimitingInterface[string]
	// plain is the queue of nodes where there are two, else nil.
	plain workqueue.TypedInterface[string]

	delayed needless // what waits for a delay

	once bool // the queues may be shut down only once

	stopping atomic.Bool // no requeue-after any more

	picks, adds, reconciles, failures, retried, givenUp, requeued, calls, hurried, busy atomic.Int64
}

// A resource is what an informer keeps, with its cache.
type resource struct {
	name     string
	informer cache.SharedIndexInformer
	handled  cache.ResourceEventHandlerRegistration
	store    cache.Indexer
	plain    bool // its keys go to the plain queue
}

// keyOf is the queue's key of an object: "pods/namespace/name", as one
// controller may reconcile several resources.
func keyOf(n name) string {
	if n.namespace == "" {
		return n.resource.name + "/" + n.name
	}
	return n.resource.name + "/" + n.namespace + "/" + n.name
}

// parse is keyOf's inverse; it returns the key in the cache too.
func (c *controller) parse(key string) (name, string) {
	prefix, rest, _ := strings.Cut(key, "/")
	n := name{resource: c.resources[prefix], name: rest}
	if ns, base, ok := strings.Cut(rest, "/"); ok {
		n.namespace, n.name = ns, base
	}
	return n, rest
}

// handler puts the keys of a resource into its queue. Those of the first list
// are not new to a controller, unless it starts cold.
func (c *controller) handler(r *resource, cold bool) cache.ResourceEventHandler {
	m := c.meters.add(Enqueued)
	enqueue := func(n name, v version, low bool) {
		c.ledger.mark(n, v, enqueued, m) // before a worker can settle it
		c.adds.Add(1)
		byPriority, ok := c.queue.(interface {
			AddWithOpts(priorityqueue.AddOpts, ...string)
		})
		switch {
		case r.plain:
			c.plain.Add(keyOf(n))
		case ok && low:
			priority := int(lowPriority)
			byPriority.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, keyOf(n))
		default:
			c.queue.Add(keyOf(n))
		}
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			if !isInInitialList || cold {
				o := obj.(loadgen.Object)
				enqueue(nameOf(r, o), version{rv: o.GetResourceVersion()}, isInInitialList)
			}
		},
		UpdateFunc: func(old, obj any) {
			o := obj.(loadgen.Object)
			resync := old.(loadgen.Object).GetResourceVersion() == o.GetResourceVersion()
			enqueue(nameOf(r, o), version{rv: o.GetResourceVersion()}, resync)
		},
		DeleteFunc: func(obj any) {
			if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				namespace, base, _ := cache.SplitMetaNamespaceKey(tombstone.Key)
				enqueue(name{r, namespace, base}, gone, false)
				return
			}
			enqueue(nameOf(r, obj.(loadgen.Object)), gone, false)
		},
	}
}

// lowPriority is that of the first list and of resyncs, in queues that have
// priorities, as in controller-runtime's handlers.
const lowPriority = -100

func nameOf(r *resource, o loadgen.Object) name { return name{r, o.GetNamespace(), o.GetName()} }

// A worker's meters are shared by at most maxStripes groups of workers: a
// histogram takes 200 KB.
const maxStripes = 8

type stripe struct{ picked, reconciled, settled, work, throttle *meter }

// run starts the workers, which end when their queue is shut down.
func (c *controller) run(running *sync.WaitGroup) {
	stripes := make([]stripe, min(c.spec.Workers, maxStripes))
	for i := range stripes {
		stripes[i] = stripe{c.meters.add(PickedUp), c.meters.add(Reconciled), c.meters.add(Settled), c.meters.add(Work), c.meters.add(Throttle)}
	}
	for i := range c.spec.Workers {
		s := stripes[i%len(stripes)]
		running.Go(func() {
			for c.next(s, c.queue) {
			}
		})
		if c.plain != nil {
			running.Go(func() {
				for c.next(s, c.plain) {
				}
			})
		}
	}
}

// next takes one key through a reconcile. It reports false once the queue has
// shut down.
func (c *controller) next(s stripe, queue workqueue.TypedInterface[string]) bool {
	key, shutdown := queue.Get()
	if shutdown {
		return false
	}
	begin := c.ledger.now()
	c.busy.Add(1)
	n, cached := c.parse(key)
	found := n.resource.read(cached)
	upTo, news := c.ledger.take(n, found, begin, s.picked)
	random := rand.New(rand.NewPCG(c.seed, uint64(c.picks.Add(1))))
	failed := c.reconcile(random, s.throttle)
	result := settled
	if !n.resource.plain {
		c.delayed.ran(key, begin, news, !failed)
		result = c.requeue(key, failed, random)
	}
	c.ledger.end(n, upTo, result, s.reconciled, s.settled)
	queue.Done(key)
	s.work.record(c.ledger.now() - begin)
	c.busy.Add(-1)
	c.reconciles.Add(1)
	return true
}

// reconcile spends the time that a reconcile takes and reports whether it fails.
func (c *controller) reconcile(random *rand.Rand, throttle *meter) (failed bool) {
	if !c.spec.Service.IsZero() {
		c.work.spend(c.spec.Service.Sample(random))
	}
	calls := 0
	if !c.spec.Calls.IsZero() {
		calls = int(math.Round(c.spec.Calls.Sample(random)))
	}
	for range calls {
		begin := c.ledger.now()
		throttled := time.Duration(0)
		if c.client != nil {
			// It fails only when the drive hurries to its end.
			_ = c.client.Wait(c.work.hurry)
			throttled = c.ledger.now() - begin
			throttle.record(throttled)
		}
		if !c.spec.CallLatency.IsZero() {
			c.work.wait(c.spec.CallLatency.Sample(random))
		}
		c.calls.Add(1)
		c.exposed.call(throttled, c.ledger.now()-begin)
	}
	if c.work.hurry.Err() != nil {
		c.hurried.Add(1)
		return false
	}
	return c.spec.Failure > 0 && random.Float64() < c.spec.Failure
}

// requeue does what a controller does with a key after its reconcile.
func (c *controller) requeue(key string, failed bool, random *rand.Rand) outcome {
	if !failed {
		c.queue.Forget(key)
		if c.spec.RequeueShare > 0 && random.Float64() < c.spec.RequeueShare && !c.stopping.Load() {
			after := seconds(c.spec.RequeueAfter.Sample(random))
			c.delayed.added(key, c.ledger.now()+after)
			c.queue.AddAfter(key, after)
			c.requeued.Add(1)
		}
		return settled
	}
	c.failures.Add(1)
	if c.spec.Retries > 0 && c.queue.NumRequeues(key) >= c.spec.Retries {
		c.queue.Forget(key)
		c.givenUp.Add(1)
		return givenUp
	}
	c.delayed.added(key, 0)
	c.queue.AddRateLimited(key)
	c.retried.Add(1)
	return retried
}

// shutDown ends the workers once they have taken what is queued; what still
// waits for a retry is dropped. client-go's delaying queue needs the second call
// to end its goroutine at once.
func (c *controller) shutDown() {
	for _, q := range []workqueue.TypedInterface[string]{c.queue, c.plain} {
		if q == nil {
			continue
		}
		if !c.once {
			q.ShutDownWithDrain()
		}
		q.ShutDown()
	}
}

// seconds as a duration; negative ones are 0.
func seconds(s float64) time.Duration {
	return time.Duration(max(s, 0) * float64(time.Second))
}
