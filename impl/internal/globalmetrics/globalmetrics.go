// Package globalmetrics finds the metrics that client-go reports a named queue
// to when its configuration has no MetricsProvider.
//
// The provider that a program sets once with workqueue.SetProvider (as
// controller-runtime and Kubernetes' components do) can be read by client-go
// alone. But a queue of client-go's holds the metrics that it got from it:
//
//  1. Make a named queue of client-go's, and shut it down: did it have metrics?
//  2. Make a delaying queue of it.
//  3. Read the metrics in its private fields, by name and type.
//  4. Shut it down.
//
// A version of client-go whose fields look otherwise is noticed, and Provider
// says so: then only client-go's own queue can report.
package globalmetrics

import (
	"reflect"
	"time"
	"unsafe"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// Provider returns the MetricsProvider that a queue called name reports to when
// its configuration holds given: that one or, if it is nil, the program's; nil
// if there is none either. It reports false if the program's can't be read.
func Provider(name string, given workqueue.MetricsProvider) (workqueue.MetricsProvider, bool) {
	if name == "" || given != nil {
		return given, true
	}
	probe := &tickerProbe{}
	inner := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: name, Clock: probe})
	inner.ShutDown() // waits for the goroutine that updates metrics, which asks for a ticker
	if !probe.asked {
		return nil, true
	}
	q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Name: name, Clock: probe, Queue: inner})
	q.ShutDown()
	var f found
	delaying := reflect.ValueOf(q).Elem()
	ok := f.read(behind(delaying, "TypedInterface", "metrics"), "depth", "adds", "latency", "workDuration",
		"unfinishedWorkSeconds", "longestRunningProcessor") &&
		f.readRetries(behind(delaying, "metrics"))
	if !ok {
		return nil, false
	}
	return f, true
}

// tickerProbe notices the ticker that a queue with metrics asks for.
type tickerProbe struct {
	clock.RealClock
	asked bool
}

func (p *tickerProbe) NewTicker(d time.Duration) clock.Ticker {
	p.asked = true
	return p.RealClock.NewTicker(d)
}

// behind follows fields that hold pointers, in interfaces or not, to the struct
// at their end; the zero Value if there is none.
func behind(v reflect.Value, fields ...string) reflect.Value {
	for _, name := range fields {
		v = v.FieldByName(name)
		for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return reflect.Value{}
		}
	}
	return v
}

// field is the value of a private field that holds an M.
func field[M any](v reflect.Value, name string) (M, bool) {
	var none M
	if v.Kind() != reflect.Struct || !v.CanAddr() {
		return none, false
	}
	f := v.FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[M]() || f.IsNil() {
		return none, false
	}
	return *(*M)(unsafe.Pointer(f.UnsafeAddr())), true
}

// found is a provider of the metrics of one queue.
type found struct {
	depth               workqueue.GaugeMetric
	adds, retries       workqueue.CounterMetric
	latency, work       workqueue.HistogramMetric
	unfinished, longest workqueue.SettableGaugeMetric
}

var _ workqueue.MetricsProvider = found{}

func (f *found) read(v reflect.Value, depth, adds, latency, work, unfinished, longest string) bool {
	var ok [6]bool
	f.depth, ok[0] = field[workqueue.GaugeMetric](v, depth)
	f.adds, ok[1] = field[workqueue.CounterMetric](v, adds)
	f.latency, ok[2] = field[workqueue.HistogramMetric](v, latency)
	f.work, ok[3] = field[workqueue.HistogramMetric](v, work)
	f.unfinished, ok[4] = field[workqueue.SettableGaugeMetric](v, unfinished)
	f.longest, ok[5] = field[workqueue.SettableGaugeMetric](v, longest)
	return ok == [6]bool{true, true, true, true, true, true}
}

func (f *found) readRetries(v reflect.Value) (ok bool) {
	f.retries, ok = field[workqueue.CounterMetric](v, "retries")
	return ok
}

func (f found) NewDepthMetric(string) workqueue.GaugeMetric            { return f.depth }
func (f found) NewAddsMetric(string) workqueue.CounterMetric           { return f.adds }
func (f found) NewLatencyMetric(string) workqueue.HistogramMetric      { return f.latency }
func (f found) NewWorkDurationMetric(string) workqueue.HistogramMetric { return f.work }
func (f found) NewRetriesMetric(string) workqueue.CounterMetric        { return f.retries }
func (f found) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return f.unfinished
}
func (f found) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return f.longest
}
