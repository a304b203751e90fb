// Package election elects one leader among the replicas of a controller, with client-go's
// configuration, callbacks and locks. To use it, change the constructor:
//
//	leaderelection.NewLeaderElector(config)   becomes   election.New(config)
//
// A candidate goes through these steps:
//
//  1. A candidate reads the lock's record. It takes the record when there is none, when nobody holds
//     it, or when it saw no change of it for the lease duration by its own clock. The record's own
//     times are never compared with a clock: clocks may be hours apart.
//  2. Every write names the version that was read, so that of two candidates one gets a conflict and
//     tries again after a jittered retry period.
//  3. The leader writes the record every retry period, without reading it first.
//  4. It stops when its last successful write began a renew deadline ago, when it sees another
//     holder, or when its context ends: first it cancels the context of OnStartedLeading, then it
//     gives the lease back (ReleaseOnCancel) and records the event, then it calls OnStoppedLeading.
//
// In coordinated mode (Coordinated) it takes nothing: it renews the lease that the cluster's
// coordinator gives it, until that names a preferred holder.
//
// # Which lock
//
// Any resourcelock.Interface: client-go's Lease, [NewConfigMapLock] and [NewEndpointsLock] for
// clusters whose electors still use the annotation, and [Memory] for tests and simulations.
//
// # Should you switch?
//
// You gain one promise that leaderelection does not keep for every setting: at no time do two
// candidates lead, as long as their clocks' rates differ by less than LeaseDuration / RenewDeadline.
// For this,
//
//   - the deadline counts from the last successful write, not from the first that fails one retry
//     period later;
//   - it passes even if a call hangs;
//   - a sub-second lease is recorded rounded up;
//   - an answer that comes after the deadline elects nobody.
//
// What it costs:
//
//   - A leader with the settings 15s, 10s, 2s is sure to survive an outage of 6 s, not of 8 s: its
//     last renewal may be a retry period old by then, and its last attempt comes up to another before
//     the deadline.
//   - It does not feed leaderelection's HealthzAdaptor, and refuses a config with a WatchDog: call
//     [LeaderElector.Check] from a health check.
//
// It reports to the program's metrics, those of leaderelection.SetProvider, as client-go's elector
// does.
//
// # Figures
//
// How long elections take with the settings 15s, 10s, 2s: 10,000 simulated runs with two candidates
// and calls of 5 ms (p99 100 ms), with client-go's elector; as many with this one differ by 0.1 s,
// the longest by 0.3 s. The command "benchrun tune --election" tells it for any settings:
//
//	                          p50      p99      longest
//	first leader              0.6 s    1.8 s    2.1 s
//	after a clean end         1.6 s    4.1 s    4.4 s
//	after a crash            17.4 s   21.2 s   22.8 s
//	after a partition        17.3 s   21.2 s   22.7 s
//	API calls a second: leader 0.50, each other candidate 0.31
//
// A term, from winning the lease to giving it back at once, takes about as much processor time
// as with client-go's elector: 12.8 and 13.4 µs, medians of seven processes each, in turns (0.9×
// to 1.1×). The calls run in a goroutine of their own, one for the whole term, so that a call that
// hangs can't keep a lost lease.
package election

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/clock"
)

// Options are what leaderelection does not let its callers choose.
type Options struct {
	Clock clock.Clock    // default: the real clock
	Rand  func() float64 // jitter of retries in [0, 1), default: rand.Float64
}

// New returns a candidate that is not running yet, or an error that names the
// field of config that is wrong.
func New(config leaderelection.LeaderElectionConfig) (*LeaderElector, error) {
	return NewWithOptions(config, Options{})
}

// NewWithOptions is New with a clock and a source of jitter.
func NewWithOptions(config leaderelection.LeaderElectionConfig, options Options) (*LeaderElector, error) {
	if err := validate(config); err != nil {
		return nil, fmt.Errorf("leader election %q: %w", config.Name, err)
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	if options.Rand == nil {
		options.Rand = rand.Float64
	}
	return &LeaderElector{
		config: config, identity: config.Lock.Identity(), lock: config.Lock.Describe(),
		clock: options.Clock, rand: options.Rand, metric: metricOf(config),
	}, nil
}

func validate(c leaderelection.LeaderElectionConfig) error {
	jittered := time.Duration(leaderelection.JitterFactor * float64(c.RetryPeriod))
	switch {
	case c.RetryPeriod <= 0:
		return fmt.Errorf("RetryPeriod is %v, expected more than 0", c.RetryPeriod)
	case c.RenewDeadline <= jittered:
		return fmt.Errorf("RenewDeadline is %v, expected more than %v (RetryPeriod × %v)", c.RenewDeadline, jittered, leaderelection.JitterFactor)
	case c.LeaseDuration <= c.RenewDeadline:
		return fmt.Errorf("LeaseDuration is %v, expected more than RenewDeadline (%v)", c.LeaseDuration, c.RenewDeadline)
	case c.Callbacks.OnStartedLeading == nil:
		return errors.New("OnStartedLeading is nil, expected a function")
	case c.Callbacks.OnStoppedLeading == nil:
		return errors.New("OnStoppedLeading is nil, expected a function")
	case c.Lock == nil:
		return errors.New("Lock is nil, expected a resource lock")
	case c.Lock.Identity() == "":
		return errors.New("Lock has no identity, expected one that no other candidate has")
	case c.WatchDog != nil:
		return errors.New("WatchDog is set, but watches client-go's elector only: call Check in a health check instead")
	}
	return nil
}
