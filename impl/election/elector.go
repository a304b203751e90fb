package election

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
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

// A LeaderElector is one candidate. Its methods may be called from any goroutine;
// Run once only.
//
// Invariant: it leads only while the clock is before until, and until is never
// more than RenewDeadline after the start of a write that succeeded. The others
// see that write no sooner than it started, and wait LeaseDuration from there.
type LeaderElector struct {
	config   leaderelection.LeaderElectionConfig
	identity string
	clock    clock.Clock
	rand     func() float64

	mu       sync.Mutex
	record   resourcelock.LeaderElectionRecord // as last read or written
	observed time.Time                         // when record was seen to change, by clock
	leading  bool
	until    time.Time

	// The rest belongs to the goroutine of Run and to the one attempt under way.

	read    reading
	pending <-chan outcome // an attempt that did not end by its deadline
	news    news
}

// Run takes part in the election until ctx ends or leadership was won and lost.
// It calls OnStoppedLeading before it returns, whether it led or not.
func (e *LeaderElector) Run(ctx context.Context) {
	defer e.config.Callbacks.OnStoppedLeading()
	if !e.acquire(ctx) {
		return
	}
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	e.config.Lock.RecordEvent("became leader")
	go e.config.Callbacks.OnStartedLeading(work)

	e.hold(ctx)
	e.setLeading(false, time.Time{})
	// Before the release: the next leader may start the moment it is written.
	cancel()
	if e.config.ReleaseOnCancel {
		e.release(context.WithoutCancel(ctx))
	}
	if e.pending == nil { // a lock serves one call at a time
		e.config.Lock.RecordEvent("stopped leading")
	}
}

// IsLeader tells whether this candidate leads: from the moment it knows to the
// end of its renew deadline, and not after Run returned.
func (e *LeaderElector) IsLeader() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.leading && e.clock.Now().Before(e.until)
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
		until := e.clock.Now().Add(e.config.RenewDeadline)
		won := e.try(ctx, until) == held
		if won {
			e.setLeading(true, until)
		}
		e.reportLeader()
		if won {
			return true
		}
		jitter := time.Duration(e.rand() * leaderelection.JitterFactor * float64(e.config.RetryPeriod))
		e.wait(ctx, e.config.RetryPeriod+jitter)
	}
	return false
}

// hold renews the lease until it is lost or ctx ends.
func (e *LeaderElector) hold(ctx context.Context) {
	for {
		e.wait(ctx, min(e.config.RetryPeriod, e.until.Sub(e.clock.Now())))
		now := e.clock.Now()
		if ctx.Err() != nil || !now.Before(e.until) {
			return
		}
		outcome := e.try(ctx, e.until)
		if outcome == held {
			e.setLeading(true, now.Add(e.config.RenewDeadline))
		}
		e.reportLeader()
		if outcome == lost {
			return
		}
	}
}

// try makes one attempt and waits for its outcome until the given time. The lock
// may not heed its context, so the attempt runs aside; the next one waits for it.
func (e *LeaderElector) try(ctx context.Context, until time.Time) outcome {
	timer := e.clock.NewTimer(until.Sub(e.clock.Now()))
	defer timer.Stop()
	if e.pending != nil {
		select {
		case <-e.pending:
			e.pending = nil
		case <-ctx.Done():
			return failed
		case <-timer.C():
			return failed
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	attempt := e.acquireOrRenew
	if e.config.Coordinated {
		attempt = e.renewCoordinated
	}
	done := make(chan outcome, 1)
	go func() { done <- attempt(ctx) }()
	select {
	case o := <-done:
		if o == held && !e.clock.Now().Before(until) {
			return failed // too late: others may have waited for long enough by now
		}
		return o
	case <-timer.C():
		e.pending = done
		return failed
	}
}

// wait returns after d or when ctx ends.
func (e *LeaderElector) wait(ctx context.Context, d time.Duration) {
	timer := e.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	}
}

func (e *LeaderElector) setLeading(leading bool, until time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leading, e.until = leading, until
}

// reportLeader tells OnNewLeader of a holder that it was not told of last.
func (e *LeaderElector) reportLeader() {
	if report := e.config.Callbacks.OnNewLeader; report != nil {
		e.news.tell(e.GetLeader(), report)
	}
}

// news calls OnNewLeader in a goroutine, so that it holds up no renewal, and in
// order, so that the last call names the last leader.
type news struct {
	mu      sync.Mutex
	last    string
	queue   []string
	running bool
}

func (n *news) tell(leader string, report func(string)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if leader == n.last {
		return
	}
	n.last = leader
	n.queue = append(n.queue, leader)
	if !n.running {
		n.running = true
		go n.deliver(report)
	}
}

func (n *news) deliver(report func(string)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.queue) > 0 {
		leader := n.queue[0]
		n.queue = n.queue[1:]
		n.mu.Unlock()
		report(leader)
		n.mu.Lock()
	}
	n.running = false
}
