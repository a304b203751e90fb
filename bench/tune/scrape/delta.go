package scrape

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Between is what was counted from begin to end. The interval may be 0 if both
// scrapes carry timestamps. Queues whose counters fell are marked; that all of
// them fell is an error. Of a process that restarted in between, it is what was
// counted since, if the scrapes tell how long that is, with a doubt in each queue.
func Between(begin, end *Snapshot, interval time.Duration) (*Delta, error) {
	if !begin.Started.IsZero() && !end.Started.IsZero() {
		switch moved := end.Started.Sub(begin.Started); {
		case moved > time.Second:
			return restarted(begin, end, interval)
		case moved < -time.Second:
			return nil, fmt.Errorf("%s and %s: the first is of a process that started later: they are swapped, or of two processes", begin.Source, end.Source)
		}
	}
	d := &Delta{Interval: interval, Told: "--interval"}
	told := end.Taken.Sub(begin.Taken)
	known := !begin.Taken.IsZero() && !end.Taken.IsZero()
	switch {
	case known && told < 0:
		return nil, fmt.Errorf("%s was taken %v before %s: begin and end are swapped", end.Source, -told, begin.Source)
	case interval > 0 && known && math.Abs(told.Seconds()/interval.Seconds()-1) > 0.1:
		return nil, fmt.Errorf("found --interval %v, but %s and %s were taken %v apart by their timestamps", interval, begin.Source, end.Source, told)
	case interval > 0:
	case known && told > 0:
		d.Interval, d.Told = told, "the scrapes' timestamps"
	default:
		return nil, fmt.Errorf("%s and %s don't tell how much time lies between them: expected --interval", begin.Source, end.Source)
	}
	if !slices.ContainsFunc(begin.Names(), func(name string) bool { _, ok := end.Queues[name]; return ok }) {
		return nil, fmt.Errorf("%s and %s have no queue in common (%s, and %s): they are of two processes", begin.Source, end.Source, strings.Join(begin.Names(), ", "), strings.Join(end.Names(), ", "))
	}
	counts, worked, fallen := begin.to(end)
	if fallen > 0 && fallen == worked {
		if _, _, again := end.to(begin); again == 0 {
			return nil, fmt.Errorf("%s counts less than %s throughout: begin and end are swapped", end.Source, begin.Source)
		}
		return nil, fmt.Errorf("%s: counters of every queue that worked fell since %s (%s), so the process restarted: take two scrapes of one process, or the second alone with --duration", end.Source, begin.Source, counts.fallen())
	}
	d.Counts = counts
	return d, nil
}

// restarted is what a process counted since it started between two scrapes.
func restarted(begin, end *Snapshot, interval time.Duration) (*Delta, error) {
	first, last := begin.Taken, end.Taken
	switch {
	case first.IsZero() && !last.IsZero() && interval > 0:
		first = last.Add(-interval)
	case last.IsZero() && !first.IsZero() && interval > 0:
		last = first.Add(interval)
	}
	lived := last.Sub(end.Started)
	if first.IsZero() || last.IsZero() || end.Started.Before(first) || lived <= 0 {
		// Another process that ran all the time, or none of these times is known.
		return nil, fmt.Errorf("%s: the process started %v after that of %s, so its counters began again: take two scrapes of one process, or the second alone with --duration",
			end.Source, end.Started.Sub(begin.Started).Round(time.Second), begin.Source)
	}
	d, _ := Since(end, lived) // no error is of one that is told the duration
	d.Told, d.restarted = "process_start_time_seconds, since the restart", true
	for name, q := range d.Queues {
		q.Doubts = append(slices.Clone(q.Doubts), fmt.Sprintf("the process restarted: only the %v since then count, in which it lists all objects first; two scrapes without a restart between them say more", lived.Round(time.Second)))
		d.Queues[name] = q
	}
	return d, nil
}

// Since is what one process counted in all. The duration may be 0 if the scrape
// tells when it was taken and when the process started.
func Since(s *Snapshot, duration time.Duration) (*Delta, error) {
	d := &Delta{Interval: duration, Told: "--duration", Counts: Counts{Queues: map[string]Queue{}, Client: s.Client}}
	for name, q := range s.Queues {
		q = q.finest()
		q.Grown = q.Depth // from an empty queue
		d.Queues[name] = q
	}
	if duration > 0 {
		return d, nil
	}
	switch {
	case s.Started.IsZero():
		return nil, fmt.Errorf("%s: process_start_time_seconds is missing: expected --duration", s.Source)
	case s.Taken.IsZero():
		return nil, fmt.Errorf("%s doesn't tell when it was taken: expected --duration", s.Source)
	}
	d.Interval, d.Told = s.Taken.Sub(s.Started), "process_start_time_seconds"
	if d.Interval <= 0 {
		return nil, fmt.Errorf("%s was taken before its process started, by its timestamps: expected --duration", s.Source)
	}
	return d, nil
}

// finest takes the work durations from whichever histogram has the finer buckets,
// if both are of the same reconciles.
func (q Queue) finest() Queue {
	n, r := q.Work.Count(), q.Reconcile.Count()
	if r > 0 && (n == 0 || math.Abs(r/n-1) < 0.02 && q.Reconcile.Buckets() > q.Work.Buckets()) {
		q.Work = q.Reconcile
	}
	return q
}

// to subtracts begin from end, and counts the queues that counted anything in between and
// those whose counters fell.
func (begin *Snapshot) to(end *Snapshot) (c Counts, worked, fallen int) {
	c = Counts{Queues: map[string]Queue{}, Client: end.Client.minus(begin.Client)}
	for name := range begin.Queues {
		c.Queues[name] = Queue{Name: name, Reset: true, Doubts: []string{"the queue is missing at the end"}}
	}
	for name, q := range end.Queues {
		was, known := begin.Queues[name]
		since, err := q.minus(was)
		if !known && q.Adds > 0 {
			since.Doubts = append(slices.Clone(since.Doubts), "the queue is missing at the begin, so all that it ever counted is taken to be of the interval")
		}
		if err != nil {
			since.Doubts = append(slices.Clone(since.Doubts), err.Error())
			since.Reset = true
			fallen++
		}
		if q.Adds != was.Adds || q.Work.Sum != was.Work.Sum || q.Work.Count() != was.Work.Count() {
			worked++
		}
		c.Queues[name] = since.finest()
	}
	return c, worked, fallen
}

// fallen names one counter of those that fell.
func (c Counts) fallen() string {
	for _, name := range c.Names() {
		if q := c.Queues[name]; q.Reset && len(q.Doubts) > 0 {
			first, _, _ := strings.Cut(q.Doubts[len(q.Doubts)-1], "\n")
			return fmt.Sprintf("of %s, %s", name, first)
		}
	}
	return ""
}

func (q Queue) minus(earlier Queue) (Queue, error) {
	since := q
	since.Grown = q.Depth - earlier.Depth
	var problems []error
	counter := func(family string, now, before float64) float64 {
		if q.series[family] == 0 {
			return 0 // its being missing is among the doubts
		}
		if now < before {
			problems = append(problems, fmt.Errorf("%s fell from %v to %v", family, before, now))
		}
		return now - before
	}
	since.Adds = counter("workqueue_adds_total", q.Adds, earlier.Adds)
	since.Retries = counter("workqueue_retries_total", q.Retries, earlier.Retries)
	since.Results = maps.Clone(q.Results)
	for result, n := range since.Results {
		since.Results[result] = counter("controller_runtime_reconcile_total", n, earlier.Results[result])
	}
	histogram := func(family string, now, before Histogram) Histogram {
		h, err := now.minus(before)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s %w", family, err))
		}
		return h
	}
	since.Wait = histogram("workqueue_queue_duration_seconds", q.Wait, earlier.Wait)
	since.Work = histogram("workqueue_work_duration_seconds", q.Work, earlier.Work)
	since.Reconcile = histogram("controller_runtime_reconcile_time_seconds", q.Reconcile, earlier.Reconcile)
	return since, errors.Join(problems...)
}

// minus leaves a family out that fell: the queues then tell of the restart.
func (c Client) minus(earlier Client) Client {
	since := Client{Requests: map[string]float64{}, Retries: max(0, c.Retries-earlier.Retries)}
	for code, n := range c.Requests {
		if n -= earlier.Requests[code]; n > 0 {
			since.Requests[code] = n
		}
	}
	since.Limiter, _ = c.Limiter.minus(earlier.Limiter)
	since.Request, _ = c.Request.minus(earlier.Request)
	return since
}
