package priority

import (
	"slices"
	"time"

	"github.com/informerbench/informerbench/impl/internal/meter"
	"k8s.io/client-go/util/workqueue"
)

// measure gives the queue its metrics, if it has a name. The meter does not run
// yet.
func (q *priorityQueue[T]) measure(config Config[T]) {
	q.Gate.Init(nil, nil)
	provider := config.MetricsProvider
	if !meter.Reports(config.Name, provider, true) {
		return
	}
	q.depth = newLevelDepth(provider, config.Name)
	q.Meter = meter.New(config.Name, depthProvider{provider, q.depth}, config.Clock)
	q.retries = provider.NewRetriesMetric(config.Name)
}

// guarded calls metrics, which are the user's code and may panic: then it ends
// the operation, which has changed nothing yet. So an operation without metrics
// needs no deferred unlock.
func (q *priorityQueue[T]) guarded(call func() time.Duration) time.Duration {
	panicked := true
	defer func() {
		if panicked {
			q.leave()
		}
	}()
	moment := call()
	panicked = false
	return moment
}

// countAdd counts an item that becomes ready.
func (q *priorityQueue[T]) countAdd(priority int) time.Duration {
	return q.guarded(func() time.Duration {
		q.depth.priority = priority
		return q.Meter.Add()
	})
}

// countGet counts an item that is handed out.
func (q *priorityQueue[T]) countGet(slot uint32, priority int) {
	m := q.momentsOf(slot)
	m.started = q.guarded(func() time.Duration {
		q.depth.priority = priority
		item := q.keys.Key(slot)
		return q.Meter.Get(m.added, item == item)
	})
}

// countDone counts an item that is done.
func (q *priorityQueue[T]) countDone(slot uint32) {
	q.guarded(func() time.Duration {
		q.Meter.Done(q.momentsOf(slot).started)
		return 0
	})
}

// moments are when a key was added, valid while it is ready, and when it was
// handed out, valid while it is in processing. They lie apart, so that a queue
// without metrics has smaller entries.
type moments struct{ added, started time.Duration }

// manyMoments is how many an empty queue keeps the room for, a megabyte.
const manyMoments = 1 << 16

func (q *priorityQueue[T]) momentsOf(slot uint32) *moments {
	if n := int(slot) + 1; n > len(q.moments) {
		q.moments = slices.Grow(q.moments, n-len(q.moments))[:n]
	}
	return &q.moments[slot]
}

// tally sets the metrics of what is in processing.
func (q *priorityQueue[T]) tally() {
	q.Lock()
	defer q.Unlock()
	if q.Closed.Load() {
		return
	}
	q.Meter.Unfinished(func(yield func(time.Duration) bool) {
		for slot, e := range q.keys.All() {
			if e.processing() && !yield(q.momentsOf(slot).started) {
				return
			}
		}
	})
}

// levelDepth is the depth metric of a priority queue, by priority if the
// provider supports that. The queue sets priority before each use.
type levelDepth struct {
	priority int
	plain    workqueue.GaugeMetric
	leveled  DepthByPriority
}

func (d *levelDepth) Inc() {
	if d.leveled != nil {
		d.leveled.Inc(d.priority)
	} else {
		d.plain.Inc()
	}
}

func (d *levelDepth) Dec() {
	if d.leveled != nil {
		d.leveled.Dec(d.priority)
	} else {
		d.plain.Dec()
	}
}

// move counts an item from one priority to another.
func (d *levelDepth) move(from, to int) {
	if d.leveled != nil {
		d.leveled.Dec(from)
		d.leveled.Inc(to)
	}
}

// depthProvider is a provider whose depth metric is made already.
type depthProvider struct {
	workqueue.MetricsProvider
	depth *levelDepth
}

func (p depthProvider) NewDepthMetric(string) workqueue.GaugeMetric { return p.depth }

// A ProviderByPriority is a MetricsProvider that counts the depth of each priority
// apart, as controller-runtime's own does. That one is internal and can't be used.
type ProviderByPriority interface {
	workqueue.MetricsProvider
	NewDepthByPriority(name string) DepthByPriority
}

// DepthByPriority is the depth of a queue by priority.
type DepthByPriority interface {
	Inc(priority int)
	Dec(priority int)
}

func newLevelDepth(provider workqueue.MetricsProvider, name string) *levelDepth {
	if p, ok := provider.(ProviderByPriority); ok {
		return &levelDepth{leveled: p.NewDepthByPriority(name)}
	}
	return &levelDepth{plain: provider.NewDepthMetric(name)}
}
