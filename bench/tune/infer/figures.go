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

// A figure says how one number is compared: standard deviations of what no model gets right,
// and whether it is of the part of the time that was simulated or of all of it.
type figure struct {
	name  string
	floor float64
	whole bool
}

// A yardstick makes figures of what was measured and of what was simulated: the same numbers
// in the same order.
type yardstick struct {
	m       *Measured
	figures []figure
	bounds  []float64  // of waits
	limits  []float64  // of waits for the client's limit
	spans   []float64  // of steps
	windows [][][2]int // steps from and up to, for each length of window
	follow  bool       // waits are compared from step to step
	want    []float64  // measured
}

func (y *yardstick) add(name string, floor float64, whole bool) {
	y.figures = append(y.figures, figure{name, floor, whole})
}

// newYardstick compares series' waits from step to step if follow says that all of it will be
// simulated.
func newYardstick(m *Measured, follow bool) *yardstick {
	y := &yardstick{m: m}
	y.add("mean wait", 0.02, false)
	y.add("adds", 0.01, false)
	y.add("mean work", 0.01, false)
	y.bounds = apart(m.Wait, floor)
	y.shares("waits up to a bound", m.Wait, y.bounds)
	if m.Limiter.Count() > 0 {
		y.add("mean wait for the limit", 0.05, false)
		y.limits = apart(m.Limiter, floor)
		y.shares("waits for the limit up to a bound", m.Limiter, y.limits)
	}
	if len(m.Steps) >= minSteps {
		for _, s := range m.Steps {
			y.spans = append(y.spans, s.Span)
		}
		for join := 1; ; join *= 3 {
			w := windows(m.Steps, join)
			if len(w) < minSteps {
				break
			}
			y.windows = append(y.windows, w)
			y.add("dispersion of the adds", 0.05, !follow)
		}
		if y.follow = follow; follow {
			y.add("unevenness of the waits", 0.1, false)
		}
	}
	y.want = y.measured()
	return y
}

// shares adds what lies up to bounds. Of what is rare a few simulations see nothing, which is no
// proof that it doesn't happen: it scatters at least as independent counts do.
func (y *yardstick) shares(name string, h scrape.Histogram, bounds []float64) {
	n := y.comparable(h.Count())
	for _, x := range logits(h, bounds, n) {
		share := 1 / (1 + math.Exp(-x))
		y.add(name, math.Hypot(0.05, 1/math.Sqrt(n*share*(1-share))), false)
	}
}

// apart are the bounds from least on that tell more than the one before: up to eight.
func apart(h scrape.Histogram, least float64) (list []float64) {
	sum, last, n := 0.0, -1.0, h.Count()
	for i, b := range h.Bounds {
		sum += h.Counts[i]
		if b < 0.999*least || last > 1-1/n || len(list) == 8 {
			continue
		}
		if share := sum / n; share > last+0.01 || share > 0.9 && share > last {
			list, last = append(list, b), share
		}
	}
	return list
}

// logit is of a share of n, so that none of them and all of them have a value.
func logit(share, n float64) float64 {
	return math.Log((share*n + 0.5) / ((1-share)*n + 0.5))
}

func logMean(x float64) float64 { return math.Log(floor/5 + x) }

func (y *yardstick) measured() []float64 {
	m := y.m
	list := []float64{logMean(m.Wait.Mean()), math.Log(m.Adds), math.Log(m.Work.Mean())}
	list = append(list, logits(m.Wait, y.bounds, y.comparable(m.Wait.Count()))...)
	if m.Limiter.Count() > 0 {
		list = append(list, logMean(m.Limiter.Mean()))
		list = append(list, logits(m.Limiter, y.limits, y.comparable(m.Limiter.Count()))...)
	}
	if len(y.windows) > 0 {
		adds := make([]float64, len(m.Steps))
		waited := make([]float64, len(m.Steps))
		for i, s := range m.Steps {
			adds[i], waited[i] = s.Adds, s.Waited
		}
		list = append(list, y.dispersions(adds)...)
		if y.follow {
			list = append(list, y.unevenness(waited))
		}
	}
	return list
}

// comparable is of how many a share counts: a simulation need not be as long as the measurement.
func (y *yardstick) comparable(n float64) float64 { return min(n, 20_000) }

func logits(h scrape.Histogram, bounds []float64, n float64) (list []float64) {
	sum, i := 0.0, 0
	for _, b := range bounds {
		for ; i < len(h.Bounds) && h.Bounds[i] <= b; i++ {
			sum += h.Counts[i]
		}
		list = append(list, logit(sum/h.Count(), n))
	}
	return list
}

// simulated are the figures of a simulation. Counts are those of all steps, of arrivals that
// may be other ones.
func (y *yardstick) simulated(r *model.Result, counts []float64) []float64 {
	list := []float64{logMean(r.Wait.Mean()), math.Log(max(1, float64(r.Adds)) / r.Length), math.Log(max(1e-9, r.Work.Mean()))}
	for _, share := range r.Wait.Below(y.bounds) {
		list = append(list, logit(share, y.comparable(y.m.Wait.Count())))
	}
	if y.m.Limiter.Count() > 0 {
		list = append(list, logMean(r.Throttle.Mean()))
		for _, share := range r.Throttle.Below(y.limits) {
			list = append(list, logit(share, y.comparable(y.m.Limiter.Count())))
		}
	}
	if len(y.windows) > 0 {
		waited := make([]float64, len(r.Steps))
		if y.follow {
			for i, s := range r.Steps {
				counts[i], waited[i] = s.Adds, s.Waited
			}
		}
		for _, log := range y.dispersions(counts) {
			if !y.follow {
				// A failure adds its key again, at some time in the same window.
				log = math.Log((y.m.Failure + math.Exp(log)) / (1 - y.m.Failure))
			}
			list = append(list, log)
		}
		if y.follow {
			list = append(list, y.unevenness(waited))
		}
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
	mean, sum := 0.0, 0.0
	for i, x := range waited {
		mean += x / y.spans[i] / float64(len(waited))
	}
	for i, x := range waited {
		sum += (x/y.spans[i] - mean) * (x/y.spans[i] - mean) / float64(len(waited)-1)
	}
	return math.Log(0.05 + math.Sqrt(sum)/max(mean, 1e-9))
}
