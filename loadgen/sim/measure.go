package sim

import (
	"encoding/json"
	"math"
	"math/bits"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"k8s.io/client-go/util/workqueue"
)

// A Distribution is what was observed of a duration: exact in its count and
// mean, to three digits elsewhere. The zero value has observed nothing.
type Distribution struct {
	sum  float64
	hist *hdrhistogram.Histogram // takes 340 KB, so only once there is something
}

// longest is the largest duration that is told apart from longer ones.
const longest = 1000 * time.Hour

func (d *Distribution) record(value time.Duration) { d.recordMany(value, 1) }

func (d *Distribution) recordMany(value time.Duration, count int64) {
	if d.hist == nil {
		d.hist = hdrhistogram.New(1, int64(longest), 3)
	}
	d.sum += float64(value) * float64(count)
	// In range, so there is no error.
	_ = d.hist.RecordValues(int64(min(max(value, 0), longest)), count)
}

func (d *Distribution) reset() {
	d.sum = 0
	if d.hist != nil && d.hist.TotalCount() > 0 {
		d.hist.Reset()
	}
}

func (d *Distribution) merge(from Distribution) {
	if from.hist == nil {
		return
	}
	if d.hist == nil {
		d.hist = hdrhistogram.New(1, int64(longest), 3)
	}
	d.sum += from.sum
	d.hist.Merge(from.hist)
}

// Pooled is what several simulations observed together.
func Pooled(list []Distribution) Distribution {
	var all Distribution
	for _, d := range list {
		all.merge(d)
	}
	return all
}

// Count is how often it was observed.
func (d Distribution) Count() int64 {
	if d.hist == nil {
		return 0
	}
	return d.hist.TotalCount()
}

// Mean is 0 if nothing was observed, as Max and Quantile are.
func (d Distribution) Mean() time.Duration {
	if d.Count() == 0 {
		return 0
	}
	return time.Duration(d.sum / float64(d.Count()))
}

// Max is the longest.
func (d Distribution) Max() time.Duration {
	if d.Count() == 0 {
		return 0
	}
	return time.Duration(d.hist.Max())
}

// Quantile is the duration that the share q, from 0 to 1, does not exceed.
func (d Distribution) Quantile(q float64) time.Duration {
	if d.Count() == 0 {
		return 0
	}
	return time.Duration(d.hist.ValueAtQuantile(100 * q))
}

// Below is the share of observations up to and with each of the bounds, which
// have to rise; as the buckets of a Prometheus histogram, divided by the count.
func (d Distribution) Below(bounds ...time.Duration) []float64 {
	shares := make([]float64, len(bounds))
	if d.Count() == 0 {
		return shares
	}
	// The counts alone: as bars with their ends they take ten times as long.
	counts := d.hist.Export().Counts
	counted, below := 0, int64(0)
	for i, bound := range bounds {
		for end := min(indexOf(bound)+1, len(counts)); counted < end; counted++ {
			below += counts[counted]
		}
		shares[i] = float64(below) / float64(d.Count())
	}
	return shares
}

// indexOf is the place among the histogram's counts of a duration's: three digits
// take 2048 counts one nanosecond wide, then 1024 for each doubling.
func indexOf(value time.Duration) int {
	if value < 0 {
		return -1
	}
	doublings := max(0, bits.Len64(uint64(value))-11)
	return doublings<<10 + int(value>>doublings)
}

// MarshalJSON writes count, mean, some quantiles and the maximum, in nanoseconds.
func (d Distribution) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Count int64         `json:"count"`
		Mean  time.Duration `json:"meanNanoseconds"`
		P50   time.Duration `json:"p50Nanoseconds"`
		P90   time.Duration `json:"p90Nanoseconds"`
		P99   time.Duration `json:"p99Nanoseconds"`
		P999  time.Duration `json:"p999Nanoseconds"`
		Max   time.Duration `json:"maxNanoseconds"`
	}{d.Count(), d.Mean(), d.Quantile(0.5), d.Quantile(0.9), d.Quantile(0.99), d.Quantile(0.999), d.Max()})
}

// probe is the metrics provider of one queue: what it is told is what
// client-go's metrics of that queue would say.
type probe struct {
	depth, maxDepth int
	adds, retries   int64
	wait, work      Distribution
}

var _ workqueue.MetricsProvider = (*probe)(nil)

// reset forgets all but the depth, which is a level and no count.
func (p *probe) reset() {
	p.maxDepth = p.depth
	p.adds, p.retries = 0, 0
	p.wait.reset()
	p.work.reset()
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

type histogram Distribution

func (h *histogram) Observe(seconds float64) {
	(*Distribution)(h).record(time.Duration(math.Round(seconds * 1e9)))
}

// unused is a gauge that only a goroutine of the queue would set.
type unused struct{}

func (unused) Set(float64) {}
