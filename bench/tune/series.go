package tune

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/sim"
	"k8s.io/apimachinery/pkg/watch"
)

// A series is what a queue counted from scrape to scrape: how the load varies, which the
// totals of two scrapes don't tell.
type series struct {
	steps []scrape.Step
	total float64 // seconds that the steps cover
}

func newSeries(steps []scrape.Step) series {
	s := series{steps: steps}
	for _, x := range steps {
		s.total += x.Span
	}
	if len(steps) < minSteps {
		return series{}
	}
	return s
}

func (s series) known() bool { return len(s.steps) > 0 }

// A window is a stretch of time and how many keys were added in it.
type window struct{ span, adds float64 }

// windows joins so many steps at a time, those that follow each other without a gap.
func (s series) windows(join int) (list []window) {
	for i := 0; i+join <= len(s.steps); i += join {
		var w window
		whole := true
		for k, x := range s.steps[i : i+join] {
			w.span, w.adds = w.span+x.Span, w.adds+x.Adds
			if k > 0 {
				before := s.steps[i+k-1]
				whole = whole && math.Abs(before.Begin+before.Span-x.Begin) < 0.2*x.Span
			}
		}
		if whole {
			list = append(list, w)
		}
	}
	return list
}

// dispersion is the index of dispersion of the counts: 1 of arrivals at random, and how
// many arrive at once if they come in batches. The windows need not be of one length.
func dispersion(list []window) float64 {
	var all window
	for _, w := range list {
		all.span, all.adds = all.span+w.span, all.adds+w.adds
	}
	rate, sum := all.adds/all.span, 0.0
	for _, w := range list {
		off := w.adds - rate*w.span
		sum += off * off / (rate * w.span)
	}
	return sum / float64(len(list)-1)
}

// joins are how many steps the windows have whose dispersions are compared.
func (s series) joins() (list []int) {
	for join := 1; len(s.windows(join)) >= minSteps; join *= 3 {
		list = append(list, join)
	}
	return list
}

// longRun is the dispersion over the longest windows, of which the uncertainty of the
// measured rate follows without a model of the arrivals.
func (s series) longRun() float64 {
	joins := s.joins()
	return dispersion(s.windows(joins[len(joins)-1]))
}

// A counter notes in which step of a series simulated arrivals come.
type counter struct {
	sim.Arrivals
	begin  time.Duration
	scale  float64 // of the steps' lengths
	next   int     // step
	passed float64 // seconds that the steps before it cover
	steps  []scrape.Step
}

func (c *counter) Next() (loadgen.Draw, bool) {
	d, ok := c.Arrivals.Next()
	at := (d.At - c.begin).Seconds()
	for ok && c.next < len(c.steps) && at >= c.passed+c.scale*c.steps[c.next].Span {
		c.passed += c.scale * c.steps[c.next].Span
		c.next++
	}
	if ok && at >= 0 && c.next < len(c.steps) {
		c.steps[c.next].Adds++
	}
	return d, ok
}

// rest goes on where the simulation ended: to count takes no simulation.
func (c *counter) rest() {
	for ok := true; ok && c.next < len(c.steps); {
		_, ok = c.Next()
	}
}

// counting is of simulations under way.
type counting struct {
	s     series
	scale float64 // of the steps, where as many arrivals as in all of them would take too long
	lock  sync.Mutex
	of    map[uint64]*counter
	err   error
}

// mostCounted is how many arrivals are counted in one simulation.
const mostCounted = 60_000

func newCounting(s series, rate float64) *counting {
	return &counting{s: s, scale: min(1, mostCounted/(rate*s.total)), of: map[uint64]*counter{}}
}

func (c *counting) count(m *Model, r *loadgen.Spec, seed uint64, begin time.Duration) sim.Arrivals {
	c.lock.Lock()
	defer c.lock.Unlock()
	x := &counter{begin: begin, scale: c.scale, steps: slices.Clone(c.s.steps)}
	for i := range x.steps {
		x.steps[i].Adds = 0
	}
	if m.flow.own() {
		x.Arrivals = m.flow.arrivals(&r.Resources[0])(seed)
	} else {
		spec := *r
		spec.Seed = seed
		spec.Duration = max(spec.Duration, begin+time.Duration((c.scale*c.s.total+1)*1e9))
		schedule, err := spec.Schedule()
		if err != nil {
			c.err = err
			return nil
		}
		x.Arrivals = schedule
	}
	c.of[seed] = x
	return x
}

// simulate counts what arrives in simulations.
func (c *counting) simulate(ctx context.Context, m *Model, s Settings, n int, seed uint64) ([]sim.Result, error) {
	config := m.config(s, effort{replicas: n})
	config.Seed = seed
	r, err := sim.ReplicateFunc(ctx, config, n, func(seed uint64) sim.Arrivals { return c.count(m, config.Spec, seed, config.Warmup) })
	if err = cmp.Or(err, c.err); err != nil {
		return r.Results, err
	}
	var wg sync.WaitGroup
	for _, x := range c.of {
		wg.Go(x.rest)
	}
	wg.Wait()
	return r.Results, nil
}

// figures compares the dispersions of what was added with those of the simulations. A
// failure adds its key again, at some time in the same window.
func (c *counting) figures(m *Model) (list []figure) {
	for _, join := range c.s.joins() {
		measured := c.s.windows(join)
		var logs []float64
		for _, seed := range slices.Sorted(maps.Keys(c.of)) {
			d := dispersion(series{steps: c.of[seed].steps}.windows(join))
			d = 1 + (d-1)*m.longer(measured[0].span, c.scale)
			logs = append(logs, math.Log(max(1e-3, (m.Failure+d)/(1-m.Failure))))
		}
		list = append(list, figure{math.Log(max(1e-3, dispersion(measured))), logs, 0.1})
	}
	return list
}

// longer is how many times as far above 1 the dispersion is over windows of that span as it
// is over those of a part of it, by the correlation of phases that are exponential.
func (m *Model) longer(span, scale float64) float64 {
	if scale == 1 {
		return 1
	}
	var cycle, share float64
	switch a := m.Spec.Resources[0].Events.Arrivals; {
	case m.flow.rates != nil:
		return 1 / scale
	case m.flow.levels.events > 0:
		cycle, share = m.cycle().Seconds(), m.flow.levels.share
	case !m.flow.own() && a.Kind == "onoff":
		cycle, share = m.cycle().Seconds(), a.On.Mean()/m.cycle().Seconds()
	default:
		return 1
	}
	grown := func(span float64) float64 {
		x := span / (cycle * share * (1 - share))
		return 1 + math.Expm1(-x)/x
	}
	return grown(span) / grown(span*scale)
}

// A profile is arrivals at rates that change from step to step as those that were measured,
// over and over. What changes within a step is a batch.
type profile struct {
	rates []float64 // to the mean
	spans []float64 // seconds
	size  float64   // of batches; 1: one at a time
}

// profileOf takes a part of the variance of the counts for one of the rates: what random
// arrivals and batches alone do is in the rest.
func (s series) profileOf(part float64) *profile {
	p := &profile{}
	all := window{}
	for _, x := range s.steps {
		all.span, all.adds = all.span+x.Span, all.adds+x.Adds
	}
	excess := dispersion(s.windows(1))
	shrunk := math.Sqrt(part * max(0, 1-1/excess))
	sum := 0.0
	for _, x := range s.steps {
		rate := max(0, 1+shrunk*(x.Adds/x.Span/(all.adds/all.span)-1))
		p.rates, p.spans = append(p.rates, rate), append(p.spans, x.Span)
		sum += rate * x.Span
	}
	for i := range p.rates {
		p.rates[i] *= all.span / sum
	}
	return p
}

// batches says how many come at once.
func (p *profile) batches() string {
	if p.size < 1.5 {
		return "arrivals at random in between"
	}
	return fmt.Sprintf("%.2g at once", p.size)
}

func (p *profile) length() float64 {
	sum := 0.0
	for _, span := range p.spans {
		sum += span
	}
	return sum
}

func (p *profile) arrivals(r *loadgen.Resource) func(seed uint64) sim.Arrivals {
	rate := r.Events.Arrivals.Rate / p.size
	return func(seed uint64) sim.Arrivals {
		random := rand.New(rand.NewPCG(seed, 3<<34))
		a := &replay{p: p, rate: rate, keys: r.Count, random: random, step: random.IntN(len(p.rates))}
		a.end = p.spans[a.step]
		return a
	}
}

// A replay draws the arrivals of a profile, from one of its steps on.
type replay struct {
	p       *profile
	rate    float64 // batches a second
	keys    int
	random  *rand.Rand
	step    int
	at, end float64
	left    float64 // of the batch
	key     int
}

func (a *replay) Next() (loadgen.Draw, bool) {
	for a.left < 1 {
		if rate := a.rate * a.p.rates[a.step]; rate > 0 {
			if next := a.at + a.random.ExpFloat64()/rate; next < a.end {
				a.at, a.key = next, a.random.IntN(a.keys)
				a.left += a.p.size // which may not be whole
				continue
			}
		}
		a.at = a.end
		a.step = (a.step + 1) % len(a.p.rates)
		a.end += a.p.spans[a.step]
	}
	a.left--
	a.key = (a.key + 1) % a.keys
	return loadgen.Draw{At: time.Duration(a.at * 1e9), Key: uint32(a.key), Type: watch.Modified}, true
}
