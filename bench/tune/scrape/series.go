package scrape

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// A Step is what a queue counted from one scrape of a series to the next.
type Step struct {
	Begin  float64 `json:"begin"` // seconds since the first scrape
	Span   float64 `json:"span"`  // seconds
	Adds   float64 `json:"adds"`
	Done   float64 `json:"done"`   // reconciles
	Worked float64 `json:"worked"` // seconds that they took
	Taken  float64 `json:"taken"`  // keys out of the queue
	Waited float64 `json:"waited"` // seconds that they had waited
}

// Targets are the processes that snapshots are of, by their names.
func Targets(list []*Snapshot) []string {
	seen := map[string]bool{}
	for _, s := range list {
		seen[s.Target] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// Of are the snapshots of a target.
func Of(list []*Snapshot, target string) []*Snapshot {
	return slices.DeleteFunc(slices.Clone(list), func(s *Snapshot) bool { return s.Target != target })
}

// Over is what one process counted over a series of scrapes in the order of time. The
// interval is from one scrape to the next, and may be 0 if they carry timestamps. A step in
// which the process restarted counts for nothing; two scrapes have no other.
func Over(series []*Snapshot, interval time.Duration) (*Delta, error) {
	switch len(series) {
	case 0:
		return nil, errors.New("found no scrape, expected at least two")
	case 1:
		return nil, fmt.Errorf("%s: found one scrape, expected a second one, or --duration or --since-start with it", series[0].Source)
	case 2:
		return Between(series[0], series[1], interval)
	}
	if !slices.ContainsFunc(series, func(s *Snapshot) bool { return s.Taken.IsZero() }) {
		series = slices.Clone(series)
		slices.SortStableFunc(series, func(a, b *Snapshot) int { return a.Taken.Compare(b.Taken) })
		interval = 0
	}
	sum := &Delta{Told: fmt.Sprintf("%d scrapes", len(series)), Counts: Counts{Queues: map[string]Queue{}}}
	var spans []float64
	for i, end := range series[1:] {
		begin := series[i]
		if end.Taken.Equal(begin.Taken) && !end.Taken.IsZero() {
			return nil, fmt.Errorf("%s and %s were taken at the same time, %s, and both are of %s: expected one scrape at a time", begin.Source, end.Source, end.Taken.UTC().Format(time.RFC3339), cmp.Or(end.Target, "one process"))
		}
		d, err := Between(begin, end, interval)
		if err != nil && interval == 0 && begin.Taken.IsZero() {
			return nil, err
		}
		at := time.Duration(i) * interval
		if interval == 0 {
			at = begin.Taken.Sub(series[0].Taken)
		}
		why := ""
		if err == nil {
			why = d.fallen()
		}
		if err != nil || d.restarted || why != "" {
			if why != "" {
				why = fmt.Sprintf("counters don't go on (%s), so ", why)
			}
			sum.Gaps = append(sum.Gaps, why+fmt.Sprintf("the process restarted, or was another, %v after the first scrape: that step counts for nothing", at.Round(time.Second)))
			continue
		}
		sum.add(d, at)
		spans = append(spans, d.Interval.Seconds())
	}
	if len(spans) == 0 {
		return nil, fmt.Errorf("%s to %s: the counters fell in every step: expected scrapes of one process in the order of time", series[0].Source, series[len(series)-1].Source)
	}
	sum.gaps(spans)
	for name, q := range sum.Queues {
		q.Doubts = slices.Compact(slices.Sorted(slices.Values(q.Doubts)))
		sum.Queues[name] = q
	}
	return sum, nil
}

// add takes what was counted in the next step.
func (d *Delta) add(step *Delta, at time.Duration) {
	d.Interval += step.Interval
	for name, q := range step.Queues {
		was := d.Queues[name]
		next := was.plus(q)
		next.Steps = append(was.Steps, Step{
			at.Seconds(), step.Interval.Seconds(), q.Adds, q.Work.Count(), q.Work.Sum, q.Wait.Count(), q.Wait.Sum,
		})
		d.Queues[name] = next
	}
	d.Client = d.Client.plus(step.Client)
}

// gaps names the steps that are much longer than most.
func (d *Delta) gaps(spans []float64) {
	usual := verdict.Summarise(spans, 0.95).Center
	long := slices.DeleteFunc(slices.Clone(spans), func(span float64) bool { return span <= 2.5*usual })
	if len(long) > 0 {
		d.Gaps = append(d.Gaps, fmt.Sprintf("%s no scrape came for more than twice the usual %.3g s, at most for %.3g s: what was counted there counts, but not when", wording.Count(len(long), "time"), usual, slices.Max(long)))
	}
}

// plus is what a queue counted before and in the next interval; gauges are the later ones.
func (q Queue) plus(next Queue) Queue {
	sum := next
	sum.Adds, sum.Retries, sum.Grown = q.Adds+next.Adds, q.Retries+next.Retries, q.Grown+next.Grown
	sum.Wait, sum.Work, sum.Reconcile = q.Wait.plus(next.Wait), q.Work.plus(next.Work), q.Reconcile.plus(next.Reconcile)
	sum.Doubts = slices.Concat(q.Doubts, next.Doubts)
	sum.Results = added(q.Results, next.Results)
	return sum
}

func (c Client) plus(next Client) Client {
	return Client{
		Requests: added(c.Requests, next.Requests), Retries: c.Retries + next.Retries,
		Limiter: c.Limiter.plus(next.Limiter), Request: c.Request.plus(next.Request),
	}
}

func added(a, b map[string]float64) map[string]float64 {
	sum := map[string]float64{}
	for _, m := range []map[string]float64{a, b} {
		for k, v := range m {
			sum[k] += v
		}
	}
	return sum
}

// Sum adds up what several replicas counted in the same time.
func Sum(list []*Delta) *Delta {
	sum := &Delta{Told: list[0].Told, Counts: Counts{Queues: map[string]Queue{}}}
	for _, d := range list {
		sum.Interval = max(sum.Interval, d.Interval)
		sum.Gaps = append(sum.Gaps, d.Gaps...)
		sum.Client = sum.Client.plus(d.Client)
		for name, q := range d.Queues {
			was := sum.Queues[name]
			both := was.plus(q)
			both.Depth, both.Unfinished = was.Depth+q.Depth, was.Unfinished+q.Unfinished
			both.Longest, both.Workers = max(was.Longest, q.Longest), max(was.Workers, q.Workers)
			both.Steps = together(was.Steps, q.Steps)
			sum.Queues[name] = both
		}
	}
	return sum
}

// together adds the steps of one replica to those of another in which their middle lies.
func together(a, b []Step) []Step {
	list := slices.Clone(a)
	for _, y := range b {
		middle := y.Begin + y.Span/2
		at := slices.IndexFunc(list, func(x Step) bool { return middle >= x.Begin && middle < x.Begin+x.Span })
		if at < 0 {
			list = append(list, y)
			continue
		}
		x := &list[at]
		x.Adds, x.Done, x.Worked, x.Taken, x.Waited = x.Adds+y.Adds, x.Done+y.Done, x.Worked+y.Worked, x.Taken+y.Taken, x.Waited+y.Waited
	}
	slices.SortFunc(list, func(x, y Step) int { return cmp.Compare(x.Begin, y.Begin) })
	return list
}

// Active are the replicas, by name, that worked: of those that elect a leader it is one.
func Active(deltas map[string]*Delta) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(deltas)), func(name string) bool {
		queues := deltas[name].Queues
		return !slices.ContainsFunc(deltas[name].Names(), func(q string) bool { return queues[q].Work.Count() > 0 })
	})
}

// Described lists targets for a message, not all of many.
func Described(targets []string) string {
	var shown []string
	for _, name := range targets[:min(5, len(targets))] {
		shown = append(shown, cmp.Or(name, "one without a pod or instance"))
	}
	text := strings.Join(shown, ", ")
	if more := len(targets) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
