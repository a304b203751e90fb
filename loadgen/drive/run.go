package drive

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/machine"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"k8s.io/client-go/tools/cache"
)

// Phases of a drive.
const (
	phaseSync  = "sync"
	phaseLoad  = "load"
	phaseDrain = "drain"
	phaseDone  = "done"
)

func (d *drive) run(ctx context.Context) (Result, error) {
	result := Result{
		Schema: SchemaVersion, Workload: d.config.Workload, Arm: d.config.Arm, Round: d.config.Round, Seed: d.config.Seed,
		Setup: d.setup(), Environment: machine.Here(),
	}
	hurry, hasten := context.WithCancel(context.Background())
	defer hasten()
	if err := d.build(hurry); err != nil {
		return result, err
	}
	defer d.shutDown.Do(d.c.shutDown)
	if err := d.serve(); err != nil {
		return result, err
	}
	running, stop := context.WithCancel(context.Background())
	defer func() { stop(); d.background.Wait() }()
	d.enter(phaseSync)
	for _, r := range d.resources {
		d.background.Go(func() { r.informer.RunWithContext(running) })
	}
	if err := d.sync(ctx); err != nil {
		return result, err
	}

	d.begin()
	result.Started = time.Now().UTC()
	d.enter(phaseLoad)
	before := read()
	d.timeline.beforeReading = before
	d.c.run(&d.workers)
	ticking, stopTicking := context.WithCancel(running)
	d.background.Go(func() { d.watchClock(ticking) })
	d.background.Go(func() { d.probe(ticking) })
	d.startReaders(ticking)
	var err error
	result.Stopped, err = d.load(ctx)
	cutoff := d.now()
	result.Load = cutoff

	d.enter(phaseDrain)
	d.c.stopping.Store(true)
	// Until the workers are gone, and not only while there is something to settle:
	// what a resync has queued may take them minutes.
	defer context.AfterFunc(ctx, hasten)()
	defer time.AfterFunc(d.config.Drain, func() {
		d.overdue.Store(ctx.Err() == nil)
		hasten()
	}).Stop()
	d.drain(hurry)
	d.shutDown.Do(d.c.shutDown)
	d.workers.Wait()
	result.Drain = d.now() - cutoff
	stopTicking()
	result.Usage = read().since(before)
	stop()
	d.background.Wait()
	d.finish(&result)
	return result, err
}

// sync waits for the first lists. Where the load keeps back their end it waits no
// longer than it waits for anything else.
func (d *drive) sync(ctx context.Context) error {
	limited := ctx
	if d.spec.Faults.NoListEnd {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, d.quiet()+d.spec.Faults.SlowList)
		defer cancel()
	}
	var all []cache.DoneChecker
	for _, r := range d.resources {
		all = append(all, r.handled.HasSyncedChecker())
	}
	switch {
	case cache.WaitFor(limited, "", all...):
		return nil
	case ctx.Err() != nil:
		return errSync
	}
	var missing []string
	for _, r := range d.resources {
		if !r.handled.HasSynced() {
			missing = append(missing, r.name)
		}
	}
	return fmt.Errorf("%s: %w", strings.Join(missing, ", "), ErrNeverSynced)
}

// quiet is how long nothing may happen until a drive gives up waiting. Where
// watches break, a reflector waits up to half a minute before its next try.
func (d *drive) quiet() time.Duration {
	if d.spec.Faults.Gone > 0 || d.spec.Faults.Disconnect > 0 {
		return 40 * time.Second
	}
	return 3 * time.Second
}

// drain waits until all events are settled, or nothing moves any more. A reconcile
// under way moves, however slow it is, until hurry cuts it short: what then is not
// seen is lost.
func (d *drive) drain(hurry context.Context) {
	moved := d.now()
	openBefore, unseenBefore := int64(-1), int64(-1)
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for {
		open, unseen := d.ledger.open.Load(), d.ledger.unseen()
		now, late, busy := d.now(), hurry.Err() != nil, d.c.busy.Load() > 0
		if open != openBefore || unseen != unseenBefore || open > 0 && busy && !late {
			moved, openBefore, unseenBefore = now, open, unseen
		}
		idle := d.c.queue.Len() == 0 && !busy
		limit := d.quiet()
		if unseen == 0 {
			limit = retryQuiet // only retries are under way
		}
		if open == 0 && idle || unseen == 0 && late && idle || now-moved > limit {
			return
		}
		<-poll.C
	}
}

// retryQuiet is how long a drive waits for a retry that succeeds.
const retryQuiet = 2 * time.Second

// finish fills in what is known at the end.
func (d *drive) finish(result *Result) {
	last := d.tick()
	c := d.c
	a := &result.Accounting
	d.ledger.balance(a)
	a.Initial = d.initial
	a.Adds, a.Reconciles, a.Failures = int(c.adds.Load()+c.retried.Load()+c.requeued.Load()), int(c.reconciles.Load()), int(c.failures.Load())
	a.Needless = c.delayed.count()
	a.GivenUp, a.Requeued, a.Hurried, a.APICalls = int(c.givenUp.Load()), int(c.requeued.Load()), int(c.hurried.Load()), int(c.calls.Load())
	add := func(name string, x durations.Distribution) {
		if x.Count > 0 {
			result.Latencies = append(result.Latencies, Latency{name, x})
		}
	}
	for _, name := range []string{Watch, Store, Enqueued, PickedUp, Reconciled, Settled, HandlerWait, OwnWrite, FirstList, QueueWait, Work, Throttle, Staleness, Read} {
		add(name, d.meters.distribution(name))
	}
	add(Lateness, d.pacer.Lateness().Distribution())
	add(Taken, d.pacer.Taken().Distribution())
	served := d.server.Stats()
	a.Relists = max(0, int(served.Lists)-len(d.resources))
	a.Disconnects = int(served.Disconnects + served.Gone)
	result.Timeline = d.timeline.ticks
	result.Generator.PerEvent, result.Generator.Lateness = d.source.perEvent, d.alone
	if cpu := result.Usage.CPU; cpu > 0 {
		result.Generator.Share = float64(d.source.perEvent) * float64(a.Sent) / float64(cpu)
	}
	result.Usage.Burnt = time.Duration(c.work.burnt.Load())
	result.Usage.HeapPeak = d.timeline.heapPeak
	d.doubts(result)
	d.enter(phaseDone)
	d.progress(last)
}

// Limits above which a result warns.
const (
	costlyLoad = 0.1                  // share of the CPU time
	lateLoad   = 1 * time.Millisecond // p99 of its lateness
)

// doubts are what a reader of the result should know.
func (d *drive) doubts(r *Result) {
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	a := r.Accounting
	if d.source.cut != nil {
		warn("%v; what comes before is used", d.source.cut)
	}
	for _, w := range d.source.warnings {
		warn("%v", w)
	}
	if r.Generator.Share > costlyLoad {
		warn("the load itself takes %.0f%% of the CPU time: more processors or fewer events would tell more about the controller", 100*r.Generator.Share)
	}
	late, taken := r.Latency(Lateness).At(0.99), r.Latency(Taken).At(0.99)
	switch {
	case d.stream.unpaced() && a.Sent > 1:
		warn("the events came as fast as possible: latencies count from the start of the load and tell how long all of it takes")
	case late > lateLoad:
		warn("the load was %s late (p99; without the controller, at 10,000 events/s, %s): latencies count from when an event was due and include that",
			durations.Text(late), durations.Text(r.Generator.Lateness))
	case taken > lateLoad:
		warn("the load was at most %[2]s late (p99), but this process picked events up only %[1]s after they were due (p99), because its goroutines waited for a processor; latencies count from when an event was due and include that",
			durations.Text(taken), durations.Text(late))
	}
	if a.Hurried > 0 {
		why := "the drive was interrupted"
		if d.overdue.Load() {
			why = fmt.Sprintf("the controller was still behind %s after the load", d.config.Drain)
		}
		warn("%s: %s cut short, and the latencies of their events are lower bounds", why, were(a.Hurried, "reconcile"))
	}
	if a.Unsettled > 0 {
		warn("%s seen, but no reconcile of them had succeeded when the drive ended", were(a.Unsettled, "event"))
	}
	if n := d.spec.Reconcile.Batch; n != informerBatch && !d.config.Parts.takesBatch() {
		warn("the workload asks for informer batches of %d, and these informers take %d at most: choose plain, snapshot or FIFOs slice or ring", n, informerBatch)
	}
	if r.Stopped == Interrupted {
		warn("interrupted: what was seen until then is shown")
	}
}

// were counts what something happened to.
func were(n int, what string) string {
	if n == 1 {
		return "1 " + what + " was"
	}
	return fmt.Sprintf("%d %ss were", n, what)
}

func (d *drive) setup() Setup {
	r := d.spec.Reconcile
	s := Setup{
		Parts: d.config.Parts, Workers: r.Workers, TwoQueues: d.config.TwoQueues, QPS: r.QPS, Burst: r.Burst,
		ServiceMode: "sleep", Failure: r.Failure, Retries: r.Retries, Resync: r.Resync,
		Speed: d.config.Speed, ColdStart: d.config.ColdStart, OwnWrites: d.config.OwnWrites,
	}
	if d.config.CPU {
		s.ServiceMode = "cpu"
	}
	for to, d := range map[*string]randvar.Dist{&s.Service: r.Service, &s.Calls: r.Calls, &s.CallLatency: r.CallLatency} {
		if !d.IsZero() {
			*to = d.String()
		}
	}
	return s
}

// enter begins a phase.
func (d *drive) enter(phase string) {
	d.phase.Store(phase)
	if phase == phaseSync || phase == phaseLoad {
		d.progress(Tick{})
	}
}

// planned is how long the load will go on, 0 if that is not known.
func (d *drive) planned() time.Duration {
	planned := d.config.Duration
	if d.config.Trace == nil && d.config.Speed > 0 && d.spec.Duration > 0 {
		whole := time.Duration(float64(d.spec.Duration) / d.config.Speed)
		if planned == 0 || whole < planned {
			planned = whole
		}
	}
	return planned
}

func (d *drive) progress(t Tick) {
	if d.config.Progress == nil {
		return
	}
	p := Progress{Phase: d.phase.Load().(string), Of: d.planned(), Tick: t}
	if p.Phase != phaseSync {
		p.Elapsed = d.now()
		p.Sent = int(d.ledger.sent.Load())
		p.Seen = p.Sent - int(d.ledger.unseen())
	}
	d.config.Progress(p)
}
