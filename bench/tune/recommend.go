package tune

import (
	"cmp"
	"context"
	"time"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/search"
)

// content tells that nothing can be gained: the workers hardly work, no key
// waits longer than a goroutine takes to wake up, and no objective forbids the
// current settings, and nobody asks for others.
func (f *fit) content(o Options) bool {
	_, wait := f.Measured.Wait.Quantile(0.99)
	for _, x := range o.Objectives {
		switch x.Figure {
		case "wait":
			if x.Bound < floor {
				return false
			}
		case "workers":
			if float64(f.current.Workers) > x.Bound {
				return false
			}
		default:
			return false
		}
	}
	return len(o.WhatIf) == 0 && f.Utilisation < idle && wait <= floor && f.Throttle*f.Calls < heldUp*f.Work
}

// advise fits, searches and explains. What it found before an error stays. A fit that
// takes too long may end early, if what was tried explains the waits.
func (f *fit) advise(ctx context.Context, a *advice.Advice, o Options, kind defaults.Flavour, progress func(string)) error {
	fitting, cancel := most(ctx)
	err := f.explain(fitting, o.Seed, progress)
	cancel()
	var cut error
	if interrupted(err) && ctx.Err() == nil && f.Posterior != nil {
		cut, err = err, nil
		f.doubt("the time for the fit was over before all was tried that may explain the waits as well; a longer --budget would do")
	}
	if err == nil {
		a.Reproduction, err = f.reproduction(ctx, o.Seed)
	}
	a.Current = f.current
	a.Model = f.Model
	if err == nil {
		if a.Refused, a.Record = a.Reproduction.Refuse(f.Model); a.Refused != "" {
			return cut
		}
	}
	a.Unidentified, a.Doubts = f.unidentified, f.doubts
	s := search.New(a.Model, o.search(a.Current, kind, f.undivided, progress))
	if err == nil {
		err = recommend(ctx, a, s, o, progress)
	} else {
		a.Ask(o.WhatIf)
		cutOff(a, s)
	}
	a.Explain(kind)
	return cmp.Or(err, cut)
}

// most is a context that leaves two fifths of the time.
func most(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)*3/5)
}

// search is what a queue's settings are searched for. The limit of a queue that may make more calls
// than its part is not lowered, nor one that a flag sets for all controllers.
func (o Options) search(current predict.Current, kind defaults.Flavour, undivided bool, progress func(string)) search.Config {
	flags := kind == defaults.ControllerManager
	return search.Config{Current: current.Settings, Objectives: o.Objectives, Seed: o.Seed, KeepLimit: undivided || flags, Progress: progress}
}

// recommend completes the advice of a model.
func recommend(ctx context.Context, a *advice.Advice, s *search.Search, o Options, progress func(string)) (err error) {
	a.Recommended = a.Current.Settings
	defer func() {
		if err != nil {
			cutOff(a, s)
		}
	}()
	now, err := a.Model.Predict(ctx, a.Current.Settings, predict.Finest, o.Seed+1)
	if err != nil {
		return err
	}
	a.Now = &now
	if err := a.PredictWhatIf(ctx, o.WhatIf, o.Seed+1, progress); err != nil {
		return err
	}
	if a.Quiet = quiet(a.Model, now, o); a.Quiet {
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

// cutOff takes what a search knows that ended early.
func cutOff(a *advice.Advice, s *search.Search) {
	x, impossible, unmet := s.CutOff(a.Recommended, a.Now)
	a.Recommended = x
	a.Impossible, a.Unmet = append(a.Impossible, impossible...), append(a.Unmet, unmet...)
}
