package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/informerbench/informerbench/loadgen"
)

// hotKeys tries keys that change often: few of them and, where it is told how many
// there are, some that change more often than others.
func (f *fit) hotKeys(ctx context.Context, t trial, others []outcome, progress func(string)) ([]candidate, []outcome, error) {
	few, counted, err := f.fewKeys(ctx, t, others, progress)
	if err != nil || !f.keysGiven {
		for i := range few {
			few[i].log += asBursts
		}
		return few, counted, err
	}
	for i := range few {
		few[i].log += fewOfMany
	}
	unlike, tried, err := f.unlikeKeys(ctx, t, progress)
	return slices.Concat(few, unlike), slices.Concat(counted, tried), err
}

// asBursts is the logarithm of how probable it is that there are few keys to that arrivals
// come in one of the four forms of bursts: as probable as all of these together.
var asBursts = math.Log(4)

// fewOfMany is the logarithm of how probable it is that of the keys that there are
// some change alike and the others never, to that some change more often.
var fewOfMany = math.Log(0.1)

// unlikeKeys tries keys of which the k-th changes in proportion to 1/k^s. The rate
// follows from the adds and the waits that were measured.
func (f *fit) unlikeKeys(ctx context.Context, t trial, progress func(string)) ([]candidate, []outcome, error) {
	defer f.take(f.now())
	r := &f.Spec.Resources[0]
	var g grid
	try := func(s float64) error {
		rate := f.rateOfUnlike(r.Count, s)
		if rate == 0 {
			return nil
		}
		progress(fmt.Sprintf("keys that change unlike each other, %d tried", len(g.all)))
		r.Skew, r.Events.Arrivals.Rate = loadgen.Skew{Kind: "zipf", S: s}, rate
		x, err := t.run(ctx)
		g.add(s, f.now(), x)
		return err
	}
	for _, s := range []float64{0.35, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2.1} {
		if err := try(s); err != nil {
			return nil, nil, err
		}
	}
	if err := g.closer(math.Inf(1), try); err != nil {
		return nil, nil, err
	}
	all, tried := g.candidates()
	return all, tried, nil
}

// rateOfUnlike is the rate of arrivals with which as many are added as measured; 0
// if keys that unlike would wait longer. A key is added again when it has been
// taken and has changed, and then waits as any does and for what is left of its
// own work: the last is taken to be exponential.
func (f *fit) rateOfUnlike(keys int, s float64) float64 {
	// Of the keys that change rarely those next to each other count as alike.
	type group struct{ part, keys float64 }
	var groups []group
	sum := 0.0
	for k := 1; k <= keys; {
		n := min(max(1, k/50), keys+1-k)
		part := math.Pow(float64(k)+float64(n-1)/2, -s)
		groups = append(groups, group{part, float64(n)})
		sum += part * float64(n)
		k += n
	}
	// adds are with a rate and a wait of all, and what keys then wait all in all.
	adds := func(rate, wait float64) (adds, waits float64) {
		for _, g := range groups {
			own := rate * g.part / sum
			each := wait + f.Work*own*f.Work/(1+own*f.Work)
			add := g.keys * own / (1 + own*each)
			adds += add
			waits += add * each
		}
		return adds, waits
	}
	between := func(low, high float64, less func(float64) bool) float64 {
		for range 50 {
			if middle := (low + high) / 2; less(middle) {
				low = middle
			} else {
				high = middle
			}
		}
		return low
	}
	wait := func(rate float64) float64 {
		return between(0, f.wait.Mean(), func(wait float64) bool {
			adds, waits := adds(rate, wait)
			return waits < adds*f.wait.Mean()
		})
	}
	most := 100 * f.ArrivalRate
	rate := between(f.ArrivalRate, most, func(rate float64) bool {
		adds, _ := adds(rate, wait(rate))
		return adds < f.ArrivalRate
	})
	if a, waits := adds(rate, wait(rate)); rate > 0.99*most || waits > 1.05*a*f.wait.Mean() {
		return 0
	}
	return rate
}

// fewKeys tries so few keys that they often change while they wait or are worked
// on: such a change is coalesced, or waits for the end of the work, however idle
// the other workers are. So keys wait longer than many would beside idle workers,
// and less beside busy ones. It goes on to fewer keys, of which a larger share is
// busy, as long as those explain the waits nearly as well.
func (f *fit) fewKeys(ctx context.Context, t trial, others []outcome, progress func(string)) (all []candidate, tried []outcome, err error) {
	most := f.Model.Spec.Resources[0].Count
	defer f.take(f.now())
	var g grid
	// The numbers of keys are as probable by their logarithms: 0 is a busy share of the
	// keys of a thousandth, 1 of all.
	scale := math.Log(1000)
	try := func(at float64) error {
		x, ok, err := f.ofKeys(ctx, t, math.Exp((at-1)*scale), most, progress)
		if ok {
			g.add(at, f.now(), x)
		}
		return err
	}
	for _, share := range []float64{0.001, 0.0018, 0.0032, 0.0056, 0.01, 0.017, 0.028, 0.045, 0.07, 0.1, 0.14, 0.19, 0.25, 0.32, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9} {
		if err := try(1 + math.Log(share)/scale); err != nil {
			return nil, nil, err
		}
		if n := len(g.tried); n > 0 && g.tried[n-1].score > worth(g.tried) {
			break
		}
	}
	if err := g.closer(least(others), try); err != nil {
		return nil, nil, err
	}
	all, tried = g.candidates()
	return all, tried, nil
}

// moreThanWorkers leaves out keys that nobody told of and that are no more than the
// workers: hardly anybody runs as many, and to predict that none more would help takes
// more than waits that something else explains as well.
func (f *fit) moreThanWorkers(few []candidate, counted []outcome) (left []candidate, outcomes []outcome) {
	if f.keysGiven {
		return few, counted
	}
	for i, c := range few {
		if c.keys > f.current.Workers {
			left, outcomes = append(left, c), append(outcomes, counted[i])
		}
	}
	return left, outcomes
}

// crowded is for a queue that looks overloaded. One that doesn't grow may have few
// keys, as no more than all of them can wait.
func (f *fit) crowded(ctx context.Context, t trial, progress func(string)) (outcome, error) {
	many, err := t.run(ctx)
	if err != nil {
		return many, err
	}
	if f.RawRate > 0 && many.score <= fits && !f.grown {
		f.overloaded = false // keys that wait hold others up, and --keys tells how many
		return many, nil
	}
	was := f.now()
	if many.score > fits && !f.grown {
		all, tried, err := f.hotKeys(ctx, t, []outcome{many}, progress)
		if err != nil {
			return many, err
		}
		if len(all) > 0 {
			if best := f.posterior(all, tried); best.score < many.score/2 {
				f.overloaded = false
				f.describeKeys(was)
				return best, nil
			}
		}
	}
	f.samples = nil
	f.take(was)
	f.Bursts = "taken to be at random (Poisson): an overloaded queue's waits don't tell"
	f.unknown("bursts: the queue was overloaded, so its waits tell of the overload")
	return many, nil
}

// saturated is the load of workers that always find a key waiting, and not more of
// them than there are keys.
const saturated = 0.999

// fewer looks for the fewest keys with which arrivals at random explain what was measured as
// well as many do: nothing but the waits for a key's own work tells of them, and with fewer
// workers more of what comes would be coalesced. Intervals hold what they predict.
func (f *fit) fewer(ctx context.Context, t trial, best outcome, progress func(string)) error {
	if f.keysGiven || f.throttled {
		return nil
	}
	defer f.take(f.now())
	samples := f.samples
	defer func() { f.samples = samples }()
	tried := []outcome{best}
	var fewest *Model
	for _, share := range []float64{0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3} {
		x, ok, err := f.ofKeys(ctx, t, share, keysUnknown, progress)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		tried = append(tried, x)
		if logs := logLikelihoods(tried); logs[len(logs)-1] < logs[0]-2 || x.score > surely {
			break
		}
		fewest = f.Model.alone(0)
		r := f.Spec.Resources[0]
		fewest.Spec.Resources[0].Count, fewest.Spec.Resources[0].Events.Arrivals = r.Count, r.Events.Arrivals
	}
	if fewest != nil {
		f.divided = append(f.divided, fewest)
	}
	return nil
}

// ofKeys simulates arrivals at random at so many keys, fewer than most, that this share of
// them is waiting or worked on; not if they would have to be too few.
func (f *fit) ofKeys(ctx context.Context, t trial, share float64, most int, progress func(string)) (outcome, bool, error) {
	r := &f.Model.Spec.Resources[0]
	waiting := f.ArrivalRate * f.wait.Mean()
	keys := int(math.Round((waiting + f.ArrivalRate*f.Work) / share))
	hidden := waiting / float64(keys)
	if keys < 2 || keys >= most || hidden > 0.9 {
		return outcome{}, false, nil
	}
	progress(fmt.Sprintf("%d keys", keys))
	r.Count, r.Events.Arrivals.Rate = keys, f.ArrivalRate/(1-hidden)
	x, err := t.run(ctx)
	return x, true, err
}

// mostFilled is how many keys are simulated until most of them wait; more of them fill a
// queue for so long that it may as well grow without end.
const mostFilled = 100_000

// bounded tells that there are so few keys that no more than all of them wait,
// however few the workers are: what comes on top is coalesced.
func (m *Model) bounded() bool {
	if m.Spec == nil || m.Observations == 0 {
		return false
	}
	if m.keysGiven {
		return m.Spec.Resources[0].Count <= mostFilled
	}
	for _, c := range m.samples {
		if c.keys >= keysUnknown {
			return false
		}
	}
	return m.Spec.Resources[0].Count < keysUnknown
}

// filling is how long it takes until as many keys wait as will in the long run, where
// that may be most of them: the queue comes nearer to it by a factor of e with as many
// arrivals as there are keys.
func (m *Model) filling(s Settings) time.Duration {
	r := m.Spec.Resources[0]
	if !m.bounded() || m.Offered < 0.9*float64(s.Workers) {
		return 0
	}
	return time.Duration(5 * float64(r.Count) / r.Events.Arrivals.Rate * 1e9)
}

// describeKeys puts the keys that change often, which are believed in, into words.
func (f *fit) describeKeys(was candidate) {
	r := f.Spec.Resources[0]
	f.RawRate, f.Coalesced = r.Events.Arrivals.Rate, 1-f.ArrivalRate/r.Events.Arrivals.Rate
	low, high := was.keys, 0
	for _, c := range append(slices.Clone(f.samples), f.now()) {
		if c.keys < was.keys {
			low, high = min(low, c.keys), max(high, c.keys)
		}
	}
	if r.Skew.S > 0 {
		f.Bursts = fmt.Sprintf("at random (Poisson) on keys of which some change more often than others, the k-th about in proportion to 1/k^%.2g, which wait while they are worked on", r.Skew.S)
	} else {
		f.Bursts = fmt.Sprintf("at random (Poisson) on few keys, about %d, which wait while they are worked on", r.Count)
	}
	if f.keysGiven {
		f.doubt("%d keys that change as often as each other would not wait like this; it is explained best if some change more often than others, but not how often the others do", was.keys)
		return
	}
	f.guessed = true
	f.doubt("many keys would not wait like this; %d to %d that often change while they wait or are worked on explain it best; --keys says how many there are", low, high)
}
