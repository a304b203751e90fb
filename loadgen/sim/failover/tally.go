package failover

import (
	"time"

	"github.com/informerbench/informerbench/loadgen/durations"
)

// A tally sums up runs.
type tally struct {
	leaderless, failover    durations.Histogram
	kept, lost, overlaps    int
	longest                 time.Duration
	losses                  int
	watched                 time.Duration
	leaderCalls, otherCalls int
	leading, standing       time.Duration
}

func (s *tally) add(w *world) {
	for _, t := range w.terms {
		if t.to.IsZero() || t.to.After(w.end) {
			t.to = w.end
		}
	}
	s.addOverlaps(w)
	switch {
	case w.config.Scenario == Start:
		if len(w.terms) == 0 {
			s.lost++
			return
		}
		took := w.terms[0].from.Sub(w.begin)
		s.leaderless.Record(took)
		s.failover.Record(took)
	case w.subject == nil:
		s.losses++ // before the event
	case w.config.Scenario == Steady:
		s.watch(w)
	default:
		s.addFailover(w)
	}
}

// addOverlaps looks for times during which two led.
func (s *tally) addOverlaps(w *world) {
	var longest time.Duration
	for i, t := range w.terms {
		for _, o := range w.terms[:i] {
			if o.leader == t.leader {
				continue
			}
			from, to := t.from, t.to
			if o.from.After(from) {
				from = o.from
			}
			if o.to.Before(to) {
				to = o.to
			}
			longest = max(longest, to.Sub(from))
		}
	}
	if longest > 0 {
		s.overlaps++
		s.longest = max(s.longest, longest)
	}
}

// addFailover finds what became of the leader that the event happened to.
func (s *tally) addFailover(w *world) {
	var ended time.Time
	for _, t := range w.terms {
		if t.leader == w.subject && !t.to.Before(w.event) && t.from.Before(w.event) {
			ended = t.to
		}
	}
	if !ended.Before(w.end) {
		s.kept++
		return
	}
	for _, t := range w.terms {
		if !t.from.After(w.event) {
			continue
		}
		s.leaderless.Record(t.from.Sub(ended)) // 0 where both led
		if t.leader != w.subject {
			s.failover.Record(t.from.Sub(w.event))
		}
		return
	}
	s.lost++
}

// watch counts losses and calls of a time without event.
func (s *tally) watch(w *world) {
	total := w.end.Sub(w.event)
	s.watched += total
	var led time.Duration
	for _, t := range w.terms {
		if t.to.Before(w.end) && t.to.After(w.event) {
			s.losses++
		}
		if from := later(t.from, w.event); t.to.After(from) {
			led += t.to.Sub(from)
		}
	}
	s.leading += led
	s.standing += total*time.Duration(w.config.Candidates) - led
	for _, call := range w.server.Calls() {
		if call.At.Before(w.event) || call.At.After(w.end) {
			continue
		}
		if w.leads(call.Identity, call.At) {
			s.leaderCalls++
		} else {
			s.otherCalls++
		}
	}
}

func (w *world) leads(who string, at time.Time) bool {
	for _, t := range w.terms {
		if identity(t.leader.id) == who && !at.Before(t.from) && at.Before(t.to) {
			return true
		}
	}
	return false
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (s *tally) result(config Config) Result {
	r := Result{
		Config: config, Leaderless: s.leaderless.Distribution(), Failover: s.failover.Distribution(),
		Kept: s.kept, Unrecovered: s.lost, Overlaps: s.overlaps, LongestBoth: s.longest,
	}
	if s.watched > 0 {
		r.Losses = float64(s.losses) / s.watched.Hours()
		r.LeaderCalls = rate(s.leaderCalls, s.leading)
		r.StandbyCalls = rate(s.otherCalls, s.standing)
	}
	return r
}

func rate(n int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}
