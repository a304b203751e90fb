package tune

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/bench/tune/search"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// refuse says why a queue's figures can't carry advice, and what to record
// instead; nothing if they can.
func refuse(kind defaults.Flavour, d *scrape.Delta, q scrape.Queue, c predict.Current) (why, record string) {
	n := q.Work.Count()
	switch {
	case q.Reset:
		return "the second scrape doesn't go on where the first one ended: " + strings.Join(q.Doubts, "; "), "two whole scrapes of one process, without a restart between them"
	case q.Adds == 0 && n == 0:
		return "nothing was added in the interval", "an interval in which this controller works"
	case q.Work.Buckets() == 0:
		return "workqueue_work_duration_seconds counted nothing", "scrapes of a controller whose queue has a name and a metrics provider, and all workqueue_… families"
	case q.Wait.Buckets() == 0:
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
	case c.Workers <= 0:
		return unstaffed(kind, q, d.Interval)
	}
	return implausible(q, c, d.Interval)
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

// unstaffed refuses a queue of which nothing says how many workers it has: client-go has no
// default, and one that is made up would make up the advice.
func unstaffed(f defaults.Flavour, q scrape.Queue, interval time.Duration) (why, say string) {
	why = "neither its metrics nor a default say how many workers it has"
	if f == defaults.ControllerManager {
		why = "how many workers kube-controller-manager gives it is not known here"
	}
	busy := q.Work.Sum / interval.Seconds()
	return why, fmt.Sprintf("the same scrapes, with --queue %s and the number of goroutines that call its Get as --workers (%s were busy on average)", q.Name, predict.Number(busy))
}

// realInterval is what to record where the interval can't be right.
const realInterval = "the same with the time that the scrapes really cover as --interval (as --duration of one)"

// implausible refuses work that so many workers can't have done in the interval, which is
// then not what it is said to be, and says what to check; nothing if they can.
func implausible(q scrape.Queue, c predict.Current, interval time.Duration) (why, check string) {
	span := interval.Seconds()
	busy := (q.Work.Sum - longest(q.Work, c.Workers)) / span
	if busy <= (1+inaccurate)*float64(c.Workers) {
		return "", ""
	}
	check = fmt.Sprintf("%s, or, if that is right, with the number of workers as --workers (at least %.0f)", realInterval, math.Ceil(busy/(1+inaccurate)))
	if c.Told["workers"] == "metrics" {
		check = realInterval + ": the number of workers is the metrics' own"
	}
	there := fmt.Sprintf("the %d that there are", c.Workers)
	if c.Workers == 1 {
		there = "the only one"
	}
	return fmt.Sprintf("%s workers were busy on average in %v, expected at most %s (%s)", predict.Number(q.Work.Sum/span), interval, there, c.Told["workers"]), check
}

// longest is how long the n longest durations took at most: reconciles under way when
// the interval began are counted in it with what they had taken before.
func longest(h scrape.Histogram, n int) float64 {
	sum, others, left := 0.0, 0.0, float64(n)
	for i := 1; i < len(h.Bounds); i++ {
		others += h.Bounds[i-1] * h.Counts[i]
	}
	for i := len(h.Counts) - 1; i >= 0 && left > 0; i-- {
		k := min(left, h.Counts[i])
		if left -= k; i < len(h.Bounds) {
			sum += k * h.Bounds[i]
		} else if k > 0 {
			sum += h.Sum - others // the last bucket has no end
		}
	}
	return min(sum, h.Sum)
}
