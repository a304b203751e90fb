package informer

import (
	"time"

	"k8s.io/klog/v2"
)

// minimumResync is the shortest period that a handler can ask for.
const minimumResync = time.Second

// resyncPeriod is the period that a handler gets which asks for period. Before
// the start it may make the informer check more often; the caller holds mu.
func (s *informer) resyncPeriod(logger klog.Logger, period time.Duration) time.Duration {
	if period <= 0 {
		return period
	}
	if period < minimumResync {
		logger.Info("Warning: resync period is too small, the minimum is taken", "resyncPeriod", period, "minimum", minimumResync)
		period = minimumResync
	}
	if period >= s.resyncCheck {
		return period
	}
	if s.started {
		logger.Info("Warning: resync period is shorter than the running informer's resync check period, which is taken",
			"resyncPeriod", period, "resyncCheckPeriod", s.resyncCheck)
		return s.resyncCheck
	}
	s.resyncCheck = period
	s.fanout.resyncCheckChanged(logger, period)
	return period
}

// A resyncTimer says when a handler is due for a resync.
type resyncTimer struct {
	requested time.Duration // what the handler asked for
	period    time.Duration // what it gets; 0 is never
	next      time.Time
}

// set derives the period from how often the informer checks.
func (r *resyncTimer) set(logger klog.Logger, check time.Duration) {
	switch {
	case r.requested != 0 && check == 0:
		logger.Info("Warning: resync period is ignored because the informer does no resyncs", "resyncPeriod", r.requested)
		r.period = 0
	case r.requested != 0 && r.requested < check:
		logger.Info("Warning: resync period is shorter than the resync check period, which is taken",
			"resyncPeriod", r.requested, "resyncCheckPeriod", check)
		r.period = check
	default:
		r.period = r.requested
	}
	if r.next.IsZero() {
		r.next = time.Now().Add(r.period)
	}
}

// due tells whether it is time for a resync, and if so sets the next time.
func (r *resyncTimer) due(now time.Time) bool {
	if r.period == 0 || now.Before(r.next) {
		return false
	}
	r.next = now.Add(r.period)
	return true
}
