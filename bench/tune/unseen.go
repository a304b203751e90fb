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
	u := untimedWaits{f: f, t: t, progress: progress}
	if found, err := u.inLongRun(ctx); err != nil || !found {
		return err
	}
	if err := u.search(ctx); err != nil {
		return err
	}
	u.choose()
	return nil
}

// untimedWaits are a search for how long calls waited.
type untimedWaits struct {
	f              *fit
	t              trial
	progress       func(string)
	usual, scatter float64   // of a call's wait, by simulations
	lasting        []float64 // shares of the rest of the work that may be the calls' latency; one if it is known
	parts          []*fit
	tried          []outcome
}

// inLongRun simulates how long calls wait usually, and reports whether that matters.
func (u *untimedWaits) inLongRun(ctx context.Context) (bool, error) {
	f := u.f
	for range 3 { // shorter work comes together somewhat otherwise
		u.progress("waits for the client's limit, which were not timed")
		x, err := u.t.run(ctx)
		if err != nil {
			return false, err
		}
		var list []durations.Histogram
		var each []float64
		for _, r := range x.results {
			list, each = append(list, r.Throttle), append(each, r.Throttle.Mean().Seconds())
		}
		_, u.scatter = moments(each)
		u.scatter *= x.shorter
		u.usual = min(durations.Pooled(list).Mean().Seconds(), 0.95*f.Work/f.Calls)
		if f.Calls*u.usual < throttledBy*f.Work {
			return false, nil
		}
		f.waiting(u.usual)
	}
	// How much of the rest of the work is the calls' latency, which is not timed either,
	// decides how far they wait for each other.
	u.lasting = []float64{0, 0.01, 0.03, 0.1, 0.3, 0.6}
	if f.CallLatency > 0 {
		u.lasting = []float64{f.Calls * f.CallLatency / f.Busy}
	}
	return true, nil
}

// search tries waits that are shorter and longer than usual.
func (u *untimedWaits) search(ctx context.Context) error {
	if err := u.try(ctx, []float64{u.usual}, u.lasting); err != nil {
		return err
	}
	untold := len(u.lasting) > 1
	if untold {
		for logs := u.probable(); len(u.lasting) > 3; {
			least := slices.Index(logs, slices.Min(logs))
			logs, u.lasting = slices.Delete(logs, least, least+1), slices.Delete(u.lasting, least, least+1)
		}
	}
	for _, times := range []float64{0, 0.3, 0.6, 1.5, 2.2, 3.5} {
		if err := u.try(ctx, []float64{times * u.usual}, u.lasting); err != nil {
			return err
		}
	}
	// Where waits are most of the work, it tells them better than these steps.
	for step := 0.15; step > 0.05; step /= 2 {
		first := u.parts[highestOf(u.probable())]
		each, share := first.Throttle, first.Calls*first.CallLatency/first.Busy
		if err := u.try(ctx, []float64{(1 - step) * each, (1 + step) * each}, []float64{share}); err != nil {
			return err
		}
		if untold {
			if err := u.try(ctx, []float64{each}, []float64{share - step, share + step}); err != nil {
				return err
			}
		}
	}
	return nil
}

// try simulates every wait with every share that is possible.
func (u *untimedWaits) try(ctx context.Context, waits, shares []float64) error {
	f := u.f
	u.progress(fmt.Sprintf("waits for the client's limit, %d tried", len(u.parts)))
	some, found := make([]*fit, len(waits)*len(shares)), make([]outcome, len(waits)*len(shares))
	errs := make([]error, len(some))
	untold := len(u.lasting) > 1
	var wg sync.WaitGroup
	for i := range some {
		each, share := waits[i/len(shares)], shares[i%len(shares)]
		told := !untold && each > 0 && f.Calls*(each+f.CallLatency) > f.Work
		if f.Calls*each > 0.97*f.Work || told || untold && (share < 0 || share > 0.95) {
			continue
		}
		wg.Go(func() { some[i], found[i], errs[i] = f.waited(ctx, u.t, each, share, untold) })
	}
	wg.Wait()
	for i, g := range some {
		if g != nil {
			u.parts, u.tried = append(u.parts, g), append(u.tried, found[i])
		}
	}
	return cmp.Or(errs...)
}

// probable are the logarithms, but for a constant, of how probable what was tried is. How far
// waits are from the long run's goes with how much simulations differ, of which a few say little.
func (u *untimedWaits) probable() []float64 {
	logs := logLikelihoods(blunt(u.tried))
	for i, g := range u.parts {
		z := (g.Throttle - u.usual) / math.Hypot(u.scatter, 0.2*u.usual)
		logs[i] -= 2 * math.Log1p(z*z/3)
	}
	return logs
}

// choose takes, of those that explain it about as well, the one in their middle: intervals
// hold what the others predict.
func (u *untimedWaits) choose() {
	f, logs := u.f, u.probable()
	top := logs[highestOf(logs)]
	mean, sum := 0.0, 0.0
	for i, g := range u.parts {
		mean += math.Exp(logs[i]-top) * g.Throttle
		sum += math.Exp(logs[i] - top)
	}
	best := highestOf(logs)
	for i, g := range u.parts {
		if logs[i] > top-3 && math.Abs(g.Throttle-mean/sum) < math.Abs(u.parts[best].Throttle-mean/sum) {
			best = i
		}
	}
	others, low, high := f.divided, math.Inf(1), 0.0
	for i, g := range u.parts {
		if logs[i] > top-3 {
			low, high = min(low, g.Throttle), max(high, g.Throttle)
			if i != best {
				others = append(others, g.Model)
			}
		}
	}
	g := u.parts[best]
	f.Model, f.service, f.throttled = g.Model, g.service, g.Calls*g.Throttle > throttledBy*g.Work
	f.divided = others
	for i, text := range f.unidentified {
		if strings.HasPrefix(text, untimed) {
			f.unidentified[i] = text + "; that they waited " + durations.Seconds(f.Throttle) +
				" each is in the middle of what explains the work and the waits, " + durations.Seconds(low) + " to " + durations.Seconds(high) + ", and the intervals hold what is predicted of all of that"
		}
	}
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
