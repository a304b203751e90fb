package infer

import (
	"math"

	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/scrape"
)

// Measured is what is known of one queue. Durations are in seconds, rates a second.
type Measured struct {
	Span       float64 // seconds
	Adds       float64 // a second, retries among them
	Reconciles float64 // that ended
	Wait, Work scrape.Histogram
	Limiter    scrape.Histogram // waits of this queue's calls for the client's limit; none: they were not timed, or are others' too
	Steps      []scrape.Step    // of a series of scrapes
	Controller model.Controller // under which it was measured
	Failure    float64
	Keys       int  // 0: nobody said
	Overloaded bool // the workers had too much to do, so that waits don't tell of bursts
	Grown      bool // the queue grew, so that there are no few keys either
}

// A figure says how one number is compared: the standard deviation of what no model gets right,
// and which part of a simulation's variance that of the measurement is.
type figure struct {
	name      string
	floor, by float64
}

// A yardstick makes figures of what was measured and of what was simulated: the same numbers
// in the same order.
type yardstick struct {
	m       *Measured
	figures []figure
	want    []float64  // measured
	bounds  []float64  // of waits
	limits  []float64  // of waits for the client's limit
	spans   []float64  // of steps
	adds    []float64  // in these
	windows [][][2]int // steps from and up to, for each length of window
	part    float64    // of the measurement's time that will be simulated
	follow  bool       // all of it, so that waits are compared from step to step
}

func newYardstick(m *Measured, part float64) *yardstick {
	y := &yardstick{m: m, part: part}
	y.add("mean wait", 0.02, logMean(m.Wait.Mean()))
	y.add("adds", 0.01, math.Log(m.Adds))
	y.add("mean work", 0.01, math.Log(m.Work.Mean()))
	y.bounds = y.shares("waits up to a bound", m.Wait)
	if m.Limiter.Count() > 0 {
		y.add("mean wait for the limit", 0.05, logMean(m.Limiter.Mean()))
		y.limits = y.shares("waits for the limit up to a bound", m.Limiter)
	}
	if len(m.Steps) >= minSteps {
		y.series()
	}
	return y
}

func (y *yardstick) add(name string, floor, want float64) {
	y.figures, y.want = append(y.figures, figure{name, floor, y.part}), append(y.want, want)
}

// shares adds what lies up to bounds, which it returns. Of what is rare a few simulations see
// nothing, which is no proof that it doesn't happen: it scatters at least as independent counts do.
func (y *yardstick) shares(name string, h scrape.Histogram) []float64 {
	bounds, below := apart(h)
	n := comparable(h)
	for _, x := range logits(below, h) {
		share := 1 / (1 + math.Exp(-x))
		y.add(name, math.Hypot(0.05, 1/math.Sqrt(n*share*(1-share))), x)
	}
	return bounds
}

// series adds how much the counts vary, which is of all of the time: where not all of it will be
// simulated, counts are drawn.
func (y *yardstick) series() {
	var waited []float64
	for _, s := range y.m.Steps {
		y.spans, y.adds, waited = append(y.spans, s.Span), append(y.adds, s.Adds), append(waited, s.Waited)
	}
	for join := 1; len(y.m.Steps)/join >= minSteps; join *= 3 {
		if w := windows(y.m.Steps, join); len(w) >= minSteps {
			y.windows = append(y.windows, w)
		}
	}
	for _, x := range y.dispersions(y.adds) {
		y.add("dispersion of the adds", 0.05, x)
		y.figures[len(y.figures)-1].by = 1
	}
	if y.follow = y.part == 1; y.follow {
		y.add("unevenness of the waits", 0.1, y.unevenness(waited))
	}
}

// apart are the bounds that tell more than the one before, up to eight, and which share lies
// below each.
func apart(h scrape.Histogram) (bounds, below []float64) {
	sum, last, n := 0.0, -1.0, h.Count()
	for i, b := range h.Bounds {
		sum += h.Counts[i]
		if b < 0.999*floor || last > 1-1/n || len(bounds) == 8 {
			continue
		}
		if share := sum / n; share > last+0.01 || share > 0.9 && share > last {
			bounds, below, last = append(bounds, b), append(below, share), share
		}
	}
	return bounds, below
}

func logMean(x float64) float64 { return math.Log(floor/5 + x) }

// comparable is of how many a share counts: a simulation need not be as long as the measurement.
func comparable(h scrape.Histogram) float64 { return min(h.Count(), 20_000) }

// logits are of shares of what a histogram counts, so that none and all have a value.
func logits(shares []float64, h scrape.Histogram) (list []float64) {
	n := comparable(h)
	for _, share := range shares {
		list = append(list, math.Log((share*n+0.5)/((1-share)*n+0.5)))
	}
	return list
}

// simulated are the figures of a simulation. Counts are those of all steps, of arrivals that
// may be other ones, unless its own are compared.
func (y *yardstick) simulated(r *model.Result, counts []float64) []float64 {
	list := []float64{logMean(r.Wait.Mean()), math.Log(max(1, float64(r.Adds)) / r.Length), math.Log(max(1e-9, r.Work.Mean()))}
	list = append(list, logits(r.Wait.Below(y.bounds), y.m.Wait)...)
	if y.m.Limiter.Count() > 0 {
		list = append(list, logMean(r.Throttle.Mean()))
		list = append(list, logits(r.Throttle.Below(y.limits), y.m.Limiter)...)
	}
	if y.follow {
		var adds, waited []float64
		for _, s := range r.Steps {
			adds, waited = append(adds, s.Adds), append(waited, s.Waited)
		}
		return append(append(list, y.dispersions(adds)...), y.unevenness(waited))
	}
	for _, x := range y.dispersions(counts) {
		// A failure adds its key again, at some time in the same window.
		list = append(list, math.Log((y.m.Failure+math.Exp(x))/(1-y.m.Failure)))
	}
	return list
}

// windows are so many steps at a time, those that follow each other without a gap.
func windows(steps []scrape.Step, join int) (list [][2]int) {
	for i := 0; i+join <= len(steps); i += join {
		whole := true
		for k := i + 1; k < i+join; k++ {
			before := steps[k-1]
			whole = whole && math.Abs(before.Begin+before.Span-steps[k].Begin) < 0.2*steps[k].Span
		}
		if whole {
			list = append(list, [2]int{i, i + join})
		}
	}
	return list
}

// dispersions are the logarithms of the indices of dispersion of the counts, over windows of
// each length: 0 of arrivals at random.
func (y *yardstick) dispersions(counts []float64) (logs []float64) {
	for _, w := range y.windows {
		logs = append(logs, math.Log(max(0.05, dispersion(counts, y.spans, w))))
	}
	return logs
}

// dispersion is the index of dispersion: 1 of arrivals at random, and how many arrive at once
// if they come in batches; 0 if none come. The windows need not be of one length.
func dispersion(counts, spans []float64, windows [][2]int) float64 {
	var all, seconds float64
	adds, lengths := make([]float64, len(windows)), make([]float64, len(windows))
	for i, w := range windows {
		for k := w[0]; k < w[1]; k++ {
			adds[i] += counts[k]
			lengths[i] += spans[k]
		}
		all, seconds = all+adds[i], seconds+lengths[i]
	}
	if all == 0 {
		return 0
	}
	rate, sum := all/seconds, 0.0
	for i := range windows {
		off := adds[i] - rate*lengths[i]
		sum += off * off / (rate * lengths[i])
	}
	return sum / float64(len(windows)-1)
}

// unevenness is how unlike the steps are in what keys waited in them: the logarithm of the
// coefficient of variation of the depth of the queue.
func (y *yardstick) unevenness(waited []float64) float64 {
	depths := make([]float64, len(waited))
	for i, x := range waited {
		depths[i] = x / y.spans[i]
	}
	mean, deviation := moments(depths)
	return math.Log(0.05 + deviation/max(mean, 1e-9))
}
