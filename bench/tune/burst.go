package tune

import (
	"context"
	"fmt"
	"math"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
)

// fits is the score up to which a model is taken for the measured one: where
// 2.4 standard deviations are the rule.
const fits = 6

// fitBursts chooses the spread of the service time, where the work durations
// leave it open, and the arrivals, by how long keys waited. Arrivals at random
// are kept unless they can't explain the waits.
func (f *fit) fitBursts(ctx context.Context, seed uint64, progress func(string)) (outcome, error) {
	f.Bursts = "at random (Poisson), which explains the waits"
	t := trial{f, seed, 20_000}
	if f.overloaded {
		f.Bursts = "taken to be at random (Poisson): an overloaded queue's waits don't tell"
		f.unknown("bursts: the queue was overloaded, so its waits tell of the overload")
		return t.run(ctx)
	}
	best, err := f.chooseShape(ctx, t, progress)
	if err != nil || best.score <= fits {
		return best, err
	}
	measured := f.wait.Mean()
	if best.mean > measured {
		return f.even(ctx, t, best)
	}
	few, err := f.fewKeys(ctx, t, best, progress)
	if err != nil || few.keys == 0 || few.score <= fits {
		if err != nil || few.keys != 0 {
			return few.outcome, err
		}
		return f.bursty(ctx, t, best, progress)
	}
	r := &f.Model.Spec.Resources[0]
	random := r.Events.Arrivals
	bursts, err := f.bursty(ctx, t, best, progress)
	if err != nil || bursts.score <= few.score {
		return bursts, err
	}
	r.Events.Arrivals, f.Dispersion = random, 1
	f.onKeys(few)
	return few.outcome, nil
}

// few is an outcome with few keys; 0 if many explain the waits as well.
type few struct {
	outcome
	keys int
	rate float64
}

func (f *fit) onKeys(x few) {
	r := &f.Model.Spec.Resources[0]
	r.Count, r.Events.Arrivals.Rate = x.keys, x.rate
	f.RawRate, f.Coalesced = x.rate, 1-f.ArrivalRate/x.rate
	f.Bursts = fmt.Sprintf("at random (Poisson) on few keys, about %d, which wait while they are worked on", x.keys)
	f.doubt("keys waited longer than many keys would; about %d that often change while they are worked on explain it best; --keys says how many there are", x.keys)
}

// fewKeys tries small numbers of keys: one that changes again while it is
// worked on waits for that, however idle the other workers are.
func (f *fit) fewKeys(ctx context.Context, t trial, many outcome, progress func(string)) (few, error) {
	r := &f.Model.Spec.Resources[0]
	best := few{outcome: many}
	if r.Count != keysUnknown {
		return best, nil
	}
	rate := r.Events.Arrivals.Rate
	for _, keys := range []int{3, 6, 12, 25, 50, 100, 200} {
		hidden := f.ArrivalRate * f.wait.Mean() / float64(keys)
		if hidden > 0.9 {
			continue
		}
		progress(fmt.Sprintf("%d keys", keys))
		r.Count, r.Events.Arrivals.Rate = keys, f.ArrivalRate/(1-hidden)
		x, err := t.run(ctx)
		if err != nil {
			return best, err
		}
		if x.score < best.score/1.5 {
			best = few{x, keys, r.Events.Arrivals.Rate}
		}
	}
	r.Count, r.Events.Arrivals.Rate = keysUnknown, rate
	if best.keys != 0 && best.score <= fits {
		f.onKeys(best)
	}
	return best, nil
}

// chooseShape tries the shapes that the work durations don't tell apart.
func (f *fit) chooseShape(ctx context.Context, t trial, progress func(string)) (outcome, error) {
	shapes := []shape{f.shape}
	if f.throttled {
		// The work durations hold the waits for the limit, too.
		shapes = []shape{{family: "constant"}}
		for _, cv := range []float64{0.3, 0.5, 0.7, 1, 1.5} {
			shapes = append(shapes, shape{family: "gamma", cv: cv})
		}
		for _, cv := range []float64{0.5, 1, 1.7, 3} {
			shapes = append(shapes, shape{family: "lognormal", cv: cv})
		}
	} else {
		low, high := f.shape.cv, f.shape.cv
		for _, s := range f.service.plausible {
			low, high = min(low, s.cv), max(high, s.cv)
		}
		if high > 1.2*low+0.05 {
			f.unknown("the spread of the service time from its buckets alone: coefficients of variation from %.2g to %.2g fit them; the waits decide", low, high)
			last := math.Inf(-1)
			for i := range 7 {
				want := low + (high-low)*float64(i)/6
				s := nearest(f.service.plausible, want)
				if s.cv > last+0.03 {
					shapes = append(shapes, s)
				}
				last = s.cv
			}
		}
	}
	var best outcome
	chosen := shapes[0]
	sum, logs, heavy := 0.0, 0.0, 0.0
	for i, s := range shapes {
		progress(fmt.Sprintf("spread of the service time, %d of %d", i+1, len(shapes)))
		f.setService(s, 1)
		x, err := t.run(ctx)
		if err != nil {
			return best, err
		}
		// The likeliest by the work durations stands unless another is clearly
		// closer by the waits.
		if i == 0 || x.score < best.score-0.3 {
			best, chosen = x, s
		}
		weight := math.Exp(-4 * x.score)
		sum, logs = sum+weight, logs+weight*math.Log(max(s.cv, 0.1))
		if s.family == "lognormal" {
			heavy += weight
		}
	}
	if f.throttled && best.score <= fits && sum > 0 {
		// Many spreads explain the waits about as well: their middle is nearer to
		// the truth than the one that happens to come out first.
		chosen = shape{family: "gamma", cv: math.Exp(logs / sum)}
		if heavy > sum/2 {
			chosen.family = "lognormal"
		}
		f.setService(chosen, 1)
		return t.run(ctx)
	}
	f.setService(chosen, 1)
	return best, nil
}

func nearest(list []shape, cv float64) shape {
	best := list[0]
	for _, s := range list {
		if math.Abs(s.cv-cv) < math.Abs(best.cv-cv) {
			best = s
		}
	}
	return best
}

// even tries arrivals that are evenly spaced, for keys that wait less than they
// would at random.
func (f *fit) even(ctx context.Context, t trial, random outcome) (outcome, error) {
	a := &f.Model.Spec.Resources[0].Events.Arrivals
	was := *a
	a.Kind = "constant"
	x, err := t.run(ctx)
	if err != nil {
		return x, err
	}
	if x.score < random.score/2 {
		f.Bursts, f.Dispersion = "evenly spaced", 0.05
		return x, nil
	}
	*a = was
	f.Bursts = "taken to be at random (Poisson), though the keys waited less than that explains"
	f.doubt("keys waited %s on average, less than the %s that %d workers explain: there are more workers, or the arrivals are more even", Duration(f.wait.Mean()), Duration(random.mean), f.current.Workers)
	return random, nil
}

// bursty looks for bursts that explain the waits: how long they are and how far
// apart.
func (f *fit) bursty(ctx context.Context, t trial, random outcome, progress func(string)) (outcome, error) {
	a := &f.Model.Spec.Resources[0].Events.Arrivals
	rate := a.Rate
	best, chosen := random, *a
	duty, cycle := 0.0, 0.0
	type attempt struct{ duty, cycle, score float64 }
	var all []attempt
	try := func(share, period float64) error {
		if !(share > 0.004 && share < 0.97 && period*rate > 0.5 && period < f.Interval/2) {
			return nil
		}
		*a = loadgen.Arrivals{Kind: "onoff", Rate: rate, On: exponential(share * period), Off: exponential((1 - share) * period)}
		x, err := t.run(ctx)
		if err != nil {
			return err
		}
		all = append(all, attempt{share, period, x.score})
		if x.score < best.score {
			best, chosen, duty, cycle = x, *a, share, period
		}
		return nil
	}
	tried := 0
	for _, share := range []float64{0.5, 0.2, 0.08, 0.03} {
		for period := max(2/rate, f.Busy); period < f.Interval/2; period *= 4 {
			progress(fmt.Sprintf("bursts, %d tried", tried))
			if tried++; tried > 40 {
				break
			}
			if err := try(share, period); err != nil {
				return best, err
			}
		}
	}
	for _, step := range []float64{1.7, 1.3} {
		for _, change := range [][2]float64{{step, 1}, {1 / step, 1}, {1, step}, {1, 1 / step}} {
			if duty > 0 {
				if err := try(duty*change[0], cycle*change[1]); err != nil {
					return best, err
				}
			}
		}
	}
	if duty > 0 && best.score <= fits {
		// Many bursts explain the waits about as well: their middle is nearer to
		// the truth than the one that happens to come out first.
		sum, logDuty, logCycle := 0.0, 0.0, 0.0
		for _, x := range all {
			weight := math.Exp(-4 * (x.score - best.score))
			sum, logDuty, logCycle = sum+weight, logDuty+weight*math.Log(x.duty), logCycle+weight*math.Log(x.cycle)
		}
		sharpest := best
		best.score += 1
		if err := try(math.Exp(logDuty/sum), math.Exp(logCycle/sum)); err != nil {
			return sharpest, err
		}
	}
	if duty == 0 || best.score > random.score/2 {
		*a = loadgen.Arrivals{Kind: "poisson", Rate: rate}
		f.Bursts = "taken to be at random (Poisson), though the keys waited longer than that explains"
		f.doubt("keys waited %s on average, more than the %s that arrivals at random and %d workers explain, and no bursts explain it better", Duration(f.wait.Mean()), Duration(random.mean), f.current.Workers)
		return random, nil
	}
	*a = chosen
	// Of the counts over long windows, for exponential phases.
	f.Dispersion = 1 + 2*rate*cycle*(1-duty)*(1-duty)
	f.unknown("how long bursts are from how dense they are: several pairs explain the waits, so predictions far from the current settings may be off by a factor of three; a trace of the events (--trace) tells")
	f.Bursts = fmt.Sprintf("in bursts of %s every %s on average, with %.3g arrivals a second in them", Duration(duty*cycle), Duration(cycle), rate/duty)
	return best, nil
}

func exponential(mean float64) randvar.Dist {
	d, err := randvar.Parse("exp(" + seconds(mean) + ")")
	if err != nil {
		return randvar.Dist{}
	}
	return d
}
