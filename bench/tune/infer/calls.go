package infer

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/service"
)

// Calls are what may be of a queue's API calls.
type Calls struct {
	Of         []float64 // probabilities of 0, 1, 2 and more a reconcile
	Latency    float64   // mean, once sent
	Throttle   float64   // mean wait of a call for the client's limit
	Background float64   // a second, of others that share the limit
	Others     int       // who make these; 0: not known
	Row        int       // how many of these a reconcile makes one after another; 0: as many as this queue's
	OthersWork float64   // mean of such a reconcile, its calls with it
	Open       bool      // there may be more or fewer, as others' calls may be this queue's
	Untimed    bool      // nothing says how long calls waited
	Untold     bool      // nothing says how long they took, once sent
	Log        float64   // of how probable they are before anything is measured
}

// Mean is how many a reconcile makes.
func (c Calls) Mean() float64 { return (&model.System{Calls: c.Of}).MeanCalls() }

// Busy is the mean of the work that is no wait for the limit.
func (c Calls) Busy(m *Measured) float64 {
	// Under a tight limit nearly all of the work may be waits; some of those that were
	// counted are of reconciles that had not ended.
	return max(m.Work.Mean()-c.Mean()*c.Throttle, c.Mean()*c.Latency, 1e-3*m.Work.Mean())
}

// Service is what is no call of it.
func (c Calls) Service(m *Measured) float64 {
	return max(c.Busy(m)-c.Mean()*c.Latency, 0.02*c.Busy(m))
}

// others is what reconciles of others take without their calls.
func (c Calls) others() float64 { return max(0, c.OthersWork-float64(c.Row)*(c.Throttle+c.Latency)) }

func (c Calls) throttled(m *Measured) bool { return c.Mean()*c.Throttle > throttledBy*m.Work.Mean() }

// takes finds out which work may be what was measured, with arrivals as a system's. Where calls wait
// for a limit, how these waits hang together, and with the work, only a simulation tells; how long
// they were, the measurement.
func (x *explorer) takes(s model.System) {
	c, mean := x.calls, x.calls.Service(x.m)
	latencies := service.Latencies(c.Of, c.Latency)
	work := x.m.Work
	if c.Open || len(latencies) > 1 || c.throttled(x.m) {
		work = service.Enough(work, c.Background > 0)
	}
	if !c.throttled(x.m) {
		x.weighWorks(service.Posterior(work, mean, c.Busy(x.m), latencies, c.Open))
		return
	}
	for range 2 {
		x.progress("waits for the client's limit")
		waits, _, _ := x.behindLimit(s)
		x.weighWorks(service.Posterior(work, mean, c.Busy(x.m), c.held(waits, latencies), true))
		s.Service = x.base.Service
	}
}

// own takes this queue's waits for the limit from those of all calls that were timed, of which
// others' may be longer or shorter.
func (x *explorer) own() {
	if x.calls.Untimed || x.calls.Background == 0 || !x.calls.throttled(x.m) {
		return
	}
	if _, own, all := x.behindLimit(x.base); all > 0 {
		x.calls.Throttle *= own / all
	}
}

// behindLimit simulates a system: what the calls of each of its reconciles wait for the limit, and
// what a call waits on average, of its own and of all.
func (x *explorer) behindLimit(s model.System) (waits []float64, own, all float64) {
	const simulations, each = 12, 4000
	list := make([]*model.Result, simulations)
	_ = parallel(x.ctx, simulations, func(i int) { // what is explored afterwards fails as well
		list[i], _ = s.Run(x.ctx, x.m.Controller, model.Plan{Warmup: x.length / 10, Length: x.length, Held: each, Seed: x.seed + uint64(i)})
	})
	calls, waited := [2]float64{}, [2]float64{}
	for _, r := range list {
		if r == nil {
			continue
		}
		waits = append(waits, r.Held...)
		for i, w := range []*model.Sketch{&r.Throttle, &r.Others} {
			calls[i], waited[i] = calls[i]+float64(w.Count()), waited[i]+float64(w.Count())*w.Mean()
		}
	}
	return waits, waited[0] / max(1, calls[0]), (waited[0] + waited[1]) / max(1, calls[0]+calls[1])
}

// untimed are waits for the limit that may have been, where nothing timed them: simulations say
// how long they are in the long run, and while it was measured they may have been shorter or
// longer. Where calls are not timed either, how much of the rest of the work is theirs decides
// how far they wait for each other.
func (x *explorer) untimed() (list []Calls) {
	c := x.calls
	lasting := []float64{0, 0.03, 0.15, 0.5}
	if !c.Untold {
		lasting = []float64{c.Mean() * c.Latency / c.Busy(x.m)}
	}
	for _, share := range lasting {
		y, s := c, x.base
		for range 4 { // shorter work comes together somewhat otherwise
			if c.Untold {
				y.Latency = share * y.Busy(x.m) / c.Mean()
			}
			s.Latency, s.Service, s.OthersWork = y.Latency, exponential(y.Service(x.m)), y.others()
			_, usual, _ := x.behindLimit(s)
			usual = min(usual, 0.95*x.m.Work.Mean()/c.Mean())
			y.Throttle = (y.Throttle + usual) / 2
		}
		for _, times := range []float64{0, 0.3, 0.6, 0.8, 1, 1.25, 1.6, 2.2, 3.5} {
			z := y
			z.Throttle = times * y.Throttle
			if times == 0 || z.Mean()*(z.Throttle+z.Latency) <= 0.97*x.m.Work.Mean() {
				list = append(list, z)
			}
		}
	}
	return list
}

// held are equally likely sums of what a reconcile's calls take, by the waits of simulated ones.
// Where the measurement had more or less of them, calls waited more or less often. Latencies are
// independent of waits, but for reconciles that make no calls: they wait least.
func (c Calls) held(simulated, latencies []float64) []float64 {
	mean, _ := moments(simulated)
	if mean == 0 {
		return latencies
	}
	const n = 64
	measured := c.Mean() * c.Throttle
	sums := often(simulated, n, measured/mean)
	if mean, _ = moments(sums); mean == 0 {
		sums[n-1], mean = 1, 1./n
	}
	sorted := slices.Sorted(slices.Values(latencies))
	without, _ := slices.BinarySearch(sorted, math.SmallestNonzeroFloat64)
	calling := sorted[without:]
	rand.New(rand.NewPCG(1, n)).Shuffle(len(calling), func(i, k int) { calling[i], calling[k] = calling[k], calling[i] })
	for i := range sums {
		sums[i] = sums[i]*measured/mean + sorted[i*len(sorted)/n]
	}
	return sums
}

// often gives n equally likely waits, the shortest first, if calls wait so many times as often as
// in the list.
func often(list []float64, n int, times float64) []float64 {
	held := slices.DeleteFunc(slices.Sorted(slices.Values(list)), func(x float64) bool { return x == 0 })
	waits := make([]float64, n)
	share := min(1, times*float64(len(held))/float64(len(list)))
	for i := range waits {
		if above := 1 - (float64(i)+0.5)/float64(n); above < share {
			waits[i] = held[int((1-above/share)*float64(len(held)))]
		}
	}
	return waits
}
