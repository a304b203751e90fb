package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/informerbench/informerbench/loadgen/durations"
)

// untimed begins what is said of a client that doesn't time its waits.
const untimed = "waits for the client's limit"

// unseen finds out how long calls waited for a limit that is known where the client
// doesn't time it, as controller-runtime's doesn't: otherwise these waits would
// be work that no higher limit makes shorter. Simulations say how long
// they are in the long run. While it was measured they may have been shorter or
// longer, and how well that goes with the work and the keys' waits tells.
func (f *fit) unseen(ctx context.Context, t trial, progress func(string)) error {
	if f.Calls == 0 || f.limiter.Count() > 0 || f.current.QPS == 0 || f.Throttle > 0 {
		return nil
	}
	usual, scatter := 0.0, 0.0
	for range 3 { // shorter work comes together somewhat otherwise
		progress("waits for the client's limit, which were not timed")
		x, err := t.run(ctx)
		if err != nil {
			return err
		}
		var list []durations.Histogram
		var each []float64
		for _, r := range x.results {
			list, each = append(list, r.Throttle), append(each, r.Throttle.Mean().Seconds())
		}
		_, scatter = moments(each)
		scatter *= x.shorter
		usual = min(durations.Pooled(list).Mean().Seconds(), 0.95*f.Work/f.Calls)
		if f.Calls*usual < throttledBy*f.Work {
			return nil
		}
		f.waiting(usual)
	}
	// How much of the rest of the work is the calls' latency, which is not timed either,
	// decides how far they wait for each other.
	lasting := []float64{0, 0.01, 0.03, 0.1, 0.3, 0.6}
	if f.CallLatency > 0 {
		lasting = []float64{f.Calls * f.CallLatency / f.Busy}
	}
	var parts []*fit
	var tried []outcome
	try := func(waits, shares []float64) error {
		progress(fmt.Sprintf("waits for the client's limit, %d tried", len(parts)))
		some, found := make([]*fit, len(waits)*len(shares)), make([]outcome, len(waits)*len(shares))
		errs := make([]error, len(some))
		var wg sync.WaitGroup
		for i := range some {
			each, share := waits[i/len(shares)], shares[i%len(shares)]
			told := len(lasting) == 1 && each > 0 && f.Calls*(each+f.CallLatency) > f.Work
			if f.Calls*each > 0.97*f.Work || told || len(lasting) > 1 && (share < 0 || share > 0.95) {
				continue
			}
			wg.Go(func() { some[i], found[i], errs[i] = f.waited(ctx, t, each, share, len(lasting) > 1) })
		}
		wg.Wait()
		for i, g := range some {
			if g != nil {
				parts, tried = append(parts, g), append(tried, found[i])
			}
		}
		return cmp.Or(errs...)
	}
	// How far they are from the long run's goes with how much simulations differ, of which a
	// few say little.
	probable := func() []float64 {
		logs := logLikelihoods(blunt(tried))
		for i, g := range parts {
			z := (g.Throttle - usual) / math.Hypot(scatter, 0.2*usual)
			logs[i] -= 2 * math.Log1p(z*z/3)
		}
		return logs
	}
	if err := try([]float64{usual}, lasting); err != nil {
		return err
	}
	if len(lasting) > 1 {
		for logs := probable(); len(lasting) > 3; {
			least := slices.Index(logs, slices.Min(logs))
			logs, lasting = slices.Delete(logs, least, least+1), slices.Delete(lasting, least, least+1)
		}
	}
	for _, times := range []float64{0, 0.3, 0.6, 1.5, 2.2, 3.5} {
		if err := try([]float64{times * usual}, lasting); err != nil {
			return err
		}
	}
	// Where waits are most of the work, it tells them better than these steps.
	for step := 0.15; step > 0.05; step /= 2 {
		first := parts[highestOf(probable())]
		each, share := first.Throttle, first.Calls*first.CallLatency/first.Busy
		if err := try([]float64{(1 - step) * each, (1 + step) * each}, []float64{share}); err != nil {
			return err
		}
		if len(lasting) > 1 {
			if err := try([]float64{each}, []float64{share - step, share + step}); err != nil {
				return err
			}
		}
	}
	logs := probable()
	top := logs[highestOf(logs)]
	mean, sum := 0.0, 0.0
	for i, g := range parts {
		mean += math.Exp(logs[i]-top) * g.Throttle
		sum += math.Exp(logs[i] - top)
	}
	// Of some that explain it as well, the one in their middle.
	best := highestOf(logs)
	for i, g := range parts {
		if logs[i] > top-3 && math.Abs(g.Throttle-mean/sum) < math.Abs(parts[best].Throttle-mean/sum) {
			best = i
		}
	}
	others, low, high := f.divided, math.Inf(1), 0.0
	for i, g := range parts {
		if logs[i] > top-3 {
			low, high = min(low, g.Throttle), max(high, g.Throttle)
			if i != best {
				others = append(others, g.Model)
			}
		}
	}
	g := parts[best]
	f.Model, f.service, f.throttled = g.Model, g.service, g.Calls*g.Throttle > throttledBy*g.Work
	f.divided = others
	for i, text := range f.unidentified {
		if strings.HasPrefix(text, untimed) {
			f.unidentified[i] = text + "; that they waited " + durations.Seconds(f.Throttle) +
				" each is in the middle of what explains the work and the waits, " + durations.Seconds(low) + " to " + durations.Seconds(high) + ", and the intervals hold what is predicted of all of that"
		}
	}
	return nil
}

// blunt makes less of shares of the reconciles: the work's shape is only known as far as
// the waits are, so that none of the fits comes as near as one that simulates its own.
func blunt(tried []outcome) []outcome {
	list := slices.Clone(tried)
	for i := range list {
		list[i].figures = slices.Clone(list[i].figures)
		for k := range list[i].figures {
			list[i].figures[k].floor = max(0.01, list[i].figures[k].floor)
		}
	}
	return list
}

// waited is the fit if each call waited so long for the limit and, where that isn't known,
// if so large a share of the rest of the work was the calls' latency.
func (f *fit) waited(ctx context.Context, t trial, each, share float64, latencies bool) (*fit, outcome, error) {
	g := *f
	g.Model = f.Model.alone(0)
	if latencies {
		g.CallLatency = share * (f.Work - f.Calls*each) / f.Calls
	}
	g.waiting(each)
	g.throttled = true
	t.f = &g
	if _, err := g.unthrottled(ctx, t, func(string) {}); err != nil {
		return nil, outcome{}, err
	}
	x, err := t.run(ctx)
	return &g, x, err
}

func highestOf(list []float64) (at int) {
	for i, x := range list {
		if x > list[at] {
			at = i
		}
	}
	return at
}

// waiting says how long each call waits for the limit.
func (f *fit) waiting(each float64) {
	f.Throttle = each
	f.reconcileCalls(f.Calls, f.CallLatency)
	f.Offered = f.AddRate * f.Busy
	f.service = fitService(f.work, f.Model, f.latencies(), false)
	f.setService(f.service.shape, 1)
}
