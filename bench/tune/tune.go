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
	Progress    func(advice.Progress)
}

// A tuning is under way.
type tuning struct {
	Options
	kind    defaults.Flavour
	started time.Time
	result  *advice.Result
}

// begin takes the defaults of what the options leave open.
func begin(o Options, kind defaults.Flavour) *tuning {
	if o.Progress == nil {
		o.Progress = func(advice.Progress) {}
	}
	if o.Queues == nil {
		o.Queues = predict.MeasuredQueues
	}
	o.Seed = cmp.Or(o.Seed, 1)
	r := &advice.Result{Schema: advice.SchemaVersion, Flavour: string(kind), Seed: o.Seed, Objectives: o.Objectives, Stopped: "complete"}
	return &tuning{o, kind, time.Now(), r}
}

func (t *tuning) left() time.Duration { return t.Budget - time.Since(t.started) }

// tell gives what tells the progress with a queue.
func (t *tuning) tell(queue string) func(string) {
	return func(doing string) {
		t.Progress(advice.Progress{Elapsed: time.Since(t.started), Left: max(0, t.left()), Doing: queue + ": " + doing})
	}
}

// part is the context of what may take that share of the time that is left.
func (t *tuning) part(ctx context.Context, share float64) (context.Context, context.CancelFunc) {
	if t.Budget == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, max(time.Millisecond, time.Duration(share*float64(t.left()))))
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
	t := begin(o, defaults.FlavourOf(d))
	r := t.result
	fits, err := t.fitAll(d)
	if err != nil {
		return nil, err
	}
	if err := t.adviseAll(ctx, fits); err != nil {
		return nil, err
	}
	short := false
	for _, f := range fits {
		r.Queues = append(r.Queues, f.Advice)
		short = short || f.Refused == "" && len(f.Measured.Steps) < minSteps
	}
	if t.kind == defaults.ControllerManager {
		r.Paste = advice.ManagerFlags(r.Queues)
	}
	r.Notes = append(r.Notes, d.Gaps...)
	if short {
		r.Notes = append(r.Notes, fmt.Sprintf("fewer than %d scrapes in a row don't tell how the load varies: a longer series, of a URL over --interval or of --prometheus, tells how many arrive at once, how long bursts last and how often they come", minSteps+1))
	}
	return r, nil
}

// fitAll begins the advice of each queue, and its fit; of those that are refused there is
// no model.
func (t *tuning) fitAll(d *scrape.Delta) (fits []*fit, err error) {
	own := t.Client == "own" || t.Client == "" && t.kind == defaults.ControllerManager
	names := d.Names()
	if t.Queue != "" {
		if !slices.Contains(names, t.Queue) {
			return nil, fmt.Errorf("queue: unknown queue %q, expected one of %s", t.Queue, strings.Join(names, ", "))
		}
		names = []string{t.Queue}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(d.Queues[b].Work.Sum, d.Queues[a].Work.Sum) })
	for _, name := range names {
		q := d.Queues[name]
		if q.Adds == 0 && q.Work.Count() == 0 && !q.Reset && len(names) > 1 {
			t.result.Idle = append(t.result.Idle, name)
			continue
		}
		current := t.kind.Current(t.Current, q)
		if current.Workers > 0 {
			if err := check(current, t.Options); err != nil {
				return nil, err
			}
		}
		f := &fit{Advice: advice.Advice{Queue: name, Current: current, Recommended: current.Settings}}
		if f.Refused, f.Record = refuse(t.kind, d, q, current); f.Refused == "" {
			f = newFit(d, q, current, t.Options, own)
		}
		fits = append(fits, f)
	}
	if own && len(fits) > 1 {
		t.result.Notes = append(t.result.Notes, "each queue's client is taken to have a limit of its own, as in kube-controller-manager; --client shared says otherwise")
	}
	return fits, nil
}

// adviseAll completes the advice on queues of which something can be gained.
func (t *tuning) adviseAll(ctx context.Context, fits []*fit) error {
	var waiting []*fit
	for _, f := range fits {
		switch {
		case f.Refused != "":
		case f.content(t.Options):
			f.KeepCurrent(t.kind)
		default:
			waiting = append(waiting, f)
		}
	}
	for i, f := range waiting {
		err := t.advise(ctx, f, len(waiting)-i)
		if err != nil && !interrupted(err) && f.Now == nil {
			return fmt.Errorf("%s: %w", f.Advice.Queue, err)
		}
		t.stopped(ctx, err)
	}
	return nil
}

// stopped notes why advice ended early.
func (t *tuning) stopped(ctx context.Context, err error) {
	switch {
	case err == nil:
	case ctx.Err() != nil:
		t.result.Stopped = "interrupted"
	case interrupted(err):
		t.result.Stopped = "budget"
	default:
		t.result.Notes = append(t.result.Notes, err.Error())
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
