package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/bench/tune/search"
	"k8s.io/utils/clock"
)

// Options say what is known beside the data, and what is wanted.
type Options struct {
	Queue       string               // tune this one only
	Current     predict.Current      // settings that are known; the others are the metrics' or defaults
	Objectives  []search.Objective   // none: as fast as it gets within 5%, as cheaply as that can be had
	Keys        int                  // objects of the queue; 0: not known
	Calls       float64              // API calls a reconcile; 0: as the client's counters tell
	CallLatency time.Duration        // of one, once sent; 0: likewise
	WhatIf      []advice.Alternative // to predict beside the recommendation
	Queues      []predict.QueueCost  // variants to choose from; none: those measured for this package
	Client      string               // "shared": all queues of the process share one limit, "own": each has its own; "": own in kube-controller-manager, else shared
	Seed        uint64
	Budget      time.Duration // for all queues; 0: none
	Clock       clock.PassiveClock
	Progress    func(advice.Progress)
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
		o.Progress = func(advice.Progress) {}
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Queues == nil {
		o.Queues = predict.MeasuredQueues
	}
	return timer{*o, o.Clock.Now()}
}

func (t timer) left() time.Duration { return t.o.Budget - t.o.Clock.Since(t.started) }

func (t timer) tell(queue string) func(string) {
	return func(doing string) {
		t.o.Progress(advice.Progress{Elapsed: t.o.Clock.Since(t.started), Left: max(0, t.left()), Doing: queue + ": " + doing})
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
func Metrics(ctx context.Context, d *scrape.Delta, o Options) (*advice.Result, error) {
	if d.Interval > longestInterval {
		return nil, fmt.Errorf("interval: found %v by %s, expected at most %v", d.Interval, d.Told, longestInterval)
	}
	t := newTimer(&o)
	kind := defaults.FlavourOf(d)
	r := &advice.Result{Schema: advice.SchemaVersion, Flavour: string(kind), Seed: o.Seed, Objectives: o.Objectives, Stopped: "complete"}
	own := o.Client == "own" || o.Client == "" && kind == defaults.ControllerManager
	fits, err := fitAll(r, d, o, kind, own)
	if err != nil {
		return nil, err
	}
	if own && len(fits) > 1 {
		r.Notes = append(r.Notes, "each queue's client is taken to have a limit of its own, as in kube-controller-manager; --client shared says otherwise")
	}
	if err := adviseAll(ctx, r, fits, t, kind); err != nil {
		return nil, err
	}
	if kind == defaults.ControllerManager {
		r.Paste = advice.ManagerFlags(r.Queues)
	}
	r.Notes = append(r.Notes, d.Gaps...)
	if slices.ContainsFunc(r.Queues, func(a advice.Advice) bool { return a.Refused == "" && len(d.Queues[a.Queue].Steps) < minSteps }) {
		r.Notes = append(r.Notes, fmt.Sprintf("fewer than %d scrapes in a row don't tell how the load varies: a longer series, of a URL over --interval or of --prometheus, tells how many arrive at once, how long bursts last and how often they come", minSteps+1))
	}
	return r, nil
}

// fitAll begins the advice of each queue, and its fit; of those that are refused there is
// none.
func fitAll(r *advice.Result, d *scrape.Delta, o Options, kind defaults.Flavour, own bool) (fits []*fit, err error) {
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
		current := kind.Current(o.Current, q)
		if current.Workers > 0 {
			if err := check(current, o); err != nil {
				return nil, err
			}
		}
		a := advice.Advice{Queue: name, Current: current, Recommended: current.Settings}
		var f *fit
		if a.Refused, a.Record = refuse(d, q); a.Refused == "" {
			a.Refused, a.Record = unstaffed(kind, q, current, d.Interval)
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
func adviseAll(ctx context.Context, r *advice.Result, fits []*fit, t timer, kind defaults.Flavour) error {
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
			a.Unidentified, a.Doubts = f.unidentified, f.doubts
			a.KeepCurrent(kind)
			continue
		}
		part, cancel := t.part(ctx, todo)
		err := f.advise(part, a, t.o, kind, t.tell(a.Queue))
		cancel()
		if err != nil && !interrupted(err) && a.Now == nil {
			return fmt.Errorf("%s: %w", a.Queue, err)
		}
		stopped(ctx, r, err)
		todo--
	}
	return nil
}

// stopped notes why advice ended early.
func stopped(ctx context.Context, r *advice.Result, err error) {
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

// interrupted tells the end of time or patience from a fault.
func interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// check reports the first setting that makes no sense, now or after a change.
func check(c predict.Current, o Options) error {
	if err := c.Check(o.Queues); err != nil {
		return err
	}
	for _, x := range o.WhatIf {
		if err := x.Of(c.Settings).Check(o.Queues); err != nil {
			return fmt.Errorf("what if %s: %w", x.Text, err)
		}
	}
	return nil
}
