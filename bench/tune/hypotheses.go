package tune

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// hypotheses are the calls that may have been made: the counters hold their sum, of all queues
// and of all reconciles, and how they wait decides which of them explain the rest.
func (f *fit) hypotheses() []infer.Calls {
	if f.Calls == 0 {
		return []infer.Calls{{}}
	}
	one := infer.Calls{Of: evenly(f.Calls), Latency: f.CallLatency, Throttle: f.Throttle, Untold: f.untold, Untimed: f.untimed && f.Current.QPS > 0}
	f.beside(&one, f.Background)
	if d := f.division; !one.Untimed && d.most >= 1.15*d.least && d.most*f.Throttle >= throttledBy*f.Work {
		return f.divided(one)
	}
	list := []infer.Calls{one}
	// Where the calls are a whole number to a reconcile, but for those under way, each made as many.
	under := 2 * float64(f.Current.Workers) * math.Ceil(f.Calls)
	if one.Untimed || f.Background > 0 || math.Abs(f.Calls-math.Round(f.Calls))*f.Observations <= max(under, 10) {
		return list
	}
	others := [][]float64{byChance(f.Calls)}
	for _, n := range []int{2, 3, 5, 8, 12, 20, 30, 50} {
		if float64(n) > 1.05*f.Calls && len(others) < 5 {
			some := make([]float64, n+1)
			some[0], some[n] = 1-f.Calls/float64(n), f.Calls/float64(n)
			others = append(others, some)
		}
	}
	for _, of := range others {
		c := one
		c.Of, c.Log = of, -math.Log(float64(len(others)))
		list = append(list, c)
	}
	return list
}

// divided are calls of which this queue made more or fewer, and others the rest.
func (f *fit) divided(one infer.Calls) (list []infer.Calls) {
	one.Open = true
	for _, calls := range append(f.division.calls(), f.Calls) {
		c := one
		if c.Of = evenly(calls); calls <= few {
			c.Of = []float64{1}
		}
		f.beside(&c, max(0, f.made-calls*f.Observations/f.Interval))
		c.Latency = min(f.division.latency-f.Throttle, 0.98*c.Busy(f.Measured)/calls)
		list = append(list, c)
	}
	return list
}

// beside sets who else makes calls, so many a second. No more of them wait for the limit at a time
// than there are, so they are as many as the limit lets through in the longest of the waits, and at
// least as many as are busy.
func (f *fit) beside(c *infer.Calls, background float64) {
	c.Background = background
	if f.limiter.Count() > 0 && f.Current.QPS > 0 {
		waiting := math.Ceil(f.limiter.Longest()*f.Current.QPS) - float64(f.Current.Workers)
		c.Others = int(max(1, waiting, math.Ceil(f.peersWork/f.Interval)))
	}
	if calls := background * f.Interval; calls > 0 && f.peers > 0 {
		c.Row = max(1, int(math.Round(calls/f.peers)))
		c.OthersWork = f.peersWork * float64(c.Row) / calls
	}
}

// evenly are calls of which all reconciles make as many, but for those to which a part of one falls.
func evenly(mean float64) []float64 {
	if whole := math.Round(mean); math.Abs(mean-whole) < 0.005 {
		mean = whole
	}
	below, part := math.Modf(mean)
	list := make([]float64, int(below)+2)
	list[int(below)], list[int(below)+1] = 1-part, part
	return list
}

// byChance are calls of which each reconcile makes any number (Poisson).
func byChance(mean float64) []float64 {
	list := []float64{math.Exp(-mean)}
	sum := list[0]
	for sum < 0.999 {
		list = append(list, list[len(list)-1]*mean/float64(len(list)))
		sum += list[len(list)-1]
	}
	for i := range list {
		list[i] /= sum
	}
	return list
}

// whichCalls says what is left open of them.
func (f *fit) whichCalls(p *infer.Posterior) {
	if len(p.Likely) < 2 {
		return
	}
	var calls, waits []float64
	for _, c := range p.Likely {
		calls, waits = append(calls, c.Mean()), append(waits, c.Throttle)
	}
	low, high := slices.Min(calls), slices.Max(calls)
	for i, text := range f.Unidentified {
		switch {
		case strings.HasPrefix(text, untimed) && f.untimed:
			f.Unidentified[i] = text + fmt.Sprintf("; that they waited %s each explains the work and the waits, as does anything from %s to %s, and the intervals hold what is predicted of all of that",
				durations.Seconds(f.Throttle), durations.Seconds(slices.Min(waits)), durations.Seconds(slices.Max(waits)))
		case strings.HasPrefix(text, undivided) && low < high:
			f.Unidentified[i] = fmt.Sprintf("%s: the client's counters hold those of all queues; of %.2g to %.2g calls a reconcile that are possible here, %.2g explain the waits best and anything from %.2g to %.2g does. The intervals hold what is predicted of all of these; --calls says it better",
				undivided, f.division.least, f.division.most, f.Calls, low, high)
		}
	}
}

// A division is how many calls a reconcile may make, when the counters hold those of
// several queues: one after the other they take no longer than the work, of this queue
// or of the others, which made the rest. The zero division leaves nothing open.
type division struct {
	least, most float64
	latency     float64
}

// divisible are the bounds of a queue's calls, when so many were made.
func (f *fit) divisible(made float64) division {
	n, each := f.Observations, f.Throttle+f.CallLatency
	return division{least: max(few, (made-f.peersWork/each)/n), most: max(few, min(made, n*f.Work/each)/n), latency: each}
}

// calls are what is tried.
func (d division) calls() (list []float64) {
	const steps = 6
	for i := range steps + 1 {
		list = append(list, d.least+(d.most-d.least)*float64(i)/steps)
	}
	if d.most < steps {
		for x := math.Ceil(d.least); x <= d.most; x++ {
			list = append(list, x) // most controllers make as many each time
		}
	}
	slices.Sort(list)
	return slices.CompactFunc(list, func(x, before float64) bool { return x < 1.03*before })
}
