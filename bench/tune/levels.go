package tune

import (
	"fmt"
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
