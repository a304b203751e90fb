package tune

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// A fit is advice on the way, with the model that it is of.
type fit struct {
	advice.Advice
	*predict.Model
	made      float64          // calls a second of all that share the client; 0: nobody else does
	limiter   scrape.Histogram // of all queues' calls
	untimed   bool             // nothing says how long calls waited for the limit
	untold    bool             // nothing says how long they took
	peers     float64          // reconciles of other queues
	peersWork float64          // seconds that these took
	division  division         // of the calls among several queues
	undivided bool             // nothing tells how many of the calls are this queue's, whose client has a limit of its own
}

func (f *fit) unknown(format string, args ...any) {
	f.Unidentified = append(f.Unidentified, fmt.Sprintf(format, args...))
}

func (f *fit) doubt(format string, args ...any) {
	f.Doubts = append(f.Doubts, fmt.Sprintf(format, args...))
}

// newFit takes what the counters tell exactly: rates, means, utilisation.
func newFit(d *scrape.Delta, q scrape.Queue, current predict.Current, o Options, own bool) *fit {
	span, n := d.Interval.Seconds(), q.Work.Count()
	m := &predict.Model{
		Interval: span, Told: d.Told, Observations: n,
		AddRate: q.Adds / span, Dispersion: 1, Work: q.Work.Mean(), Backlog: q.Grown,
		Utilisation: q.Work.Sum / span / float64(current.Workers),
		Depth:       q.Wait.Sum / span,
		Spec:        &loadgen.Spec{}, Queues: o.Queues,
		Measured: &infer.Measured{Span: span, Reconciles: n, Wait: q.Wait, Work: q.Work, Steps: q.Steps, Keys: o.Keys, Grown: grew(q)},
	}
	f := &fit{Model: m, Advice: advice.Advice{Queue: q.Name, Current: current, Model: m}}
	f.Doubts = append(f.Doubts, q.Doubts...)
	if q.Adds == 0 {
		f.AddRate = q.Wait.Count() / span
		f.doubt("workqueue_adds_total counted nothing: the number of waits stands for it")
	}
	f.retries(q)
	f.calls(d, q, o, own)
	f.Recommended = f.Current.Settings // until something better is found
	f.Offered = f.AddRate * f.Busy
	if p := q.Wait.Precision(); p >= coarse {
		f.unknown("quantiles of the measured wait and work: the buckets are %.3g× apart, so one read from them alone may be off by as much; the sums are exact, and the model is fitted to both", p)
	}
	if q.Unfinished > underWay*q.Work.Sum {
		f.doubt("reconciles under way had taken %s at the end (the longest %s), which the work duration doesn't hold yet", durations.Seconds(q.Unfinished), durations.Seconds(q.Longest))
	}
	f.keys(o.Keys)
	f.Spec.Reconcile.Failure, f.Measured.Failure = f.Failure, f.Failure
	f.Measured.Adds, f.Measured.Controller = f.AddRate, f.Current.Controller()
	f.Measured.Overloaded = f.Measured.Grown || f.Utilisation > overloadedAt
	if f.limiter.Count() > 0 && f.Background < 0.02*f.CallRate {
		f.Measured.Limiter = f.limiter // of this queue's calls alone
	}
	f.Doubts = append(f.Doubts, advice.ObjectiveDoubts(m, o.Objectives)...)
	return f
}

// keys takes how many there are said to be.
func (f *fit) keys(n int) {
	if n == 0 {
		f.unknown("arrivals that found their key waiting: no counter holds them; --keys, the number of objects, tells them, and of %s or fewer more than 1%% of the adds would wait for their key to be worked on, however many workers there are", predict.Number(math.Ceil(f.Offered/0.01)))
		return
	}
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
	f.Unidentified, f.Doubts = append(f.Unidentified, unidentified...), append(f.Doubts, doubts...)
	return err
}

// reproduce compares the measurement with what the model makes of it, which may refuse it.
func (f *fit) reproduce(ctx context.Context, seed uint64) error {
	r, err := advice.Reproduce(ctx, f.Model, seed)
	if err != nil {
		return err
	}
	if strings.HasPrefix(r.Verdict, "poor") {
		f.doubt("the model reproduces the measurement poorly: %.0f%% of the reconciles lie in another bucket", 100*r.Distance)
	}
	f.Reproduction = r
	f.Refused, f.Record = r.Refuse(f.Model)
	return nil
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
func (f *fit) retries(q scrape.Queue) {
	n, results := f.Observations, 0.0
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
	if f.Current.BucketRate > 0 {
		retries = min(retries, f.Current.BucketRate) // no more are added than the bucket lets through
	}
	f.ArrivalRate = max(f.AddRate-retries, 0.01*f.AddRate)
}
