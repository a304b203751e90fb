package sim

import (
	"math"
	"time"

	"github.com/informerbench/informerbench/loadgen/durations"
	"k8s.io/client-go/util/workqueue"
)

// probe is the metrics provider of one queue: what it is told is what
// client-go's metrics of that queue would say.
type probe struct {
	depth, maxDepth int
	adds, retries   int64
	wait, work      durations.Histogram
}

var _ workqueue.MetricsProvider = (*probe)(nil)

// reset forgets all but the depth, which is a level and no count.
func (p *probe) reset() {
	p.maxDepth = p.depth
	p.adds, p.retries = 0, 0
	p.wait.Reset()
	p.work.Reset()
}

func (p *probe) NewDepthMetric(string) workqueue.GaugeMetric            { return (*depthGauge)(p) }
func (p *probe) NewAddsMetric(string) workqueue.CounterMetric           { return (*counter)(&p.adds) }
func (p *probe) NewRetriesMetric(string) workqueue.CounterMetric        { return (*counter)(&p.retries) }
func (p *probe) NewLatencyMetric(string) workqueue.HistogramMetric      { return (*histogram)(&p.wait) }
func (p *probe) NewWorkDurationMetric(string) workqueue.HistogramMetric { return (*histogram)(&p.work) }
func (p *probe) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return unused{}
}
func (p *probe) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return unused{}
}

type depthGauge probe

func (g *depthGauge) Inc() {
	g.depth++
	g.maxDepth = max(g.maxDepth, g.depth)
}
func (g *depthGauge) Dec() { g.depth-- }

type counter int64

func (c *counter) Inc() { *c++ }

type histogram durations.Histogram

func (h *histogram) Observe(seconds float64) {
	(*durations.Histogram)(h).Record(time.Duration(math.Round(seconds * 1e9)))
}

// unused is a gauge that only a goroutine of the queue would set.
type unused struct{}

func (unused) Set(float64) {}
