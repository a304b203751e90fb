package tune

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/informerbench/informerbench/loadgen/sim"
	"k8s.io/apimachinery/pkg/watch"
)

// A flow is a form of arrivals that specs don't have: with gaps of some spread
// that are independent of each other, or at random but for a share of them that
// come in sweeps, so many at once: at even distances, as by a resync, or at random,
// as by a rollout; or at random at two rates in turn.
type flow struct {
	gap    shape
	share  float64
	size   float64  // of a sweep; 0: none
	loose  bool     // sweeps come at random, and period is a mean
	levels levels   // of rates, in turn
	rates  *profile // as measured from step to step
}

func (y flow) own() bool {
	return y.gap.family != "" || y.size > 0 || y.levels.events > 0 || y.rates != nil
}

// period is the time between sweeps, in seconds.
func (y flow) period(rate float64) float64 { return y.size / (y.share * rate) }

// arrivals are at a resource's rate.
func (y flow) arrivals(r *loadgen.Resource) func(seed uint64) sim.Arrivals {
	rate := r.Events.Arrivals.Rate
	if y.levels.events > 0 {
		return y.levels.arrivals(r)
	}
	if y.rates != nil {
		return y.rates.arrivals(r)
	}
	return func(seed uint64) sim.Arrivals {
		a := &stream{keys: r.Count, random: rand.New(rand.NewPCG(seed, 3<<32))}
		if y.size == 0 {
			a.gap, a.sweepAt = y.gap.of(1/rate), math.Inf(1)
		} else {
			a.size, a.period, a.loose = y.size, y.period(rate), y.loose
			a.sweepAt = a.random.Float64() * a.period
			if a.at = math.Inf(1); y.share < 1 {
				a.at, a.gap = 0, randvar.Exponential(1/(rate*(1-y.share)))
			}
		}
		return a
	}
}

// A stream draws a flow's arrivals.
type stream struct {
	keys            int
	random          *rand.Rand
	gap             randvar.Dist
	at              float64 // the next that is in no sweep
	sweepAt, period float64
	swept           float64 // when the last sweep came
	size, left      float64 // of sweeps; still to come of the last one
	sweeping        int     // the key that comes next in a sweep, which holds each once
	loose           bool
}

func (a *stream) Next() (loadgen.Draw, bool) {
	at, key := a.at, a.random.IntN(a.keys)
	switch {
	case a.left >= 1:
		a.left--
		at, key = a.swept, a.nextSwept()
	case a.sweepAt < a.at:
		at, a.swept, a.sweeping = a.sweepAt, a.sweepAt, key
		if a.sweepAt += a.period; a.loose {
			a.sweepAt = at + a.period*a.random.ExpFloat64()
		}
		a.left += a.size - 1 // which may not be whole
	default:
		a.at += a.gap.Sample(a.random)
	}
	return loadgen.Draw{At: time.Duration(at * 1e9), Key: uint32(key), Type: watch.Modified}, true
}

func (a *stream) nextSwept() int {
	a.sweeping = (a.sweeping + 1) % a.keys
	return a.sweeping
}

// matched looks for the value, a logarithm between low and high, with which keys
// wait as long as was measured on average; they wait the longer the larger it is.
func (f *fit) matched(ctx context.Context, t trial, low, high, value float64, set func(float64)) (found outcome, chosen candidate, last float64, err error) {
	nearest := math.Inf(1)
	for range 5 {
		value = min(max(value, low), high)
		set(value)
		x, err := t.run(ctx)
		if err != nil {
			return found, chosen, value, err
		}
		off := f.off(x)
		if math.Abs(off) < nearest {
			nearest, found, chosen = math.Abs(off), x, f.now()
		}
		// What scatters little has to come nearer, or a likely form would seem none.
		if nearest < min(0.05, max(0.01, x.scatter)) {
			break
		}
		if off > 0 {
			low = value
		} else {
			high = value
		}
		if high-low < 0.01 {
			break
		}
		if value += min(max(off/1.3, -1.5), 1.5); value <= low || value >= high {
			value = (low + high) / 2
		}
	}
	chosen.log = math.Log(math.Hypot(found.scatter, 0.01)) // so many values are as good
	return found, chosen, value, nil
}

// off is the logarithm of how many times as long as simulated keys waited.
func (f *fit) off(x outcome) float64 {
	return math.Log((f.wait.Mean() + floor/5) / (x.mean + floor/5))
}

// near drops the candidates with which keys wait less than half or more than
// twice as long as measured, whatever the value that was looked for, and those that
// explain the rest far worse than another does: waits that vary much from one
// simulation to the next make even those likely.
func (f *fit) near(all []candidate, tried []outcome) (left []candidate, outcomes []outcome) {
	most := worth(tried)
	for i, x := range tried {
		if math.Abs(f.off(x)) < math.Ln2 && x.score <= most {
			left, outcomes = append(left, all[i]), append(outcomes, x)
		}
	}
	return left, outcomes
}

// even tries arrivals that are more evenly spaced than at random, for keys that
// wait less than they would then.
func (f *fit) even(ctx context.Context, t trial, random outcome, progress func(string)) (outcome, error) {
	was, samples := f.now(), f.samples
	if !f.throttled {
		f.setService(f.service.shape, 1) // without regard to the waits
	}
	var all []candidate
	var tried []outcome
	for _, cv := range []float64{0, 0.15, 0.25, 0.33, 0.41, 0.5, 0.58, 0.66, 0.74, 0.82, 0.9} {
		progress(fmt.Sprintf("evener arrivals, %d tried", len(all)))
		if f.flow = (flow{gap: shape{family: "gamma", cv: cv}}); cv == 0 {
			f.flow.gap.family = "constant"
		}
		x, err := t.run(ctx)
		if err != nil {
			f.take(was)
			return random, err
		}
		all, tried = append(all, f.now()), append(tried, x)
	}
	f.flow = flow{}
	few, counted, err := f.hotKeys(ctx, t, append(tried, random), progress)
	if err != nil {
		f.take(was)
		return random, err
	}
	best := f.posterior(slices.Concat(all, few), slices.Concat(tried, counted))
	if f.now().hot(was) && best.score < random.score/2 {
		f.describeKeys(was)
		return best, nil
	}
	if best.score < random.score/2 {
		cv := f.flow.gap.cv
		f.Bursts, f.Dispersion = "evenly spaced", max(0.05, cv*cv)
		if cv > 0.2 {
			f.Bursts = fmt.Sprintf("more evenly spaced than at random (the gaps' coefficient of variation is %.2g)", cv)
		}
		return best, nil
	}
	f.take(was)
	f.samples = samples
	if random.score <= fits {
		return random, nil
	}
	f.Bursts = "taken to be at random (Poisson), though the keys waited less than that explains"
	f.doubt("keys waited %s on average, less than the %s of the model with %s: there are more workers, or the arrivals are more even", durations.Seconds(f.wait.Mean()), durations.Seconds(random.mean), brief(Settings{Workers: f.current.Workers}))
	return random, nil
}
