package tune

import (
	"cmp"
	"context"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/search"
)

// content tells that nothing can be gained: the workers hardly work, no key
// waits longer than a goroutine takes to wake up, and no objective forbids the
// current settings, and nobody asks for others.
func (f *fit) content(o Options) bool {
	for _, x := range o.Objectives {
		allowed := x.Figure == "wait" && x.Bound >= floor || x.Figure == "workers" && float64(f.Current.Workers) <= x.Bound
		if !allowed {
			return false
		}
	}
	_, wait := f.Measured.Wait.Quantile(0.99)
	return len(o.WhatIf) == 0 && f.Utilisation < idle && wait <= floor && f.Throttle*f.Calls < heldUp*f.Work
}

// advise fits, searches and explains, in an equal part of the time for each of the queues that
// wait for it. What it found before an error stays. A fit that takes more than three fifths of
// its time may end early, if what was tried explains the waits.
func (t *tuning) advise(ctx context.Context, f *fit, waiting int) error {
	ctx, cancel := t.part(ctx, 1/float64(waiting))
	defer cancel()
	fitting, stop := t.part(ctx, 0.6/float64(waiting))
	err := f.explain(fitting, t.Seed, t.tell(f.Advice.Queue))
	stop()
	var cut error
	if interrupted(err) && ctx.Err() == nil && f.Posterior != nil {
		cut, err = err, nil
		f.doubt("the time for the fit was over before all was tried that may explain the waits as well; a longer --budget would do")
	}
	if err == nil {
		err = f.reproduce(ctx, t.Seed)
	}
	if f.Refused != "" {
		f.Unidentified, f.Doubts = nil, nil
		return cut
	}
	return cmp.Or(t.finish(ctx, &f.Advice, f.undivided, err), cut)
}

// search is what a queue's settings are searched for. The limit of a queue that may make more calls
// than its part is not lowered, nor one that a flag sets for all controllers.
func (o Options) search(current predict.Current, kind defaults.Flavour, undivided bool, progress func(string)) search.Config {
	flags := kind == defaults.ControllerManager
	return search.Config{Current: current.Settings, Objectives: o.Objectives, Seed: o.Seed, KeepLimit: undivided || flags, Progress: progress}
}

// finish completes the advice of a model, unless what came before ended with an error, and puts
// into words what there is.
func (t *tuning) finish(ctx context.Context, a *advice.Advice, undivided bool, err error) error {
	progress := t.tell(a.Queue)
	s := search.New(a.Model, t.search(a.Current, t.kind, undivided, progress))
	if err == nil {
		err = t.recommend(ctx, a, s, progress)
	} else {
		a.Ask(t.WhatIf)
	}
	if err != nil {
		a.Recommended, a.Unmet = s.CutOff(a.Recommended, a.Now)
	}
	a.Explain(t.kind)
	return err
}

// recommend searches, and predicts what it finds.
func (t *tuning) recommend(ctx context.Context, a *advice.Advice, s *search.Search, progress func(string)) error {
	now, err := a.Model.Predict(ctx, a.Current.Settings, predict.Finest, t.Seed+1)
	if err != nil {
		return err
	}
	a.Now = &now
	if err := a.PredictWhatIf(ctx, t.WhatIf, t.Seed+1, progress); err != nil {
		return err
	}
	if a.Quiet = quiet(a.Model, now, t.Options); a.Quiet {
		return nil
	}
	best, err := s.Best(ctx)
	a.Recommended, a.Impossible, a.Pareto = best, s.Impossible(), s.Pareto()
	if err != nil {
		return err
	}
	a.ChooseQueue()
	best, then, err := s.Firm(ctx, a.Recommended)
	if err != nil {
		return err
	}
	a.Recommended, a.Then, a.Impossible = best, &then, s.Impossible()
	for _, f := range []predict.Figures{now, then} {
		if f.Stable {
			s.Refined(f)
		}
	}
	a.Pareto = s.Pareto()
	a.Curves, err = s.Curves(ctx, best)
	return err
}

// quiet reports whether there is no reason to look for other settings: nobody asked for
// anything, and workers and client are far from full.
func quiet(m *predict.Model, now predict.Figures, o Options) bool {
	return len(o.Objectives) == 0 && m.Observations > 0 && now.Stable && now.Load < quietLoad &&
		now.Wait.P99.Mean < feltWait && m.Calls*m.Throttle < heldUp*m.Work
}
