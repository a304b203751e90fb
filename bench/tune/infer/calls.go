package infer

import (
	"cmp"
	"math"
	"slices"
	"sort"

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

func (c Calls) throttled(m *Measured) bool { return c.Mean()*c.Throttle > throttledBy*m.Work.Mean() }

// takes finds out which work may be what was measured, with arrivals as a system's. Where calls wait
// for a limit, how these waits hang together, and with the work, only a simulation tells; how long
// they were, the measurement.
func (x *explorer) takes(s model.System) {
	c, mean := x.calls, x.calls.Service(x.m)
	latencies := service.Latencies(c.Of, c.Latency)
	work := x.m.Work
	if c.Open || len(latencies) > 1 || c.throttled(x.m) {
		work = service.Enough(work)
	}
	if !c.throttled(x.m) {
		x.weighWorks(service.Posterior(work, mean, c.Busy(x.m), service.Same(latencies), c.Open))
		return
	}
	if s.Background > 0 && s.Row == 0 {
		s.Row = x.inARow(s)
		x.base.Row = s.Row
	}
	for range 2 {
		x.progress("waits for the client's limit")
		x.weighWorks(service.Posterior(work, mean, c.Busy(x.m), c.held(x.pairs(s), latencies), true))
		s.Service = x.base.Service
	}
}

// inARow solves how many calls others make one after another, so that calls wait for as long as
// was measured: the more there are, the longer.
func (x *explorer) inARow(s model.System) int {
	const longest = 64
	x.progress("calls of others")
	off := map[int]float64{} // by the logarithm of how long calls wait
	row := 1 + sort.Search(longest-1, func(i int) bool {
		s.Row = i + 1
		off[s.Row] = math.Log(max(waited(x.pairs(s), x.calls.Mean()), 1e-9) / x.calls.Throttle)
		return off[s.Row] >= 0
	})
	if before, ok := off[row-1]; ok && -before < off[row] {
		row--
	}
	return row
}

// pairs are what simulated reconciles worked, and what their calls waited.
func (x *explorer) pairs(s model.System) []model.Pair {
	const simulations, each = 12, 4000
	lists := make([][]model.Pair, simulations)
	_ = parallel(x.ctx, len(lists), func(i int) { // what is explored afterwards fails as well
		r, _ := s.Run(x.ctx, x.m.Controller, model.Plan{Warmup: x.length / 10, Length: x.length, Pairs: each, Seed: x.seed + uint64(i)})
		lists[i] = r.Pairs
	})
	return slices.Concat(lists...)
}

// waited is how long a call waits on average, of so many a reconcile.
func waited(pairs []model.Pair, calls float64) (mean float64) {
	for _, p := range pairs {
		mean += p.Held / calls / float64(len(pairs))
	}
	return mean
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
			s.Latency, s.Service = y.Latency, exponential(y.Service(x.m))
			usual := min(waited(x.pairs(s), c.Mean()), 0.95*x.m.Work.Mean()/c.Mean())
			y.Throttle = (y.Throttle + usual) / 2
		}
		for _, times := range []float64{0, 0.3, 0.6, 0.8, 1, 1.25, 1.6, 2.2, 3.5} {
			z := y
			z.Untimed, z.Throttle = false, times*y.Throttle
			if times == 0 || z.Mean()*(z.Throttle+z.Latency) <= 0.97*x.m.Work.Mean() {
				list = append(list, z)
			}
		}
	}
	return list
}

// held are equally likely sums of what a reconcile's calls take, the waits for the limit
// included. Where the measurement had more or less of them, calls waited more or less often.
func (c Calls) held(pairs []model.Pair, latencies []float64) service.Calls {
	mean := waited(pairs, 1)
	if mean == 0 {
		return service.Same(latencies)
	}
	// A few workers' calls wait the less the longer these work between them.
	slices.SortFunc(pairs, func(a, b model.Pair) int { return cmp.Compare(a.Service, b.Service) })
	n, parts := 64, 1
	if math.Abs(correlation(pairs)) > 0.1 {
		n, parts = 32, 8
	}
	waits := c.Mean() * c.Throttle
	var all service.Calls
	sum := 0.0
	for k := range parts {
		from, to := k*len(pairs)/parts, (k+1)*len(pairs)/parts
		s := service.Stretch{To: math.Inf(1), Calls: often(pairs[from:to], n, waits/mean)}
		if k > 0 {
			s.From = pairs[from].Service
		}
		if k < parts-1 {
			s.To = pairs[to].Service
		}
		for _, wait := range s.Calls {
			sum += wait / float64(n*parts)
		}
		all = append(all, s)
	}
	if sum == 0 {
		all[0].Calls[n-1], sum = 1, 1/float64(n*parts)
	}
	c.lengthen(all, waits/sum, latencies)
	return all
}

// lengthen multiplies waits, the shortest first, and adds latencies, which are independent of
// them: those of reconciles that make calls, which are the ones that wait longest.
func (c Calls) lengthen(all service.Calls, by float64, latencies []float64) {
	n := len(all[0].Calls)
	sorted := slices.Sorted(slices.Values(latencies))
	list := make([]float64, n)
	for i := range list {
		list[i] = sorted[(2*i+1)*len(sorted)/(2*n)]
	}
	without := 0 // calls
	for without < n-1 && list[without] == 0 {
		without++
	}
	list = list[without:]
	stride := 7
	if len(list)%stride == 0 {
		stride = 5 // so that each comes as often
	}
	for _, s := range all {
		for i := range s.Calls {
			s.Calls[i] *= by
			if i >= without || len(list) == 1 {
				s.Calls[i] += list[max(0, i-without)*stride%len(list)]
			}
		}
	}
}

// often gives n equally likely waits, the shortest first, if calls wait so many times as often as
// in the pairs.
func often(pairs []model.Pair, n int, times float64) []float64 {
	var held []float64
	for _, p := range pairs {
		if p.Held > 0 {
			held = append(held, p.Held)
		}
	}
	slices.Sort(held)
	waits := make([]float64, n)
	share := min(1, times*float64(len(held))/float64(len(pairs)))
	for i := range waits {
		if above := 1 - (float64(i)+0.5)/float64(n); above < share {
			waits[i] = held[int((1-above/share)*float64(len(held)))]
		}
	}
	return waits
}

func correlation(pairs []model.Pair) float64 {
	var a, b, ab, aa, bb float64
	n := float64(len(pairs))
	for _, p := range pairs {
		a, b = a+p.Service/n, b+p.Held/n
	}
	for _, p := range pairs {
		ab += (p.Service - a) * (p.Held - b)
		aa += (p.Service - a) * (p.Service - a)
		bb += (p.Held - b) * (p.Held - b)
	}
	if aa*bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}
