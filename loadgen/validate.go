package loadgen

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/informerbench/informerbench/loadgen/randvar"
)

// The bounds of what a spec may ask for.
const (
	maxObjects  = 10_000_000
	maxEvents   = 2_000_000_000
	maxRate     = 1_000_000_000
	maxDuration = 10_000 * time.Hour
	maxSize     = 1_536 << 10 // bytes: the API server refuses larger objects
	maxSources  = 100         // resources, or kinds of readers
)

// Complete returns a copy of the spec whose defaults are filled in, or an
// error that names the first field that is out of range.
func (s *Spec) Complete() (*Spec, error) {
	c := *s
	c.Resources = slices.Clone(s.Resources)
	c.Readers = slices.Clone(s.Readers)
	return &c, c.complete()
}

func (s *Spec) complete() error {
	if n := len(s.Resources); n < 1 || n > maxSources {
		return fault("resources", "%s, expected 1 to %d resources", found(n), maxSources)
	}
	if err := atMost("duration", s.Duration); err != nil {
		return err
	}
	active := false
	for i := range s.Resources {
		if err := s.completeResource(i); err != nil {
			return err
		}
		active = active || s.Resources[i].Events.Pattern != patternNone
	}
	if !active {
		return fault("resources", "no events, expected at least one resource with events")
	}
	if err := s.completeFaults(); err != nil {
		return err
	}
	if n := len(s.Readers); n > maxSources {
		return fault("readers", "found %d, expected at most %d", n, maxSources)
	}
	for i := range s.Readers {
		r, path := &s.Readers[i], fmt.Sprintf("readers[%d].", i)
		if err := cmp.Or(
			oneOf(path+"kind", &r.Kind, "list", "by-index", "get"),
			within(path+"goroutines", &r.Goroutines, 1, 10_000),
			upTo(path+"rate", r.Rate, maxRate),
		); err != nil {
			return err
		}
	}
	return s.completeReconcile()
}

func (s *Spec) completeFaults() error {
	f := &s.Faults
	if f.Gone < 0 {
		return fault("faults.gone", "found %d, expected a number of events, or 0 for never", f.Gone)
	}
	withDefault(&f.Bookmarks, time.Minute)
	return cmp.Or(
		atMost("faults.disconnect", f.Disconnect),
		atMost("faults.slowList", f.SlowList),
		upTo("faults.duplicate", f.Duplicate, 1),
		upTo("faults.stale", f.Stale, 1),
		atMost("faults.bookmarks", f.Bookmarks),
		upTo("faults.throttle", f.Throttle, maxRate),
	)
}

func (s *Spec) completeReconcile() error {
	r := &s.Reconcile
	l := &r.Limiter
	withDefault(&l.BaseDelay, 5*time.Millisecond)
	withDefault(&l.MaxDelay, 1000*time.Second)
	withDefault(&l.Rate, 10)
	switch {
	case r.Retries < 0:
		return fault("reconcile.retries", "found %d, expected a number of failures, or 0 for no limit", r.Retries)
	case r.RequeueShare > 0 && r.RequeueAfter.IsZero():
		return fault("reconcile.requeueAfter", "missing, expected a duration such as 30s beside requeueShare")
	case r.Resync > 0 && r.Resync < time.Second:
		return fault("reconcile.resync", "found %v, expected 0 or at least 1s, which is an informer's shortest", r.Resync)
	case r.Burst != 0 && r.QPS == 0:
		return fault("reconcile.burst", "found %d without qps, expected both or none", r.Burst)
	}
	if r.QPS > 0 && r.Burst == 0 {
		r.Burst = int(math.Ceil(min(r.QPS, maxRate)))
	}
	err := cmp.Or(
		within("reconcile.workers", &r.Workers, 5, 100_000),
		lasting("reconcile.service", r.Service),
		counted("reconcile.calls", r.Calls, 10_000, "a number such as 2"),
		lasting("reconcile.callLatency", r.CallLatency),
		upTo("reconcile.qps", r.QPS, maxRate),
		upTo("reconcile.failure", r.Failure, 1),
		upTo("reconcile.requeueShare", r.RequeueShare, 1),
		lasting("reconcile.requeueAfter", r.RequeueAfter),
		atMost("reconcile.limiter.baseDelay", l.BaseDelay),
		atMost("reconcile.limiter.maxDelay", l.MaxDelay),
		upTo("reconcile.limiter.rate", l.Rate, maxRate),
		within("reconcile.limiter.burst", &l.Burst, 100, maxRate),
		atMost("reconcile.resync", r.Resync),
		within("reconcile.batch", &r.Batch, 1000, 1_000_000),
	)
	if err == nil && r.QPS > 0 {
		err = within("reconcile.burst", &r.Burst, 1, maxRate)
	}
	if err == nil && l.MaxDelay < l.BaseDelay {
		err = fault("reconcile.limiter.maxDelay", "found %v, expected at least baseDelay, %v", l.MaxDelay, l.BaseDelay)
	}
	return err
}

// oneOf checks an enumerated field, whose default is the first of the values.
func oneOf(path string, value *string, values ...string) error {
	withDefault(value, values[0])
	if !slices.Contains(values, *value) {
		return fault(path, "unknown value %s, expected %s", strconv.Quote(*value), choice(values))
	}
	return nil
}

// within checks a whole number from 1 to most; a default of 0 means that the
// field is required.
func within(path string, value *int, byDefault, most int) error {
	withDefault(value, byDefault)
	if *value < 1 || *value > most {
		return fault(path, "%s, expected a whole number from 1 to %d", found(*value), most)
	}
	return nil
}

func upTo(path string, value, most float64) error {
	if !(value >= 0 && value <= most) {
		return fault(path, "found %v, expected a number from 0 to %v", value, most)
	}
	return nil
}

func atMost(path string, value time.Duration) error {
	if value < 0 || value > maxDuration {
		return fault(path, "found %v, expected a duration from 0 to %v", value, maxDuration)
	}
	return nil
}

// lasting checks a distribution of durations.
func lasting(path string, d randvar.Dist) error {
	if d.IsSize() {
		return fault(path, "found %v, which is a size, expected a duration such as 5ms", d)
	}
	return bounded(path, d, maxDuration.Seconds())
}

// counted checks a distribution of what is no duration.
func counted(path string, d randvar.Dist, most float64, expected string) error {
	if d.IsDuration() {
		return fault(path, "found %v, which is a duration, expected %s", d, expected)
	}
	return bounded(path, d, most)
}

// bounded checks a distribution by its mean: single values may be larger.
func bounded(path string, d randvar.Dist, most float64) error {
	if d.Mean() > most {
		return fault(path, "found %v with a mean of %v, expected at most %v", d, d.Mean(), most)
	}
	return nil
}

func withDefault[T comparable](value *T, byDefault T) {
	*value = cmp.Or(*value, byDefault)
}

func found[N int | float64](value N) string {
	if value == 0 {
		return "missing or 0"
	}
	return fmt.Sprintf("found %v", value)
}

func fault(path, format string, args ...any) error {
	return &fieldError{path: path, problem: fmt.Sprintf(format, args...)}
}
