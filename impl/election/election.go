// Package election elects one leader among the replicas of a controller, with client-go's
// configuration, callbacks and locks. In a client-go controller, change the constructor:
//
//	leaderelection.NewLeaderElector(config)   becomes   election.New(config)
//
// controller-runtime's manager builds its own elector: leave its LeaderElection off and run one of
// these around manager.Start, as the example does. To go back, change it back: the record is the
// same, and both may run in one election.
//
// What is different: at no time do two candidates lead, as long as their clocks' rates differ by
// less than LeaseDuration / RenewDeadline. For this the deadline counts from the last successful
// write, passes even if a call hangs, and elects nobody by a late answer; a sub-second lease is
// recorded rounded up. [Options] add what leaderelection lacks: a lease that is kept until the
// work has returned, and a timeout for each call.
//
// A candidate goes through these steps:
//
//  1. It reads the lock's record. It takes the record when there is none, when nobody holds
//     it, or when it saw no change of it for the lease duration by its own clock. The record's own
//     times are never compared with a clock: clocks may be hours apart.
//  2. Every write names the version that was read, so that of two candidates one gets a conflict and
//     tries again after a jittered retry period.
//  3. The leader writes the record every retry period, without reading it first.
//  4. It stops when its last successful write began a renew deadline ago, when it sees another
//     holder, or when its context ends: it cancels the context of OnStartedLeading, gives the lease
//     back (ReleaseOnCancel), records the event, and calls OnStoppedLeading.
//
// In coordinated mode (Coordinated) it takes nothing: it renews the lease that the cluster's
// coordinator gives it, until that names a preferred holder.
//
// What it costs: an outage that begins late in a retry period is survived for one retry period
// less, and leaderelection's HealthzAdaptor (WatchDog) is refused: call [LeaderElector.Check] from
// a health check. How long elections take with any settings, "benchrun election" simulates.
//
// The lock is any resourcelock.Interface: client-go's Lease, [NewConfigMapLock] and
// [NewEndpointsLock] for clusters whose electors still use the annotation, [Memory] for tests.
package election

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/clock"
)

// Options are what leaderelection does not let its callers choose. The zero value
// behaves as New does.
type Options struct {
	Clock clock.Clock    // default: the real clock
	Rand  func() float64 // jitter of retries in [0, 1), default: rand.Float64

	// Metrics is told when this candidate begins and ends to lead. Only client-go can read the
	// provider of leaderelection.SetProvider; a named candidate without one says so in its log.
	Metrics leaderelection.MetricsProvider

	// WaitForWork keeps the lease when the context ends until OnStartedLeading has
	// returned, this long at most: the context of the work is cancelled at once, the lease
	// is renewed and IsLeader stays true meanwhile, and only then is it given back. Work
	// that has not returned by then keeps its lease until it expires. Without, the next
	// leader may start while the work of this one ends (kubernetes/kubernetes#139991).
	WaitForWork time.Duration

	// CallTimeout ends the context of each call of the lock, so that one request that hangs
	// is followed by another before the renew deadline (controller-runtime#3027). It must be
	// less than RenewDeadline, and leaves time for a second call if it is less than half of it.
	CallTimeout time.Duration
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
	switch {
	case options.WaitForWork < 0:
		return nil, fmt.Errorf("leader election %q: WaitForWork is %v, expected 0 or more", config.Name, options.WaitForWork)
	case options.CallTimeout < 0 || options.CallTimeout >= config.RenewDeadline:
		return nil, fmt.Errorf("leader election %q: CallTimeout is %v, expected 0 to RenewDeadline (%v)", config.Name, options.CallTimeout, config.RenewDeadline)
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	if options.Rand == nil {
		options.Rand = rand.Float64
	}
	var metric leaderelection.LeaderMetric = silent{}
	if options.Metrics != nil {
		if metric = options.Metrics.NewLeaderMetric(); metric == nil {
			return nil, fmt.Errorf("leader election %q: Options.Metrics made no LeaderMetric, expected one", config.Name)
		}
	}
	metric.Off(config.Name)
	return &LeaderElector{
		config: config, identity: config.Lock.Identity(), lock: config.Lock.Describe(),
		clock: options.Clock, options: options, metric: metric,
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

// silent is the metric of a candidate without a provider.
type silent struct{}

func (silent) On(string)                {}
func (silent) Off(string)               {}
func (silent) SlowpathExercised(string) {}
