package tune

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/sim"
)

// trial is how the model is compared with the measurement: simulations as long
// as it, as far as that can be paid for.
type trial struct {
	f       *fit
	seed    uint64
	longest float64 // arrivals
}

// outcome is a model's distance from the measurement: the mean square of the
// differences in units of their standard deviation.
type outcome struct {
	score   float64
	figures []figure
	shorter float64 // standard deviation of such a measurement from the simulations' mean, to that of a simulation
	mean    float64 // of the wait
	scatter float64 // standard deviation of its logarithm from one such measurement to the next
	drift   float64 // the same of how much arrives
	results []sim.Result
	length  time.Duration
}

const (
	trials = 8
	warmup = 10 // the part of a trial's length for which nothing is counted before: what is measured has run for a while
)

// reach is how many seconds are simulated at most, where bursts come seldom.
func (t trial) reach() float64 { return min(t.f.Interval, 5*t.longest/t.f.ArrivalRate) }

// run simulates the settings that the load was measured under.
func (t trial) run(ctx context.Context) (outcome, error) {
	m := *t.f.Model
	m.samples = nil
	span := min(t.reach(), max(t.longest/m.ArrivalRate, 10*m.cycle().Seconds()))
	length := time.Duration(span * 1e9)
	spec := *m.Spec
	spec.Duration = length + length/warmup
	m.Spec, m.length = &spec, length
	var count *counting
	var results []sim.Result
	var err error
	if m.series.known() && m.Coalesced < 0.1 {
		count = newCounting(m.series, m.ArrivalRate)
		results, err = count.simulate(ctx, &m, t.f.current.Settings, trials, t.seed)
	} else {
		results, err = m.simulate(ctx, t.f.current.Settings, effort{replicas: trials}, t.seed)
	}
	if err != nil {
		return outcome{}, err
	}
	// A shorter simulation scatters more than the measurement, and the mean of
	// all has its own error.
	c := comparison{outcome: outcome{results: results, length: length, shorter: math.Sqrt(span/m.Interval + 1.0/trials)}}
	c.durations(m.wait, waits)
	if t.f.throttled {
		c.durations(m.work, func(r sim.Result) durations.Histogram { return r.Work })
		if m.limiter.Count() > 0 && m.Background < 0.02*m.CallRate {
			c.durations(m.limiter, func(r sim.Result) durations.Histogram { return r.Throttle })
		}
	}
	c.adds(m.AddRate)
	if count != nil {
		for _, g := range count.figures(&m) {
			c.figures = append(c.figures, g)
			c.differ(g, g.floor, 1)
		}
	}
	c.score /= c.n
	for _, r := range results {
		c.mean += r.QueueWait.Mean().Seconds() / trials
	}
	_, deviation := moments(logMeans(results, waits))
	c.scatter = deviation * c.shorter
	return c.outcome, nil
}

// A comparison is an outcome on the way: score is a sum, of n squares.
type comparison struct {
	outcome
	n float64
}

// differ adds the square of a figure's difference, in units of its standard deviation, which
// is at least the floor.
func (c *comparison) differ(g figure, floor, weight float64) {
	mean, deviation := moments(g.values)
	z := (g.measured - mean) / math.Hypot(deviation*c.shorter, floor)
	c.score += weight * z * z
	c.n += weight
}

// durations compares a histogram: the share of each bucket, and the mean.
func (c *comparison) durations(h scrape.Histogram, of func(sim.Result) durations.Histogram) {
	h = coarsened(h)
	bounds := boundsOf(h)
	below := make([][]float64, len(c.results))
	for k, r := range c.results {
		below[k] = upTo(of(r), bounds)
	}
	before := make([]float64, len(c.results))
	sum := 0.0
	for i, count := range h.Counts {
		var shares []float64
		for k := range c.results {
			shares = append(shares, below[k][i]-before[k])
			before[k] = below[k][i]
		}
		if sum += count / h.Count(); i < len(bounds) {
			c.figures = append(c.figures, figure{sum, slices.Clone(before), 0.002})
		}
		share := figure{measured: count / h.Count(), values: shares}
		if mean, _ := moments(shares); max(mean, share.measured) >= 0.005 {
			c.differ(share, 0.01, 1)
		}
	}
	mean := figure{math.Log(floor/5 + h.Mean()), logMeans(c.results, of), 0.01}
	c.differ(mean, 0.03, 2)
	c.figures = append(c.figures, mean)
}

// adds compares the rate of adds: a model on which more or fewer of them coalesce than did
// is another load.
func (c *comparison) adds(rate float64) {
	var logs []float64
	for _, r := range c.results {
		logs = append(logs, math.Log(max(1, float64(r.Adds))/r.Load.Seconds()))
	}
	g := figure{math.Log(rate), logs, 0.01}
	_, deviation := moments(logs)
	c.drift = math.Hypot(deviation*c.shorter, 0.01)
	c.differ(g, 0.03, 2)
	c.figures = append(c.figures, g)
}

func waits(r sim.Result) durations.Histogram { return r.QueueWait }

// logMeans are the logarithms of the simulations' means.
func logMeans(results []sim.Result, of func(sim.Result) durations.Histogram) (logs []float64) {
	for _, r := range results {
		logs = append(logs, math.Log(floor/5+of(r).Mean().Seconds()))
	}
	return logs
}

// again simulates the likely candidates once more: from few simulations how much
// a figure scatters is little known, and one whose scatter seems less than it is
// would be believed alone.
func (f *fit) again(ctx context.Context, t trial, all []candidate, tried []outcome, progress func(string)) error {
	defer f.take(f.now())
	t.seed++
	logs := logLikelihoods(tried)
	for i, c := range all {
		logs[i] += c.log
	}
	most := slices.Max(logs)
	for i, c := range all {
		if logs[i] < most-5 {
			continue
		}
		progress("the likeliest once more")
		f.take(c)
		x, err := t.run(ctx)
		if err != nil {
			return err
		}
		tried[i] = tried[i].with(x)
	}
	return nil
}

// with joins the simulations of the same model.
func (x outcome) with(y outcome) outcome {
	x.figures = slices.Clone(x.figures)
	for i, f := range y.figures {
		x.figures[i].values = slices.Concat(x.figures[i].values, f.values)
	}
	n := float64(len(x.results))
	x.results = slices.Concat(x.results, y.results)
	x.shorter = math.Sqrt(x.shorter*x.shorter - 1/n + 1/float64(len(x.results)))
	x.score, x.mean, x.scatter, x.drift = (x.score+y.score)/2, (x.mean+y.mean)/2, (x.scatter+y.scatter)/2, (x.drift+y.drift)/2
	return x
}

// upTo are the shares of what lies in the first buckets up to each; none of nothing.
func upTo(d durations.Histogram, bounds []time.Duration) []float64 {
	all := 0.0
	if d.Count() > 0 {
		all = 1
	}
	return append(d.Below(bounds...), all)
}

func boundsOf(h scrape.Histogram) []time.Duration {
	bounds := make([]time.Duration, len(h.Bounds))
	for i, b := range h.Bounds {
		bounds[i] = time.Duration(math.Round(b * 1e9))
	}
	return bounds
}

func moments(list []float64) (mean, deviation float64) {
	for _, x := range list {
		mean += x / float64(len(list))
	}
	for _, x := range list {
		deviation += (x - mean) * (x - mean) / float64(len(list)-1)
	}
	return mean, math.Sqrt(deviation)
}
