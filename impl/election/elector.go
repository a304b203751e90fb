package election

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// An Elector is a candidate for leadership, ours or leaderelection's.
type Elector interface {
	Run(context.Context)
	IsLeader() bool
	GetLeader() string
	Check(maxTolerableExpiredLease time.Duration) error
}

var (
	_ Elector = (*LeaderElector)(nil)
	_ Elector = (*leaderelection.LeaderElector)(nil)
)

// A LeaderElector is one candidate. Its methods may be called from any goroutine, but
// for Run while another Run has not returned.
//
// Invariant: it leads only while the clock is before until, and until is never
// more than RenewDeadline after the start of a write that succeeded. The others
// see that write no sooner than it started, and wait LeaseDuration from there.
type LeaderElector struct {
	config   leaderelection.LeaderElectionConfig
	identity string
	lock     string // what logs call it
	clock    clock.Clock
	options  Options
	metric   leaderelection.LeaderMetric

	mu       sync.Mutex
	record   resourcelock.LeaderElectionRecord // as last read or written
	observed time.Time                         // when record was seen to change, by clock
	phase    phase
	until    time.Time          // the end of leading, or of trying to give the lease back
	deadline time.Time          // of the call under way; zero if there is none
	abandon  context.CancelFunc // ends the call under way

	// The rest belongs to the goroutine that calls the lock.

	finished chan struct{} // closed when it ends; nil before the first Run

	calls context.Context // of its calls, until one misses its deadline
	read  reading
	news  news
}

// A phase is what a candidate is doing.
type phase int

const (
	waiting phase = iota
	leading
	ending  // it gives the lease back
	parting // its last call is given a moment to return
	gone    // Run returned
)

// maxPatience is more than a call takes to return that heeds the end of its
// context. Without a release Run waits no longer than half the time that is left
// until another may lead.
const maxPatience = 100 * time.Millisecond

// Run takes part in the election until ctx ends or leadership was won and lost.
// It calls OnStoppedLeading before it returns, whether it led or not.
//
// A lock may not heed its context. So its calls are made aside, by one goroutine
// in turn, and Run watches over their deadlines. If one panics, so does Run. Should
// one that an earlier Run gave up still hang, Run waits for it first.
func (e *LeaderElector) Run(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	defer e.config.Callbacks.OnStoppedLeading()
	if ctx.Err() != nil {
		return
	}
	if !e.begin(ctx) {
		return
	}
	klog.FromContext(ctx).Info("Attempting to acquire leader lease...", "lock", e.lock)
	if e.config.Name != "" && e.options.Metrics == nil {
		klog.FromContext(ctx).Info("No metrics of this election: Options.Metrics is not set", "name", e.config.Name)
	}
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	stopWork := func() {
		cancel()
		e.metric.Off(e.config.Name)
	}
	e.calls, e.abandon = context.WithCancel(ctx)
	var panicked any
	go func() {
		defer close(e.finished)
		defer func() {
			if panicked = recover(); panicked != nil {
				klog.FromContext(ctx).Error(nil, "Leader election panicked", "panic", panicked, "stack", string(debug.Stack()))
			}
		}()
		e.campaign(ctx, work, stopWork)
	}()

	timer := e.clock.NewTimer(e.config.RenewDeadline)
	defer timer.Stop()
	ended := ctx.Done()
	for {
		select {
		case <-e.finished:
			if panicked != nil {
				e.leave()
				panic(panicked)
			}
			return
		case <-ended:
			ended = nil // heard
		case <-timer.C():
		}
		next, lost, stuck := e.watch(ctx)
		if lost {
			stopWork()
			e.logLoss(ctx, e.identity)
		}
		if stuck {
			return
		}
		timer.Reset(next)
	}
}

// begin makes a candidate out of one that is new or whose Run returned. It is false if
// ctx ended before a call did that an earlier Run gave up.
func (e *LeaderElector) begin(ctx context.Context) bool {
	if e.finished != nil {
		select {
		case <-e.finished:
		case <-ctx.Done():
			return false
		}
	}
	e.finished = make(chan struct{})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.phase, e.until, e.deadline = waiting, time.Time{}, time.Time{}
	return true
}

// leave ends leading at once.
func (e *LeaderElector) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.phase = gone
}

// watch ends a call that missed its deadline, and leadership with it: lost tells to
// stop the work, without the lock, for the metric may ask the elector. It says when to
// look again, no later than any deadline until then, or that there is no point in
// waiting for the call any longer.
func (e *LeaderElector) watch(ctx context.Context) (next time.Duration, lost, stuck bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.clock.Now()
	switch calling := !e.deadline.IsZero(); {
	case calling && now.Before(e.deadline):
		return e.deadline.Sub(now), false, false
	case !calling && e.phase == leading && now.Before(e.until):
		return e.until.Sub(now), false, false
	case !calling:
		return e.config.RenewDeadline, false, false
	}
	e.abandon()
	if e.phase == waiting && ctx.Err() == nil {
		return e.config.RenewDeadline, false, false
	}
	lost = e.phase == leading
	if lost && e.config.ReleaseOnCancel {
		e.end(now)
		e.deadline = e.until
		return e.config.RenewDeadline, lost, false
	}
	if e.phase == leading || e.phase == ending {
		// A call that heeds its context returns now, and the event of the term's
		// end comes before Run returns.
		patience := min(maxPatience, (e.config.LeaseDuration-e.config.RenewDeadline)/2)
		e.phase, e.deadline = parting, now.Add(patience)
		return patience, lost, false
	}
	e.phase = gone
	return 0, false, true
}

// logLoss says that leading ended though nobody asked for it. It comes after the
// end of the work, which no slow log may hold up.
func (e *LeaderElector) logLoss(ctx context.Context, holder string) {
	if ctx.Err() == nil {
		klog.FromContext(ctx).Info("Failed to renew lease", "lock", e.lock, "holder", holder)
	}
}

// end leaves a renew deadline to give the lease back. It holds the lock.
func (e *LeaderElector) end(now time.Time) {
	e.phase, e.until = ending, now.Add(e.config.RenewDeadline)
}

// campaign makes the calls of one term, from the first attempt to the release.
func (e *LeaderElector) campaign(ctx, work context.Context, stopWork func()) {
	defer func() { e.abandon() }()
	if !e.acquire(ctx) {
		return
	}
	e.metric.On(e.config.Name)
	e.config.Lock.RecordEvent("became leader")
	klog.FromContext(ctx).Info("Successfully acquired lease", "lock", e.lock)
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		e.config.Callbacks.OnStartedLeading(work)
	}()
	// Whatever ended the term, a panic and a call that Run did not wait for too.
	defer e.config.Lock.RecordEvent("stopped leading")
	defer stopWork()

	e.hold(ctx, ctx.Done(), nil)
	release := e.config.ReleaseOnCancel
	if e.options.WaitForWork > 0 {
		stopWork()
		release = e.finish(ctx, returned) && release
	}
	e.mu.Lock()
	unlogged := e.phase == leading
	if unlogged {
		e.end(e.clock.Now())
	}
	e.mu.Unlock()
	// Before the release: the next leader may start the moment it is written.
	stopWork()
	if unlogged {
		e.logLoss(ctx, e.GetLeader())
	}
	if release {
		e.abandon()
		e.call(context.WithoutCancel(ctx), e.term(), e.release)
	}
}

// IsLeader tells whether this candidate leads: from the moment it knows to the
// end of its renew deadline, and not after Run returned.
func (e *LeaderElector) IsLeader() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.phase == leading && e.clock.Now().Before(e.until)
}

// GetLeader returns the identity in the record that was last observed, empty if
// none was or nobody holds it.
func (e *LeaderElector) GetLeader() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.record.HolderIdentity
}

// Check returns an error if the record is this candidate's and it expired more
// than maxTolerableExpiredLease ago: the process should have stopped and is stuck.
func (e *LeaderElector) Check(maxTolerableExpiredLease time.Duration) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.record.HolderIdentity != e.identity {
		return nil
	}
	if age := e.clock.Since(e.observed); age > e.config.LeaseDuration+maxTolerableExpiredLease {
		return fmt.Errorf("leader election %q: the lease was last renewed %v ago, expected at most %v",
			e.config.Name, age, e.config.LeaseDuration+maxTolerableExpiredLease)
	}
	return nil
}

// acquire tries until it leads, and returns false when ctx ended first.
func (e *LeaderElector) acquire(ctx context.Context) bool {
	for ctx.Err() == nil {
		outcome := e.try(ctx, e.clock.Now().Add(e.config.RenewDeadline))
		e.reportLeader()
		if outcome == held {
			return true
		}
		jitter := time.Duration(e.options.Rand() * leaderelection.JitterFactor * float64(e.config.RetryPeriod))
		e.wait(e.config.RetryPeriod+jitter, ctx.Done(), nil)
	}
	return false
}

// finish renews the lease of a term whose work was told to end, until the work has
// returned or had WaitForWork for it, and reports whether it has returned.
func (e *LeaderElector) finish(ctx context.Context, returned <-chan struct{}) bool {
	if ctx.Err() != nil { // else the lease is lost, and there is nothing to renew
		bound := e.clock.NewTimer(e.options.WaitForWork)
		defer bound.Stop()
		e.hold(context.WithoutCancel(ctx), returned, bound.C())
	}
	select {
	case <-returned:
		return true
	default:
		klog.FromContext(ctx).Info("The work has not returned: the lease is kept until it expires", "lock", e.lock, "waitForWork", e.options.WaitForWork)
		return false
	}
}

// hold renews the lease until it is lost, end is closed or bound has passed. The
// calls are made with a child of ctx.
func (e *LeaderElector) hold(ctx context.Context, end <-chan struct{}, bound <-chan time.Time) {
	for {
		until := e.term()
		if !e.wait(min(e.config.RetryPeriod, until.Sub(e.clock.Now())), end, bound) || !e.clock.Now().Before(until) {
			return
		}
		outcome := e.try(ctx, until)
		e.reportLeader()
		if outcome == lost {
			return
		}
	}
}

func (e *LeaderElector) term() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.until
}

// try makes one attempt. If it succeeds before the deadline, this candidate leads
// until a renew deadline after its start.
func (e *LeaderElector) try(ctx context.Context, deadline time.Time) outcome {
	until := e.clock.Now().Add(e.config.RenewDeadline)
	attempt := e.acquireOrRenew
	if e.config.Coordinated {
		attempt = e.renewCoordinated
	}
	o := e.call(ctx, deadline, attempt)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.phase > leading:
		return lost // in a call that hung
	case o == held && !e.clock.Now().Before(deadline):
		return failed // too late: others may have waited for long enough by now
	case o == held:
		e.phase, e.until = leading, until
	}
	return o
}

// call makes calls of the lock that have to end by the deadline, with a context
// that is a child of ctx.
func (e *LeaderElector) call(ctx context.Context, deadline time.Time, calls func(context.Context) outcome) outcome {
	e.mu.Lock()
	if e.phase > ending || !e.clock.Now().Before(deadline) {
		e.mu.Unlock()
		return failed
	}
	if e.calls.Err() != nil {
		e.calls, e.abandon = context.WithCancel(ctx)
	}
	e.deadline = deadline
	e.mu.Unlock()
	o := calls(e.calls)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deadline = time.Time{}
	return o
}

// wait returns true after d, false when end is closed or bound has passed before.
func (e *LeaderElector) wait(d time.Duration, end <-chan struct{}, bound <-chan time.Time) bool {
	timer := e.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		select { // of two at once, the end counts
		case <-end:
			return false
		default:
			return true
		}
	case <-end:
	case <-bound:
	}
	return false
}

// bounded returns the context of one call of the lock: it ends after CallTimeout, if
// there is one, by the elector's clock.
func (e *LeaderElector) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.options.CallTimeout <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	timer := e.clock.NewTimer(e.options.CallTimeout)
	go func() {
		defer timer.Stop()
		select {
		case <-timer.C():
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
