package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

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
	best, err := f.chooseShape(ctx, t, f.shapes(), progress)
	if err != nil || best.score <= fits {
		return best, err
	}
	// Little room makes short simulations differ by much: what they rule out gets
	// another chance in longer ones.
	progress("arrivals at random, for longer")
	long := t
	long.longest *= 5
	if x, err := long.run(ctx); err != nil || x.score <= fits {
		return x, err
	}
	// The waits may be those of a service time with two humps.
	was, unmixed := f.shape, f.samples
	two, err := f.humped(ctx, t, progress)
	if err != nil || two.score <= min(fits, best.score/2) {
		return two, err
	}
	f.samples = unmixed
	f.setService(was, 1)
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
	samples := f.samples
	bursts, err := f.bursty(ctx, t, best, progress)
	if err != nil || bursts.score <= few.score {
		return bursts, err
	}
	f.samples = samples
	r.Events.Arrivals, f.Dispersion = random, 1
	f.onKeys(few)
	return few.outcome, nil
}

// humped tries work of two kinds.
func (f *fit) humped(ctx context.Context, t trial, progress func(string)) (outcome, error) {
	if f.throttled {
		return f.mixed(ctx, t, progress)
	}
	return f.chooseShape(ctx, t, some(humps(f.work, f.Busy), 10), progress)
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
	f.arrive(r.Events.Arrivals)
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

// shapes are those that the work durations don't tell apart.
func (f *fit) shapes() []likely {
	if f.throttled {
		// The work durations hold the waits for the limit, too.
		shapes := []likely{{shape: shape{family: "constant"}}}
		for _, cv := range []float64{0.3, 0.5, 0.7, 1, 1.4, 2} {
			shapes = append(shapes, likely{shape: shape{family: "gamma", cv: cv}})
		}
		for _, cv := range []float64{0.35, 0.5, 0.7, 1, 1.4, 2, 3} {
			shapes = append(shapes, likely{shape: shape{family: "lognormal", cv: cv}})
		}
		return shapes
	}
	shapes := f.service.plausible
	if len(shapes) == 0 {
		return []likely{{shape: f.shape}}
	}
	low, high := shapes[0].cv, shapes[0].cv
	for _, s := range shapes {
		low, high = min(low, s.cv), max(high, s.cv)
	}
	if high > 1.2*low+0.05 {
		f.unknown("the spread of the service time from its buckets alone: coefficients of variation from %.2g to %.2g fit them; the waits decide", low, high)
	}
	return append(some(shapes, 10), some(f.service.rather, 8)...)
}

// some are the most shapes that can be tried, evenly by their spread.
func some(shapes []likely, most int) []likely {
	slices.SortFunc(shapes, func(a, b likely) int { return cmp.Compare(a.cv, b.cv) })
	var list []likely
	for i := range min(most, len(shapes)) {
		list = append(list, shapes[i*(len(shapes)-1)/max(1, min(most, len(shapes))-1)])
	}
	return list
}

// chooseShape weighs shapes by the work durations and by the waits.
func (f *fit) chooseShape(ctx context.Context, t trial, shapes []likely, progress func(string)) (outcome, error) {
	var all []candidate
	var tried []outcome
	for i, s := range shapes {
		progress(fmt.Sprintf("spread of the service time, %d of %d", i+1, len(shapes)))
		f.setService(s.shape, 1)
		x, err := t.run(ctx)
		if err != nil {
			return x, err
		}
		c := f.now()
		c.log = s.log
		all, tried = append(all, c), append(tried, x)
	}
	if len(all) == 0 {
		return outcome{score: math.Inf(1)}, nil
	}
	return f.believe(all, tried), nil
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
		f.arrive(*a)
		return x, nil
	}
	*a = was
	f.Bursts = "taken to be at random (Poisson), though the keys waited less than that explains"
	f.doubt("keys waited %s on average, less than the %s that %d workers explain: there are more workers, or the arrivals are more even", Duration(f.wait.Mean()), Duration(random.mean), f.current.Workers)
	return random, nil
}

// bursty looks for bursts that explain the waits. Many do, from short and sharp
// to long and gentle ones, each with its own length: for every share of the time
// that is burst, the length that gives the mean wait. What is believed is
// weighed by the buckets; each share is as probable beforehand as another.
func (f *fit) bursty(ctx context.Context, t trial, random outcome, progress func(string)) (outcome, error) {
	a := &f.Model.Spec.Resources[0].Events.Arrivals
	was, rate := f.now(), a.Rate
	if !f.throttled {
		f.setService(f.service.shape, 1) // without regard to the waits
	}
	var all []candidate
	var tried []outcome
	most := math.Log(rate * f.Interval / 6)
	shares := []float64{0.005, 0.02, 0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.37, 0.45, 0.55, 0.7}
	for _, kind := range []func(float64) randvar.Dist{exponential, fixed} {
		size := math.Log(max(2, rate*f.wait.Mean())) // arrivals in a burst, as a logarithm
		for i, share := range shares {
			low, high := math.Log(1.5), most
			var found outcome
			var chosen candidate
			nearest := math.Inf(1)
			for step := range 5 {
				progress(fmt.Sprintf("bursts, %d tried", 5*len(all)+step))
				size = min(max(size, low), high)
				period := math.Exp(size) / rate
				*a = loadgen.Arrivals{Kind: "onoff", Rate: rate, On: kind(share * period), Off: exponential((1 - share) * period)}
				x, err := t.run(ctx)
				if err != nil {
					f.Model.take(was)
					return random, err
				}
				off := math.Log((f.wait.Mean() + floor/5) / (x.mean + floor/5))
				if math.Abs(off) < nearest {
					nearest, found, chosen = math.Abs(off), x, f.now()
				}
				if nearest < 0.05 {
					break
				}
				if off > 0 {
					low = size
				} else {
					high = size
				}
				if high-low < 0.03 {
					break
				}
				if size += min(max(off/1.3, -1.5), 1.5); size <= low || size >= high {
					size = (low + high) / 2
				}
			}
			if most-low < 0.05 {
				break // so gentle a burst never makes keys wait as long
			}
			// The part of all shares that this one stands for.
			chosen.log = math.Log(shares[min(i+1, len(shares)-1)] - shares[max(i-1, 0)])
			all, tried = append(all, chosen), append(tried, found)
		}
	}
	best, samples := random, f.samples
	if len(all) > 0 {
		best = f.believe(all, tried)
	}
	if best.score >= random.score/2 {
		f.samples = samples
		f.Model.take(was)
		f.Bursts = "taken to be at random (Poisson), though the keys waited longer than that explains"
		f.doubt("keys waited %s on average, more than the %s that arrivals at random and %d workers explain, and no bursts explain it better", Duration(f.wait.Mean()), Duration(random.mean), f.current.Workers)
		return random, nil
	}
	f.burstsTold(rate)
	return best, nil
}

// burstsTold puts the bursts that are believed in into words.
func (f *fit) burstsTold(rate float64) {
	duty := func(c candidate) float64 { return c.arrivals.On.Mean() / cycleOf(c.arrivals).Seconds() }
	list := slices.SortedFunc(slices.Values(f.samples), func(a, b candidate) int { return cmp.Compare(duty(a), duty(b)) })
	middle := list[len(list)/2]
	f.Model.take(middle)
	cycle := cycleOf(middle.arrivals).Seconds()
	// Of the counts over long windows, for exponential phases.
	f.Dispersion = 1 + 2*rate*cycle*(1-duty(middle))*(1-duty(middle))
	f.Bursts = fmt.Sprintf("in bursts of %s every %s on average, with %.3g arrivals a second in them", Duration(middle.arrivals.On.Mean()), Duration(cycle), rate/duty(middle))
	text := func(c candidate) string {
		return fmt.Sprintf("%s every %s", Duration(c.arrivals.On.Mean()), Duration(cycleOf(c.arrivals).Seconds()))
	}
	f.unknown("how long bursts are from how dense they are: anything from %s to %s explains the waits, and predictions are the middle of these; far from the current settings they may be off by a factor of three; a trace of the events (--trace) tells", text(list[0]), text(list[len(list)-1]))
}

func fixed(mean float64) randvar.Dist {
	d, _ := randvar.Parse(seconds(mean))
	return d
}

func exponential(mean float64) randvar.Dist {
	d, err := randvar.Parse("exp(" + seconds(mean) + ")")
	if err != nil {
		return randvar.Dist{}
	}
	return d
}
