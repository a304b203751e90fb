package drive

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/fifo"
	"github.com/informerbench/informerbench/impl/informer"
	"github.com/informerbench/informerbench/impl/ratelimit"
	"github.com/informerbench/informerbench/loadgen"
	"golang.org/x/time/rate"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// upstream is the catalogue's name for client-go's variant of every part.
const upstream = "client-go"

// Complete fills in client-go's parts and refuses names that the catalogue does
// not know and parts that don't fit together.
func (p Parts) Complete() (Parts, error) {
	if p.Informer == "" && p.Indexer == "" && p.FIFO == "" {
		p.Informer = upstream
	}
	if p.RateLimitingQueue == "" && p.DelayingQueue == "" && p.Queue == "" {
		p.RateLimitingQueue = upstream
	}
	if p.RateLimiter == "" {
		p.RateLimiter = upstream
		if q, err := impl.Find(RateLimitingQueues(), p.RateLimitingQueue); err == nil && !q.Peer {
			p.RateLimiter = "compact"
		}
	}
	if p.Informer != "" && (p.Indexer != "" || p.FIFO != "") {
		return p, fmt.Errorf("informer %s brings its own FIFO and indexer: name the informer, or its parts, not both", p.Informer)
	}
	if _, err := p.informers(informerBatch); err != nil {
		return p, err
	}
	if err := p.checkQueues(); err != nil {
		return p, err
	}
	_, err := p.limiter(loadgen.Limiter{})
	return p, err
}

func (p Parts) checkQueues() error {
	outer, err := find("rate-limiting-queue", RateLimitingQueues(), p.RateLimitingQueue)
	if err != nil {
		return err
	}
	delaying, err := find("delaying-queue", impl.DelayingQueues[string](), p.DelayingQueue)
	if err != nil {
		return err
	}
	if _, err := find("queue", impl.Queues[string](), p.Queue); err != nil {
		return err
	}
	if outer.Name != "" && (p.Queue != "" || p.DelayingQueue != "") && slices.Contains(outer.Relaxes, "injected-delaying-queue") {
		return fmt.Errorf("rate-limiting-queue %s takes no other queue inside", outer.Name)
	}
	if delaying.Name != "" && p.Queue != "" && slices.Contains(delaying.Relaxes, "injected-queue") {
		return fmt.Errorf("delaying-queue %s takes no other queue inside", delaying.Name)
	}
	return nil
}

// RateLimitingQueues lists the rate limiting queues of the catalogue, and its
// priority queues, which are such too.
func RateLimitingQueues() []impl.Variant[impl.NewRateLimitingQueue[string]] {
	all := impl.RateLimitingQueues[string]()
	for _, p := range impl.PriorityQueues[string]() {
		if _, err := impl.Find(all, p.Name); err == nil {
			continue // controller-runtime's is listed as both
		}
		all = append(all, impl.Variant[impl.NewRateLimitingQueue[string]]{
			Name: p.Name, Summary: p.Summary, Peer: p.Peer, Relaxes: append(slices.Clone(p.Relaxes), "injected-delaying-queue"),
			New: func(l workqueue.TypedRateLimiter[string], c workqueue.TypedRateLimitingQueueConfig[string]) workqueue.TypedRateLimitingInterface[string] {
				return p.New(c.Name, func(o *priorityqueue.Opts[string]) { o.RateLimiter, o.MetricProvider = l, c.MetricsProvider })
			},
		})
	}
	return all
}

// shutDownOnce reports whether one of the queues fails when it is shut down a
// second time.
func (p Parts) shutDownOnce() bool {
	const fault = "fault:shutdown-twice"
	outer, _ := find("", RateLimitingQueues(), p.RateLimitingQueue)
	delaying, _ := find("", impl.DelayingQueues[string](), p.DelayingQueue)
	inner, _ := find("", impl.Queues[string](), p.Queue)
	return slices.Contains(slices.Concat(outer.Relaxes, delaying.Relaxes, inner.Relaxes), fault)
}

// find is impl.Find that allows an empty name.
func find[New any](what string, variants []impl.Variant[New], name string) (impl.Variant[New], error) {
	if name == "" {
		return impl.Variant[New]{}, nil
	}
	v, err := impl.Find(variants, name)
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return v, err
}

// deltaPrefix stands before the name of a DeltaFIFO; without it a FIFO is one in
// order, as today's informers have.
const deltaPrefix = "delta-"

// FIFOs lists the names that Parts.FIFO takes.
func FIFOs() []string {
	var names []string
	for _, v := range impl.InOrderFIFOs() {
		names = append(names, v.Name)
	}
	for _, v := range impl.DeltaFIFOs() {
		names = append(names, deltaPrefix+v.Name)
	}
	return names
}

// informerBatch is how many deltas informers take at a time if nobody says.
const informerBatch = 1000

// takesBatch reports whether the informers' batches may be of any size.
func (p Parts) takesBatch() bool {
	p = p.ofInformer()
	return p.Informer == "" && (p.FIFO == "" || p.FIFO == "ring" || p.FIFO == "slice")
}

// ofInformer names the parts of an informer of ours.
func (p Parts) ofInformer() Parts {
	switch p.Informer {
	case "plain":
		p.Informer, p.FIFO, p.Indexer = "", "slice", "locked"
	case "snapshot":
		p.Informer, p.FIFO, p.Indexer = "", "ring", "snapshot"
	}
	return p
}

// informers returns the constructor of the informers, which take so many deltas
// at a time if they can.
func (p Parts) informers(batch int) (impl.NewInformer, error) {
	if batch != informerBatch && p.takesBatch() {
		p = p.ofInformer()
	}
	if p.Informer != "" {
		v, err := find("informer", impl.Informers(), p.Informer)
		return v.New, err
	}
	var parts informer.Options
	store, err := find("indexer", impl.Indexers(), p.Indexer)
	if err != nil {
		return nil, err
	}
	parts.NewIndexer = store.New
	fifos, variant := impl.InOrderFIFOs(), cmp.Or(p.FIFO, "ring")
	if name, ok := strings.CutPrefix(variant, deltaPrefix); ok {
		fifos, variant = impl.DeltaFIFOs(), name
	}
	queue, err := find("fifo", fifos, variant)
	parts.NewFIFO = func(c fifo.Config) cache.Queue {
		c.Batch = batch
		return queue.New(c)
	}
	return parts.New, err
}

// limiter makes the rate limiter, with the numbers of l where it has any.
func (p Parts) limiter(l loadgen.Limiter) (workqueue.TypedRateLimiter[string], error) {
	v, err := find("rate-limiter", impl.RateLimiters[string](), p.RateLimiter)
	if err != nil {
		return nil, err
	}
	if l == (loadgen.Limiter{}) || l == defaultLimiter {
		return v.New(), nil
	}
	switch v.Name {
	case "map":
		return ratelimit.NewMaxOf(ratelimit.NewMapItemExponentialFailure[string](l.BaseDelay, l.MaxDelay),
			ratelimit.NewRateBucket[string](rate.NewLimiter(rate.Limit(l.Rate), l.Burst))), nil
	case "compact":
		return ratelimit.NewController[string](l.BaseDelay, l.MaxDelay, rate.Limit(l.Rate), l.Burst), nil
	case upstream:
		return workqueue.NewTypedMaxOfRateLimiter(workqueue.NewTypedItemExponentialFailureRateLimiter[string](l.BaseDelay, l.MaxDelay),
			&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(rate.Limit(l.Rate), l.Burst)}), nil
	}
	return nil, fmt.Errorf("rate-limiter %s has the default limits only, and the workload asks for others: expected map, compact or client-go", v.Name)
}

// plainQueue makes the queue of the second controller, which never fails.
func (p Parts) plainQueue(name string, m workqueue.MetricsProvider) workqueue.TypedInterface[string] {
	v, err := impl.Find(impl.Queues[string](), p.Queue)
	if err != nil {
		v, _ = impl.Find(impl.Queues[string](), upstream) // none was named
	}
	return v.New(workqueue.TypedQueueConfig[string]{Name: name, MetricsProvider: m})
}

// queue makes the rate limiting queue: a whole one, or one stacked from the
// parts that are named.
func (p Parts) queue(name string, limiter workqueue.TypedRateLimiter[string], m workqueue.MetricsProvider) (workqueue.TypedRateLimitingInterface[string], error) {
	outer, err1 := find("rate-limiting-queue", RateLimitingQueues(), p.RateLimitingQueue)
	delaying, err2 := find("delaying-queue", impl.DelayingQueues[string](), p.DelayingQueue)
	inner, err3 := find("queue", impl.Queues[string](), p.Queue)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	config := workqueue.TypedRateLimitingQueueConfig[string]{Name: name, MetricsProvider: m}
	if inner.New != nil || delaying.New != nil {
		c := workqueue.TypedDelayingQueueConfig[string]{Name: name, MetricsProvider: m}
		if inner.New != nil {
			c.Queue = inner.New(workqueue.TypedQueueConfig[string]{Name: name, MetricsProvider: m})
		}
		if delaying.New == nil {
			delaying.New = workqueue.NewTypedDelayingQueueWithConfig[string]
		}
		config.DelayingQueue = delaying.New(c)
	}
	if outer.New == nil {
		outer.New = workqueue.NewTypedRateLimitingQueueWithConfig[string]
	}
	return outer.New(limiter, config), nil
}

// defaultLimiter is what the catalogue's limiters have.
var defaultLimiter = loadgen.Limiter{BaseDelay: 5 * time.Millisecond, MaxDelay: 1000 * time.Second, Rate: 10, Burst: 100}
