package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/tune/scrape"
)

// A division is how many calls a reconcile may make, when the counters hold those of
// several queues: one after the other they take no longer than the work, of this queue
// or of the others, which made the rest. The zero division leaves nothing open.
type division struct {
	least, most float64
	latency     float64
}

// divisible are the bounds of a queue's calls, of which each takes so long with its wait
// for the limit.
func divisible(d *scrape.Delta, q scrape.Queue, made, each float64) division {
	n := q.Work.Count()
	others := 0.0
	for name, other := range d.Queues {
		if name != q.Name && !other.Reset {
			others += other.Work.Sum / each
		}
	}
	const few = 0.02 // as good as none
	return division{least: max(few, (made-others)/n), most: max(few, min(made, q.Work.Sum/each)/n), latency: each}
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

// divide finds out how many of the calls that several queues made were this one's. The
// work's time alone doesn't tell, but calls wait together, so that the work of one takes
// long while that of the others does: that keys waited as long as they did, is for
// some numbers of calls likely and for others not. Predictions hold what those at
// both ends predict that explain it.
func (f *fit) divide(ctx context.Context, t trial, progress func(string)) error {
	d := f.division
	if d.most < 1.15*d.least || d.most*f.Throttle < throttledBy*f.Work {
		return nil // nothing is open that matters
	}
	first := f.Calls
	var parts []*fit
	var tried []outcome
	for _, calls := range append(d.calls(), first) {
		progress(fmt.Sprintf("whose API calls, %d tried", len(tried)))
		g := f.sharing(calls)
		t.f = g
		if g.throttled {
			if _, err := g.unthrottled(ctx, t, progress); err != nil {
				return err
			}
		}
		x, err := t.run(ctx)
		if err != nil {
			return err
		}
		parts, tried = append(parts, g), append(tried, x)
	}
	f.shared(parts, tried)
	return nil
}

// sharing is a copy of the fit whose reconciles make so many calls.
func (f *fit) sharing(calls float64) *fit {
	g := *f
	g.Model = f.Model.alone(0)
	g.reconcileCalls(calls, f.division.latency-f.Throttle)
	g.service = fitService(g.work, g.Model, g.latencies(), false)
	g.Offered = g.AddRate * g.Busy
	g.calledBy(g.callers)
	g.setService(g.service.shape, 1)
	return &g
}

// shared takes the part of the calls that explains the measurement best, and notes which
// others do. If none does, it may be the others' calls that come in another way than at
// random, or this queue's keys: then all that is possible stays open.
func (f *fit) shared(parts []*fit, tried []outcome) {
	best := 0
	for i, x := range tried {
		if x.score < tried[best].score {
			best = i
		}
	}
	explained := tried[best].score <= surely
	if tried[best].score > fits {
		best = len(parts) - 1 // by the time they worked
	}
	low, high := best, best
	for i, x := range tried {
		if explained && x.score > max(surely, 3*tried[best].score) {
			continue
		}
		if parts[i].Calls < parts[low].Calls {
			low = i
		}
		if parts[i].Calls > parts[high].Calls {
			high = i
		}
	}
	f.unidentified = slices.DeleteFunc(f.unidentified, func(text string) bool { return strings.HasPrefix(text, undivided) })
	g := f.sharing(parts[best].Calls)
	f.Model, f.service, f.throttled = g.Model, g.service, g.throttled
	for _, i := range []int{low, high} {
		if i != best {
			f.divided = append(f.divided, parts[i].Model)
		}
	}
	told := fmt.Sprintf("%.2g explain the waits best and anything from %.2g to %.2g does", f.Calls, parts[low].Calls, parts[high].Calls)
	if !explained {
		told = fmt.Sprintf("none explains the waits well, and %.2g are taken", f.Calls)
	}
	f.unknown("%s: the client's counters hold those of all queues; of %.2g to %.2g calls a reconcile that are possible here, %s. The intervals hold what is predicted of all of these; --calls says it better",
		undivided, f.division.least, f.division.most, told)
}

// undivided begins what is said of calls of which nothing tells whose they are.
const undivided = "which queue made which API call"
