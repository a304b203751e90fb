package tune

import (
	"cmp"
	"math"

	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// untimed begins what is said of a client that doesn't time its waits, and undivided of calls of
// which nothing tells whose they are.
const (
	untimed   = "waits for the client's limit"
	undivided = "which queue made which API call"
)

// calls tells what API calls take of the work. All queues of a process share
// the client's counters: each gets its part by the time it worked, and by the waits
// where these tell (divisible).
func (f *fit) calls(d *scrape.Delta, q scrape.Queue, o Options, own bool) {
	f.Busy, f.Service = f.Work, f.Work
	all := q.Work.Sum
	for _, name := range d.Names() { // in one order, for the last digit
		if other := d.Queues[name]; name != q.Name && !other.Reset {
			all += other.Work.Sum
			f.peers += other.Work.Count()
		}
	}
	f.peersWork = all - q.Work.Sum
	share := q.Work.Sum / all
	made := cmp.Or(max(d.Client.Limiter.Count(), d.Client.Request.Count()), d.Client.Calls())
	f.Calls = cmp.Or(o.Calls, made*share/f.Observations)
	if f.Calls < fewCalls {
		f.Calls = 0
		if made == 0 {
			f.unknown("API calls and the client's limit: there are no rest_client_… families; with --calls and --call-latency they can be given")
		}
		return
	}
	f.timed(d.Client, o)
	busy := 0
	for _, other := range d.Queues {
		if other.Work.Sum > worked*all {
			busy++
		}
	}
	several := busy > 1 && o.Calls == 0
	if several {
		f.undivided = own
		f.unknown(undivided+": the client's counters hold all of them, and each queue got its part by the time it worked (%.0f%% here); --calls says it better", 100*share)
	}
	if f.overlap(o) {
		return
	}
	f.CallRate = f.Calls * f.Observations / f.Interval
	if !own {
		f.made = made / f.Interval
	}
	f.Background = max(0, f.made-f.CallRate)
	// Under a tight limit nearly all of the work may be waits; some of those that were
	// counted are of reconciles that had not ended.
	f.Busy = max(f.Work-f.Calls*f.Throttle, f.Calls*f.CallLatency, 1e-3*f.Work)
	f.CallLatency = min(f.CallLatency, 0.98*f.Busy/f.Calls)
	f.Service = f.Busy - f.Calls*f.CallLatency
	f.limit()
	if several && !own {
		f.division = f.divisible(made)
	}
}

// timed takes from the client's counters how long a call waited and took.
func (f *fit) timed(c scrape.Client, o Options) {
	f.limiter = c.Limiter
	if f.untimed = c.Limiter.Count() == 0; f.untimed {
		f.unknown(untimed + ": rest_client_rate_limiter_duration_seconds is missing")
	} else {
		f.Throttle = c.Limiter.Mean()
	}
	f.untold = o.CallLatency == 0 && c.Request.Count() == 0
	switch {
	case f.untold:
		f.unknown("the calls' latency, which counts as the reconciles' own work as far as no limit tells it: rest_client_request_duration_seconds is missing; --call-latency says it")
	case o.CallLatency > 0:
		f.CallLatency = o.CallLatency.Seconds()
	case includes(c.Request, c.Limiter):
		f.CallLatency = c.Request.Mean() - f.Throttle
	default:
		f.CallLatency = c.Request.Mean()
	}
}

// overlap reports that the calls take longer than the work, so that no model of one call
// after the other holds and the limit stays out of it.
func (f *fit) overlap(o Options) bool {
	waits, latencies := f.Calls*f.Throttle, f.Calls*f.CallLatency
	if o.Calls > 0 && waits+latencies > overlapping*f.Work && latencies < f.Work {
		f.unknown(untimed+": all the process's calls waited %s each, longer than this queue's can have", durations.Seconds(f.Throttle))
		f.limiter, f.Throttle, waits = scrape.Histogram{}, 0, 0
	}
	if waits+latencies <= overlapping*f.Work {
		return false
	}
	f.unknown("what the client's limit does to the work: the calls' waits for it and their latency add up to %s times the work, so many are made at the same time or outside of reconciles", predict.Number((waits+latencies)/f.Work))
	if f.Throttle > 0.01 {
		f.doubt("API calls waited %s each for the client's limit, which the model takes for work: a higher QPS would make it shorter and more workers longer, by how much can't be said, so what is predicted of more workers is the best case", durations.Seconds(f.Throttle))
	}
	f.Calls, f.CallLatency = 0, 0
	return true
}

// limit compares the calls with the limit that they are said to be made under. Where there has to
// be another, one that makes calls wait as long stands for it.
func (f *fit) limit() {
	s := &f.Current
	rate := f.CallRate + f.Background
	waited, room := f.Throttle > limited, 1.0
	switch {
	case s.QPS == 0 && waited:
		f.doubt("calls waited %s on average for a client-side limit, but there is said to be none: a QPS of %s, under which calls wait as long, stands for it; say --qps and --burst", durations.Seconds(f.Throttle), predict.Number(f.limitBehind(rate)))
	case s.QPS > 0 && rate*f.Interval > 1.02*s.QPS*f.Interval+float64(s.Burst):
		room = 1.5
		f.doubt("%s API calls a second were made, more than a QPS of %s (%s) allows: there are several clients, or another limit; say --qps and --burst", predict.Number(rate), predict.Number(s.QPS), s.Told["qps"])
	default:
		return
	}
	s.QPS, s.Burst = 0, 0
	if waited {
		s.QPS, s.Burst = f.limitBehind(rate), max(1, int(room*rate))
	}
	s.Told["qps"], s.Told["burst"] = "estimated", "estimated"
}

// limitBehind is the limit under which so many calls a second at random wait as long as
// was measured, as for a server of one call after the other. A queue that grew may have
// been held up by it, so that it let no more through.
func (f *fit) limitBehind(rate float64) float64 {
	if f.Measured.Grown {
		return rate
	}
	x := 2 * rate * f.Throttle
	return 2 * rate / (math.Sqrt(x*x+4*x) - x)
}

// includes tells whether requests were timed with their wait for the limiter,
// as client-go does: then no more waits than requests take longer than any bound, but
// for the few under way or sent again.
func includes(request, limiter scrape.Histogram) bool {
	if limiter.Count() == 0 || request.Sum < limiter.Sum {
		return false
	}
	waits, requests, at := limiter.Count(), request.Count(), 0
	for i, bound := range limiter.Bounds {
		waits -= limiter.Counts[i]
		for ; at < len(request.Bounds) && request.Bounds[at] <= bound; at++ {
			requests -= request.Counts[at]
		}
		if waits > 1.05*requests+10 {
			return false
		}
	}
	return true
}
