package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/informerbench/informerbench/loadgen/durations"
)

// fitBursts chooses the spread of the service time, where the work durations
// leave it open, and the arrivals, by how long keys waited. Arrivals at random
// are kept unless they can't explain the waits.
func (f *fit) fitBursts(ctx context.Context, seed uint64, progress func(string)) (outcome, error) {
	f.Bursts = "at random (Poisson), which explains the waits"
	t := trial{f, seed, 20_000}
	if f.overloaded {
		return f.crowded(ctx, t, progress)
	}
	if err := f.divide(ctx, t, progress); err != nil {
		return outcome{score: math.Inf(1)}, err
	}
	if err := f.unseen(ctx, t, progress); err != nil {
		return outcome{score: math.Inf(1)}, err
	}
	if !f.throttled {
		f.whoseWork()
	}
	shapes := f.shapes()
	if f.throttled {
		var err error
		if shapes, err = f.behindLimit(ctx, t, progress); err != nil {
			return outcome{score: math.Inf(1)}, err
		}
	}
	var finer []likely
	if f.Calls == 0 {
		finer = f.service.rather
	}
	best, err := f.chooseShape(ctx, t, shapes, finer, progress)
	if err != nil {
		return best, err
	}
	if f.explains(best) {
		return best, f.fewer(ctx, t, best, progress)
	}
	// Little room makes short simulations differ by much: what they rule out gets
	// another chance in longer ones.
	progress("arrivals at random, for longer")
	long := t
	long.longest *= 5
	x, err := long.run(ctx)
	usual := f.explains(x)
	if err == nil && !usual {
		x, usual, err = f.typical(ctx, long, x, progress)
	}
	if err != nil {
		return x, err
	}
	if usual {
		return x, f.fewer(ctx, t, x, progress)
	}
	// The waits may be those of a service time with two humps.
	was, unmixed := f.shape, f.samples
	two := best
	if !f.throttled {
		all := humps(f.work, f.Busy)
		two, err = f.chooseShape(ctx, t, some(all, 10), all, progress)
	}
	if err != nil || f.explains(two) && two.score <= best.score/2 {
		return two, err
	}
	f.samples = unmixed
	f.setService(was, 1)
	if best.mean > f.wait.Mean() {
		return f.even(ctx, t, best, progress)
	}
	return f.bursty(ctx, t, best, shapes, progress)
}

// shapes are those that the work durations don't tell apart.
func (f *fit) shapes() []likely {
	shapes := f.service.plausible
	if len(shapes) == 0 {
		return []likely{{shape: f.shape}}
	}
	low, high := shapes[0].cv, shapes[0].cv
	for _, s := range shapes {
		low, high = min(low, s.cv), max(high, s.cv)
	}
	if high > 1.2*low+0.05 {
		f.unknown("the spread of the service time from its buckets alone: coefficients of variation from %.2g to %.2g fit them; the waits decide", low, high)
	}
	if f.Calls > 0 {
		return append(divided(shapes, 10, false), divided(f.service.rather, 8, false)...)
	}
	return append(some(shapes, 10), some(f.service.rather, 8)...)
}

// some are the most shapes that can be tried, evenly by their spread.
func some(shapes []likely, most int) []likely {
	slices.SortFunc(shapes, func(a, b likely) int { return cmp.Compare(a.cv, b.cv) })
	var list []likely
	for i := range min(most, len(shapes)) {
		list = append(list, shapes[i*(len(shapes)-1)/max(1, min(most, len(shapes))-1)])
	}
	return list
}

// chooseShape weighs shapes by the work durations and by the waits, and then more of
// the humps whose spread is near the likeliest's. When the context ends it chooses
// from those that were tried, the likeliest by the work durations.
func (f *fit) chooseShape(ctx context.Context, t trial, shapes, humps []likely, progress func(string)) (outcome, error) {
	all, tried, err := f.tryShapes(ctx, t, shapes, progress)
	if err == nil && len(humps) > 0 {
		var more []candidate
		var outcomes []outcome
		more, outcomes, err = f.tryShapes(ctx, t, beside(all, tried, humps), progress)
		all, tried = append(all, more...), append(tried, outcomes...)
	}
	if len(all) == 0 {
		return outcome{score: math.Inf(1)}, err
	}
	if err != nil {
		return f.posterior(all, tried), err
	}
	was := f.now()
	if f.keysGiven && !f.throttled && least(tried) <= fits {
		for _, s := range some(shapes, 3) {
			f.setService(s.shape, 1)
			unlike, x, err := f.unlikeKeys(ctx, t, progress)
			if err != nil {
				return f.posterior(all, tried), err
			}
			for _, c := range unlike {
				c.log += s.log + unlikely
				all = append(all, c)
			}
			tried = append(tried, x...)
		}
	}
	best := f.posterior(all, tried)
	if f.now().hot(was) {
		f.describeKeys(was)
	}
	return best, nil
}

// beside are humps that were not tried, whose spread lies between those next to the
// likeliest's. Together they are as probable as one of the others.
func beside(all []candidate, tried []outcome, humps []likely) []likely {
	first := likeliest(all, tried)
	low, high := 0.0, math.Inf(1)
	for _, c := range all {
		if cv := c.shape.cv; cv < all[first].shape.cv {
			low = max(low, cv)
		} else if cv > all[first].shape.cv {
			high = min(high, cv)
		}
	}
	list := some(slices.DeleteFunc(slices.Clone(humps), func(s likely) bool {
		return s.cv <= low || s.cv >= high || s.cv == all[first].shape.cv
	}), 6)
	for i := range list {
		list[i].log -= math.Log(float64(len(list)))
	}
	return list
}

// likeliest is by what was thought before and by the waits.
func likeliest(all []candidate, tried []outcome) int {
	logs := logLikelihoods(tried)
	for i, c := range all {
		logs[i] += c.log
	}
	return slices.Index(logs, slices.Max(logs))
}

// tryShapes simulates shapes, the likeliest first, and returns them in their order.
func (f *fit) tryShapes(ctx context.Context, t trial, shapes []likely, progress func(string)) (all []candidate, tried []outcome, err error) {
	order := make([]int, len(shapes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(shapes[j].log, shapes[i].log) })
	outcomes := make([]*outcome, len(shapes))
	for n, i := range order {
		progress(fmt.Sprintf("spread of the service time, %d of %d", n+1, len(shapes)))
		f.become(shapes[i])
		var x outcome
		if x, err = t.run(ctx); err != nil {
			break
		}
		outcomes[i] = &x
	}
	for i, x := range outcomes {
		if x != nil {
			f.become(shapes[i])
			c := f.now()
			c.log = shapes[i].log
			all, tried = append(all, c), append(tried, *x)
		}
	}
	return all, tried, err
}

// unlikely is the logarithm of how probable it is, before anything is measured, that
// keys change so unlike each other that it matters.
var unlikely = math.Log(0.3)

// bursty looks for bursts that explain the waits. Many do, from short and sharp
// to long and gentle ones. What is believed is weighed by the buckets.
func (f *fit) bursty(ctx context.Context, t trial, random outcome, shapes []likely, progress func(string)) (outcome, error) {
	was, rate := f.now(), f.Spec.Resources[0].Events.Arrivals.Rate
	if !f.throttled {
		f.setService(f.service.shape, 1) // without regard to the waits
	}
	all, tried, err := f.flows(ctx, t, random, progress)
	if best := least(tried); err == nil && len(all) > 0 && (f.throttled || best > surely) {
		// What the shape was chosen by, arrivals at random, is not what came: it is
		// chosen again by the best of these bursts, and they by it.
		f.take(all[slices.IndexFunc(tried, func(x outcome) bool { return x.score == best })])
		if err = f.reshape(ctx, t, shapes, progress); err == nil {
			again := f.shape
			f.take(was)
			f.setService(again, 1)
			var others []candidate
			var found []outcome
			if others, found, err = f.flows(ctx, t, random, progress); err == nil || least(found) <= least(tried) {
				all, tried = others, found
			}
		}
	}
	best, samples := random, f.samples
	if all, tried = f.near(all, tried); len(all) > 0 && err == nil {
		err = f.again(ctx, t, all, tried, progress)
	}
	if err != nil && !(interrupted(err) && len(all) > 0 && least(tried) <= fits) {
		f.take(was)
		return random, err
	}
	if len(all) > 0 {
		best = f.posterior(all, tried)
		f.rivals = rivals(all, tried, f.samples)
	}
	if best.score >= random.score/2 {
		f.samples, f.rivals = samples, nil
		f.Model.take(was)
		if random.score <= fits {
			return random, err
		}
		f.Bursts = "taken to be at random (Poisson), though the keys waited longer than that explains"
		f.doubt("keys waited %s on average, more than the %s that arrivals at random and %s explain, and no bursts explain it better", durations.Seconds(f.wait.Mean()), durations.Seconds(random.mean), brief(Settings{Workers: f.current.Workers}))
		return random, err
	}
	if f.now().hot(was) {
		f.describeKeys(was)
	} else {
		f.describeBursts(was, rate)
	}
	return best, err
}

// reshape gives the work the likeliest shape under the model's arrivals.
func (f *fit) reshape(ctx context.Context, t trial, shapes []likely, progress func(string)) error {
	if f.throttled {
		// What the calls of arrivals at random would have waited was taken from the
		// work: bursts wait otherwise.
		_, err := f.unthrottled(ctx, t, progress)
		return err
	}
	all, tried, err := f.tryShapes(ctx, t, shapes, progress)
	if err == nil {
		f.setService(all[likeliest(all, tried)].shape, 1)
	}
	return err
}

// flows are arrivals that make keys wait as long as was measured, and what comes of
// each. When the context ends it returns the kinds that were tried.
func (f *fit) flows(ctx context.Context, t trial, random outcome, progress func(string)) (all []candidate, tried []outcome, err error) {
	if all, tried, err = f.phases(ctx, t, progress); err != nil {
		return all, tried, err
	}
	for _, y := range families {
		some, found, err := f.explore(ctx, y, t, tried, progress)
		if err != nil {
			return all, tried, err
		}
		all, tried = append(all, some...), append(tried, found...)
	}
	few, counted, err := f.hotKeys(ctx, t, append(slices.Clone(tried), random), progress)
	if least(tried) <= surely {
		few, counted = f.moreThanWorkers(few, counted)
	}
	return append(all, few...), append(tried, counted...), err
}
