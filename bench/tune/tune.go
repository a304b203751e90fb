package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen/durations"
	"k8s.io/utils/clock"
)

// Options say what is known beside the data, and what is wanted.
type Options struct {
	Queue       string        // tune this one only
	Current     Current       // settings that are known; the others are the metrics' or defaults
	Objectives  []Objective   // none: as fast as it gets within 5%, as cheaply as that can be had
	Keys        int           // objects of the queue; 0: not known
	Calls       float64       // API calls a reconcile; 0: as the client's counters tell
	CallLatency time.Duration // of one, once sent; 0: likewise
	WhatIf      []Alternative // to predict beside the recommendation
	Queues      []QueueCost   // variants to choose from; none: those measured for this package
	Client      string        // "shared": all queues of the process share one limit, "own": each has its own; "": own in kube-controller-manager, else shared
	Seed        uint64
	Budget      time.Duration // for all queues; 0: none
	Clock       clock.PassiveClock
	Progress    func(Progress)
}

// timer divides the budget among the queues and tells the progress.
type timer struct {
	o       Options
	started time.Time
}

func newTimer(o *Options) timer {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Queues == nil {
		o.Queues = measuredQueues
	}
	return timer{*o, o.Clock.Now()}
}

func (t timer) left() time.Duration { return t.o.Budget - t.o.Clock.Since(t.started) }

func (t timer) tell(queue string) func(string) {
	return func(doing string) {
		t.o.Progress(Progress{Elapsed: t.o.Clock.Since(t.started), Left: max(0, t.left()), Doing: queue + ": " + doing})
	}
}

// part is the context of one of several pieces of work still to do.
func (t timer) part(ctx context.Context, pieces int) (context.Context, context.CancelFunc) {
	if t.o.Budget == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, max(time.Millisecond, t.left()/time.Duration(pieces)))
}

// longestInterval is what a simulation may take, with its begin: a year.
const longestInterval = 9000 * time.Hour

// Metrics advises on every queue that worked in the interval, the busiest
// first. When the context ends it keeps what was found; it fails on wrong
// options and where a model can't be simulated.
func Metrics(ctx context.Context, d *scrape.Delta, o Options) (*Result, error) {
	if d.Interval > longestInterval {
		return nil, fmt.Errorf("interval: found %v by %s, expected at most %v", d.Interval, d.Told, longestInterval)
	}
	t := newTimer(&o)
	kind := flavourOf(d)
	r := &Result{Schema: SchemaVersion, Flavour: string(kind), Seed: o.Seed, Objectives: o.Objectives, Stopped: "complete"}
	own := o.Client == "own" || o.Client == "" && kind == controllerManager
	fits, err := r.fitAll(d, o, kind, own)
	if err != nil {
		return nil, err
	}
	if own && len(fits) > 1 {
		r.Notes = append(r.Notes, "each queue's client is taken to have a limit of its own, as in kube-controller-manager; --client shared says otherwise")
	}
	if err := r.adviseAll(ctx, fits, t, kind); err != nil {
		return nil, err
	}
	if kind == controllerManager {
		r.Paste = managerPaste(r.Queues)
	}
	r.Notes = append(r.Notes, d.Gaps...)
	if slices.ContainsFunc(r.Queues, func(a Advice) bool { return a.Refused == "" && len(d.Queues[a.Queue].Steps) < minSteps }) {
		r.Notes = append(r.Notes, fmt.Sprintf("fewer than %d scrapes in a row don't tell how the load varies: a longer series, of a URL over --interval or of --prometheus, tells how many arrive at once, how long bursts last and how often they come", minSteps+1))
	}
	return r, nil
}

// fitAll begins the advice of each queue, and its fit; of those that are refused there is
// none.
func (r *Result) fitAll(d *scrape.Delta, o Options, kind flavour, own bool) (fits []*fit, err error) {
	names := d.Names()
	if o.Queue != "" {
		if _, ok := d.Queues[o.Queue]; !ok {
			return nil, fmt.Errorf("queue: unknown queue %q, expected one of %s", o.Queue, strings.Join(names, ", "))
		}
		names = []string{o.Queue}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(d.Queues[b].Work.Sum, d.Queues[a].Work.Sum) })
	for _, name := range names {
		q := d.Queues[name]
		if q.Adds == 0 && q.Work.Count() == 0 && !q.Reset && len(names) > 1 {
			r.Idle = append(r.Idle, name)
			continue
		}
		current := kind.current(o.Current, q)
		if current.Workers > 0 {
			if err := current.check(o); err != nil {
				return nil, err
			}
		}
		a := Advice{Queue: name, Current: current, Recommended: current.Settings}
		var f *fit
		if a.Refused, a.Record = refuse(d, q); a.Refused == "" {
			a.Refused, a.Record = kind.unstaffed(q, current, d.Interval)
		}
		if a.Refused == "" {
			a.Refused, a.Record = implausible(q, current, d.Interval)
		}
		if a.Refused == "" {
			f = newFit(d, q, current, o, own)
			a.Current, a.Model = f.current, f.Model
		}
		fits = append(fits, f)
		r.Queues = append(r.Queues, a)
	}
	return fits, nil
}

// adviseAll completes the advice, with an equal part of the time for each queue of which
// something can be gained.
func (r *Result) adviseAll(ctx context.Context, fits []*fit, t timer, kind flavour) error {
	todo := 0
	for _, f := range fits {
		if f != nil && !f.content(t.o) {
			todo++
		}
	}
	for i, f := range fits {
		if f == nil {
			continue
		}
		a := &r.Queues[i]
		if f.content(t.o) {
			a.keep(f, kind)
			continue
		}
		part, cancel := t.part(ctx, todo)
		err := f.advise(part, a, t.o, kind, t.tell(a.Queue))
		cancel()
		if err != nil && !interrupted(err) && a.Now == nil {
			return fmt.Errorf("%s: %w", a.Queue, err)
		}
		r.stopped(ctx, err)
		todo--
	}
	return nil
}

// content tells that nothing can be gained: the workers hardly work, no key
// waits longer than a goroutine takes to wake up, and no objective forbids the
// current settings, and nobody asks for others.
func (f *fit) content(o Options) bool {
	_, wait := f.wait.Quantile(0.99)
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

// keep is the advice to change nothing.
func (a *Advice) keep(f *fit, kind flavour) {
	a.Summary = fmt.Sprintf("Nothing to change: the workers are busy %s of the time, and 99%% of the keys wait less than %s.", percent(f.Utilisation), durations.Seconds(floor))
	a.Bottleneck = "Nothing binds."
	a.Unidentified, a.Doubts = f.unidentified, f.doubts
	a.changes()
	a.Paste = paste(*a, kind)
}

// stopped notes why advice ended early.
func (r *Result) stopped(ctx context.Context, err error) {
	switch {
	case err == nil:
	case ctx.Err() != nil:
		r.Stopped = "interrupted"
	case interrupted(err):
		r.Stopped = "budget"
	default:
		r.Notes = append(r.Notes, err.Error())
	}
}

// advise fits, searches and explains. What it found before an error stays. A fit that
// takes too long may end early, if what was tried explains the waits.
func (f *fit) advise(ctx context.Context, a *Advice, o Options, kind flavour, progress func(string)) error {
	fitting, cancel := most(ctx)
	err := f.explain(fitting, o.Seed, progress)
	cancel()
	var cut error
	if interrupted(err) && ctx.Err() == nil && f.found != nil {
		cut, err = err, nil
		f.doubt("the time for the fit was over before all was tried that may explain the waits as well; a longer --budget would do")
	}
	if err == nil {
		a.Reproduction, err = f.reproduction(ctx, o.Seed)
	}
	a.Current = f.current
	a.Model = f.Model
	a.Unidentified, a.Doubts = f.unidentified, f.doubts
	if err == nil {
		err = search1(ctx, a, o, kind, progress)
	} else {
		a.cutOff(o.Objectives, nil)
	}
	a.explain(kind)
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

// search1 recommends for a model.
func search1(ctx context.Context, a *Advice, o Options, kind flavour, progress func(string)) (err error) {
	s := newSearch(a.Model, a.Current.Settings, o, kind, progress)
	a.Recommended = a.Current.Settings
	defer func() {
		if err != nil {
			a.cutOff(o.Objectives, s)
		}
	}()
	now, err := s.m.predict(ctx, a.Current.Settings, finest, o.Seed+1)
	if err != nil {
		return err
	}
	a.Now = &now
	if err := a.whatIf(ctx, s.m, o, progress); err != nil {
		return err
	}
	if a.Quiet = a.Model.quiet(now, o); a.Quiet {
		return nil
	}
	best, err := s.best(ctx)
	a.Recommended, a.Impossible, a.Pareto = best, s.impossible, s.pareto()
	if err != nil {
		return err
	}
	best, then, err := s.firm(ctx, best)
	if err != nil {
		return err
	}
	if !then.Stable && len(s.impossible) == 0 {
		a.Impossible = append(a.Impossible, s.overloaded(then))
	}
	a.Recommended, a.Then = best, &then
	for _, f := range []Figures{now, then} {
		if f.Stable {
			s.refined(f)
		}
	}
	a.Pareto = s.pareto()
	a.Curves, err = s.curves(ctx, best)
	return err
}
