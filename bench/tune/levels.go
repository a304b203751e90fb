package tune

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/sim"
	"k8s.io/apimachinery/pkg/watch"
)

// levels are two rates in turn, at random at both: of a share of the time a high one,
// else a low one. A depth of 0 is no difference, of 1 a low rate of 0.
type levels struct {
	share, depth float64
	events       float64 // arrivals a cycle; 0: there is one level
}

// rates are the high and the low one.
func (l levels) rates(rate float64) (high, low float64) {
	return rate * (1 + l.depth*(1/l.share-1)), rate * (1 - l.depth)
}

// told puts them into words. Cycles may be longer, which nothing in the waits tells.
func (l levels) told(rate float64) string {
	high, low := l.rates(rate)
	return fmt.Sprintf("%.3g a second for %.0f%% of the time and else at %.3g", high, 100*l.share, low)
}

func (l levels) period(rate float64) float64 { return l.events / rate }

// dispersion is of the counts over long windows, if the phases' lengths are
// exponential: of the simulated ones, which are all alike, it would tell nothing.
func (l levels) dispersion() float64 {
	high, low := l.rates(1)
	idle := l.share * (1 - l.share)
	return 1 + 2*(high-low)*(high-low)*idle*idle*l.events
}

func (l levels) arrivals(r *loadgen.Resource) func(seed uint64) sim.Arrivals {
	rate := r.Events.Arrivals.Rate
	return func(seed uint64) sim.Arrivals {
		a := &alternating{keys: r.Count, random: rand.New(rand.NewPCG(seed, 3<<33))}
		a.rates[0], a.rates[1] = l.rates(rate)
		period := l.period(rate)
		a.lengths = [2]float64{l.share * period, (1 - l.share) * period}
		a.end = a.lengths[0] * a.random.Float64()
		return a
	}
}

// alternating draws arrivals of two levels.
type alternating struct {
	keys           int
	random         *rand.Rand
	rates, lengths [2]float64
	level          int
	at, end        float64
}

func (a *alternating) Next() (loadgen.Draw, bool) {
	for {
		if a.at += a.random.ExpFloat64() / a.rates[a.level]; a.at < a.end {
			return loadgen.Draw{At: time.Duration(a.at * 1e9), Key: uint32(a.random.IntN(a.keys)), Type: watch.Modified}, true
		}
		a.at, a.level = a.end, 1-a.level
		a.end += a.lengths[a.level]
	}
}

// levels tries loads that are higher at some times than at others, without pauses: by
// day than by night, say. How far apart the rates are follows from how long keys
// waited. Cycles much longer than waits all do the same to them, so one stands for
// these.
func (f *fit) levels(ctx context.Context, t trial, others []outcome, progress func(string)) (all []candidate, tried []outcome, err error) {
	for _, events := range []float64{200, 2000} {
		var g grid
		try := func(share float64) error {
			progress(fmt.Sprintf("two rates in turn, %d tried", len(all)+len(g.all)))
			const steep = 3 // about the power of the depth that waits go with
			x, c, _, err := f.matched(ctx, t, steep*math.Log(0.05), 0, steep*math.Log(0.5), func(depth float64) {
				f.flow = flow{levels: levels{share, math.Exp(depth / steep), events}}
			})
			f.flow = flow{}
			g.add(share, c, x)
			return err
		}
		for _, share := range []float64{0.1, 0.2, 0.35, 0.5, 0.65, 0.8} {
			if err := try(share); err != nil {
				return nil, nil, err
			}
		}
		if err := g.closer(least(others), try); err != nil {
			return nil, nil, err
		}
		some, outcomes := g.candidates()
		all, tried = append(all, some...), append(tried, outcomes...)
	}
	return all, tried, nil
}
