package priority

import (
	"github.com/informerbench/informerbench/impl/internal/core"
	"k8s.io/client-go/util/workqueue"
)

// measure gives the queue its metrics, if it has a name and a provider. The meter
// does not run yet.
func (q *priorityQueue[T]) measure(config Config[T]) {
	q.Workers.Init(nil)
	provider := config.MetricsProvider
	if !core.Reports(config.Name, provider, true) {
		return
	}
	q.Keys.KeepTimes()
	q.depth = newLevelDepth(provider, config.Name)
	q.Meter = core.NewMeter(config.Name, depthProvider{provider, q.depth}, config.Clock)
	q.retries = core.Made(provider.NewRetriesMetric(config.Name), "retries", config.Name)
}

// countAdd counts an item that becomes ready, and keeps when. If that panics, an entry
// that was made for the item goes.
func (q *priorityQueue[T]) countAdd(slot uint32, priority int) {
	q.Count(q.eligible, func() {
		counted := false
		defer func() {
			if !counted {
				q.Release(slot, q.Keys.At(slot))
			}
		}()
		q.depth.priority = priority
		q.Keys.Times(slot).Added = q.Meter.Add()
		counted = true
	})
}

// update sets the metrics of what is in processing.
func (q *priorityQueue[T]) update() {
	q.Lock()
	defer q.Unlock()
	if !q.Closed.Load() {
		q.Meter.Unfinished(q.Started)
	}
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

// DepthByPriority is the depth of a queue by priority. It is an alias, so that a provider
// need not import this package.
type DepthByPriority = interface {
	Inc(priority int)
	Dec(priority int)
}

func newLevelDepth(provider workqueue.MetricsProvider, name string) *levelDepth {
	if p, ok := provider.(ProviderByPriority); ok {
		return &levelDepth{leveled: core.Made(p.NewDepthByPriority(name), "depth by priority", name)}
	}
	return &levelDepth{plain: core.Made(provider.NewDepthMetric(name), "depth", name)}
}
