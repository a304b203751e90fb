package tune

import (
	"context"
	"math"
	"strings"

	"github.com/informerbench/informerbench/loadgen/sim"
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
	usual := 0.0
	for range 3 { // shorter work comes together somewhat otherwise
		progress("waits for the client's limit, which were not timed")
		x, err := t.run(ctx)
		if err != nil {
			return err
		}
		var list []sim.Distribution
		for _, r := range x.results {
			list = append(list, r.Throttle)
		}
		usual = min(sim.Pooled(list).Mean().Seconds(), 0.95*f.Work/f.Calls)
		if f.Calls*usual < 0.01*f.Work {
			return nil
		}
		f.waiting(usual)
	}
	var parts []*fit
	var tried []outcome
	try := func(times float64) error {
		if f.Calls*times*usual > 0.97*f.Work {
			return nil
		}
		g := *f
		g.Model = f.Model.alone(0)
		g.waiting(times * usual)
		g.throttled = true
		t.f = &g
		if _, err := g.unthrottled(ctx, t, progress); err != nil {
			return err
		}
		x, err := t.run(ctx)
		parts, tried = append(parts, &g), append(tried, x)
		return err
	}
	for _, times := range []float64{0, 0.3, 0.6, 1, 1.5, 2.2, 3.5} {
		if err := try(times); err != nil {
			return err
		}
	}
	// Where waits are most of the work, it tells them better than these steps.
	first := highestOf(weigh(tried))
	around := parts[first].Throttle / usual
	for _, i := range []int{first - 1, first + 1} {
		if i >= 0 && i < len(parts) {
			if err := try((around + parts[i].Throttle/usual) / 2); err != nil {
				return err
			}
		}
	}
	logs := weigh(tried)
	top := logs[highestOf(logs)]
	mean, sum := 0.0, 0.0
	for i, g := range parts {
		mean += math.Exp(logs[i]-top) * g.Throttle
		sum += math.Exp(logs[i] - top)
	}
	// Of some that explain it as well, the one in their middle.
	best := 0
	for i, g := range parts {
		if math.Abs(g.Throttle-mean/sum) < math.Abs(parts[best].Throttle-mean/sum) {
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
	f.Model, f.service, f.throttled = g.Model, g.service, g.Calls*g.Throttle > 0.01*g.Work
	f.divided = others
	for i, text := range f.unidentified {
		if strings.HasPrefix(text, untimed) {
			f.unidentified[i] = untimed + ": rest_client_rate_limiter_duration_seconds is missing; that calls waited " + Duration(f.Throttle) +
				" each is in the middle of what explains the work and the waits, " + Duration(low) + " to " + Duration(high) + ", and the intervals hold what is predicted of all of that"
		}
	}
	return nil
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
