package tune

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/bench/tune/search"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// A fit is a model on the way, with what was found.
type fit struct {
	*predict.Model
	current      predict.Current
	unidentified []string
	doubts       []string
	grown        bool             // the queue did, while it was measured
	made         float64          // calls a second of all that share the client; 0: nobody else does
	limiter      scrape.Histogram // of all queues' calls
	untimed      bool             // nothing says how long calls waited for the limit
	untold       bool             // nothing says how long they took
	division     division         // of the calls among several queues
	undivided    bool             // nothing tells how many of the calls are this queue's, whose client has a limit of its own
}

func (f *fit) unknown(format string, args ...any) {
	f.unidentified = append(f.unidentified, fmt.Sprintf(format, args...))
}

func (f *fit) doubt(format string, args ...any) {
	f.doubts = append(f.doubts, fmt.Sprintf(format, args...))
}

// refuse says why a queue's figures can't carry advice, and what to record
// instead; nothing if they can.
func refuse(d *scrape.Delta, q scrape.Queue) (why, record string) {
	n := q.Work.Count()
	switch {
	case q.Reset:
		return "the second scrape doesn't go on where the first one ended: " + strings.Join(q.Doubts, "; "), "two whole scrapes of one process, without a restart between them"
	case q.Adds == 0 && n == 0:
		return "nothing was added in the interval", "an interval in which this controller works"
	case len(q.Work.Counts) == 0 || q.Work.Buckets() == 0:
		return "workqueue_work_duration_seconds counted nothing", "scrapes of a controller whose queue has a name and a metrics provider, and all workqueue_… families"
	case len(q.Wait.Counts) == 0 || q.Wait.Buckets() == 0:
		return "workqueue_queue_duration_seconds counted nothing", "scrapes with all workqueue_… families"
	case len(q.Work.Bounds) == 0 || len(q.Wait.Bounds) == 0:
		return "its durations have sums but no buckets", "scrapes in the text format with classic buckets, as /metrics gives them unless it is asked for native histograms alone"
	case q.Kind != scrape.Untold && q.Adds > 0 && math.Abs(q.Adds-q.Wait.Count()-q.Grown) > max(100, 0.1*q.Adds):
		return fmt.Sprintf("%s keys were added and %s taken from the queue, whose depth grew by %s: these don't go together", predict.Number(q.Adds), predict.Number(q.Wait.Count()), predict.Number(q.Grown)), "two whole scrapes of one process, and of all its workqueue_… families"
	case q.Adds/d.Interval.Seconds() > 1e7:
		return fmt.Sprintf("%s keys were added a second, more than any queue hands out", predict.Number(q.Adds/d.Interval.Seconds())), realInterval
	case n < minObservations:
		need := time.Duration(float64(d.Interval) / max(n, 1) * 1000)
		return fmt.Sprintf("%s reconciles in %v, expected at least %d", predict.Number(n), d.Interval, minObservations),
			fmt.Sprintf("an interval of %v, which at this rate holds 1,000 reconciles", advice.RoundUp(need))
	case q.Work.Buckets() == 1 && q.Wait.Buckets() == 1 && q.Work.Mean() > 1e-3:
		return lumped(d, q)
	}
	return "", ""
}

// lumped says why reconciles that lie in one bucket, as their waits do, carry no
// advice: what holds them up there decides on what would.
func lumped(d *scrape.Delta, q scrape.Queue) (why, record string) {
	bucket := func(h scrape.Histogram) string {
		low, high := h.Quantile(0.5)
		if math.IsInf(high, 1) {
			return "more than " + durations.Seconds(low)
		}
		return durations.Seconds(low) + " to " + durations.Seconds(high)
	}
	why = fmt.Sprintf("every reconcile lies in one bucket (%s) and so does every wait (%s)", bucket(q.Work), bucket(q.Wait))
	const finer = "metrics with finer buckets (native histograms, or controller_runtime_reconcile_time_seconds' bounds)"
	all := 0.0
	for _, other := range d.Queues {
		all += other.Work.Sum
	}
	switch held := d.Client.Limiter.Sum / all; {
	case held > heldUp:
		rate := d.Client.Calls() / d.Interval.Seconds()
		return why + fmt.Sprintf(": the client's limit holds them there (%s API calls a second waited %s each for it, %.0f%% of the work), so neither the reconciles' own time nor bursts can be told from what it does to them", predict.Number(rate), durations.Seconds(d.Client.Limiter.Mean()), 100*min(1, held)),
			fmt.Sprintf("two scrapes while the client's limit doesn't bind: with QPS and burst of the controller's client raised for that time, the QPS to %s or more, and its new values as --qps and --burst", predict.Number(search.Tidy(2*rate, math.Inf(1))))
	case q.Wait.Mean() > q.Work.Mean() || grew(q):
		return why + ": every key waits that long, so neither bursts nor the spread of the service time can be told",
			"an interval with less load, or with more workers, in which some keys wait and some don't, or " + finer
	}
	return why + ": neither bursts nor the spread of the service time can be told", "an interval with more load, or " + finer
}

// newFit takes what the counters tell exactly: rates, means, utilisation.
func newFit(d *scrape.Delta, q scrape.Queue, current predict.Current, o Options, own bool) *fit {
	span := d.Interval.Seconds()
	n := q.Work.Count()
	f := &fit{current: current, Model: &predict.Model{
		Interval: span, Told: d.Told, Observations: n,
		AddRate: q.Adds / span, Work: q.Work.Mean(), Backlog: q.Grown,
		Utilisation: q.Work.Sum / span / float64(current.Workers),
		Depth:       q.Wait.Sum / span,
		Measured:    &infer.Measured{Wait: q.Wait, Work: q.Work}, Queues: o.Queues,
	}}
	for _, doubt := range q.Doubts {
		f.doubt("%s", doubt)
	}
	if q.Adds == 0 {
		f.AddRate = q.Wait.Count() / span
		f.doubt("workqueue_adds_total counted nothing: the number of waits stands for it")
	}
	f.retries(q, n)
	f.grown = grew(q)
	f.calls(d, q, o, own)
	f.Offered = f.AddRate * f.Busy
	overloaded := f.grown || f.Utilisation > overloadedAt
	if p := q.Wait.Precision(); p >= coarse {
		f.unknown("quantiles of the measured wait and work: the buckets are %.3g× apart, so one read from them alone may be off by as much; the sums are exact, and the model is fitted to both", p)
	}
	if q.Unfinished > underWay*q.Work.Sum {
		f.doubt("reconciles under way had taken %s at the end (the longest %s), which the work duration doesn't hold yet", durations.Seconds(q.Unfinished), durations.Seconds(q.Longest))
	}
	f.Model.Spec = &loadgen.Spec{Reconcile: loadgen.Reconcile{Failure: f.Failure}}
	f.keys(o.Keys)
	f.Measured = &infer.Measured{
		Span: span, Adds: f.AddRate, Reconciles: n, Wait: q.Wait, Work: q.Work, Steps: q.Steps,
		Controller: f.current.Controller(), Failure: f.Failure, Keys: f.Measured.Keys, Overloaded: overloaded, Grown: f.grown,
	}
	if f.limiter.Count() > 0 && f.Background < 0.02*f.CallRate {
		f.Measured.Limiter = f.limiter // of this queue's calls alone
	}
	f.doubts = append(f.doubts, advice.ObjectiveDoubts(f.Model, o.Objectives)...)
	return f
}

// keys takes how many there are said to be.
func (f *fit) keys(n int) {
	if n == 0 {
		f.unknown("arrivals that found their key waiting: no counter holds them; --keys, the number of objects, tells them, and of %s or fewer more than 1%% of the adds would wait for their key to be worked on, however many workers there are", predict.Number(math.Ceil(f.Offered/0.01)))
		return
	}
	f.Measured.Keys = n
	// A key that waits can't be added again, which hides W seconds of every
	// cycle of a key's arrivals: e = 1/(W + 1/λ).
	hidden := f.ArrivalRate * f.Measured.Wait.Mean() / float64(n)
	if hidden < alwaysWaiting {
		f.Coalesced, f.RawRate = hidden, f.ArrivalRate/(1-hidden)
	} else {
		f.doubt("with %d keys nearly every key would always wait: there are more keys, or the queue is overloaded", n)
	}
}

// explain finds the loads that explain what was measured. What was found before an error stays.
func (f *fit) explain(ctx context.Context, seed uint64, progress func(string)) error {
	p, err := infer.Explain(ctx, f.Measured, f.hypotheses(), seed, progress)
	if p == nil {
		return err
	}
	f.Posterior = p
	f.adopt(p)
	unidentified, doubts := advice.Describe(f.Model)
	f.unidentified, f.doubts = append(f.unidentified, unidentified...), append(f.doubts, doubts...)
	return err
}

// reproduction compares the measurement with what the model makes of it.
func (f *fit) reproduction(ctx context.Context, seed uint64) (*advice.Reproduction, error) {
	r, err := advice.Reproduce(ctx, f.Model, seed)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(r.Verdict, "poor") {
		f.doubt("the model reproduces the measurement poorly: %.0f%% of the reconciles lie in another bucket", 100*r.Distance)
	}
	return r, nil
}

// adopt takes the most probable calls, which decide what is work.
func (f *fit) adopt(p *infer.Posterior) {
	sum := 0.0
	for _, cv := range p.Works {
		sum += cv / float64(len(p.Works))
	}
	f.ServiceCV = sum // of shapes that are the latencies', too, or without calls
	if f.Calls == 0 {
		return
	}
	c := p.Calls
	f.Calls, f.CallLatency, f.Throttle, f.Background = c.Mean(), c.Latency, c.Throttle, c.Background
	f.CallRate = f.Calls * f.Observations / f.Interval
	f.Busy, f.Service = c.Busy(f.Measured), c.Service(f.Measured)
	f.Offered = f.AddRate * f.Busy
	if latencies := f.Calls * f.CallLatency * f.CallLatency; !p.Whole {
		f.ServiceCV = math.Sqrt(sum*sum*f.Service*f.Service+latencies) / f.Busy
	}
	f.whichCalls(p)
}

// grew tells that more came than was worked off.
func grew(q scrape.Queue) bool { return q.Grown > max(grownLeast, grownShare*q.Adds) }

// retries tells failures from delays as far as the counters do.
func (f *fit) retries(q scrape.Queue, n float64) {
	results := 0.0
	for _, x := range q.Results {
		results += x
	}
	switch {
	case results > 0:
		f.Failure = (q.Results["error"] + q.Results["requeue"]) / results
		if later := q.Results["requeue_after"] / results; later > worthSaying {
			f.unknown("the delays of RequeueAfter: %.0f%% of the reconciles ask for one, and their adds count as arrivals", 100*later)
		}
	case q.Retries > delayed*n:
		f.unknown("the share of reconciles that fail: %s delayed adds on %s reconciles are more than failures explain, so they count as arrivals (AddAfter); controller_runtime_reconcile_total would tell", predict.Number(q.Retries), predict.Number(n))
	case q.Retries > failing*n:
		f.Failure = q.Retries / n
		f.unknown("failures and AddAfter from each other: workqueue_retries_total counts both, and all %s count as failures", predict.Number(q.Retries))
	}
	f.Failure = min(f.Failure, 0.95)
	retries := f.Failure * n / f.Interval
	if f.current.BucketRate > 0 {
		retries = min(retries, f.current.BucketRate) // no more are added than the bucket lets through
	}
	f.ArrivalRate = max(f.AddRate-retries, 0.01*f.AddRate)
	f.Dispersion = 1
}
