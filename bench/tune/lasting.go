package tune

import (
	"context"
	"slices"
)

// lasting tells that more comes at times than the workers can do, and that nothing
// tells for how long: those that there were could do it, so that no wait was longer for
// it.
func (m *Model) lasting(s Settings) bool { return len(m.tooMuch(s)) > 0 }

// tooMuch are the forms of arrivals of which that holds.
func (m *Model) tooMuch(s Settings) (list []candidate) {
	if m.series.known() {
		return nil // bursts as long as that are in it
	}
	for _, c := range slices.Concat(m.samples, m.rivals) {
		if high := m.Busy * c.highest(); high >= float64(s.Workers) && high < float64(m.workers) {
			list = append(list, c)
		}
	}
	return list
}

// longest predicts the most that waits may come to where more comes at times than the
// workers can do: if it comes all at once, in one phase of what was measured. It is not
// bounded if that is too long to be simulated, or if the settings don't carry the load
// anyhow; and it doesn't say what comes at other times than were measured.
func (m *Model) longest(ctx context.Context, s Settings, seed uint64) (f Figures, bounded bool, err error) {
	var worst *Model
	most := 0.0
	for _, c := range m.tooMuch(s) {
		p := m.alone(0)
		p.take(c)
		share := p.flow.levels.share
		if p.flow.levels.events == 0 {
			share = c.arrivals.On.Mean() / cycleOf(c.arrivals).Seconds()
			p.flow.levels = levels{share: share, depth: 1}
		}
		p.flow.levels.events = p.Spec.Resources[0].Events.Arrivals.Rate * m.Interval
		if behind := share * (m.Busy*c.highest() - float64(s.Workers)); worst == nil || behind > most {
			worst, most = p, behind
		}
	}
	// Of which five times as many events as usual hold two cycles.
	long := effort{replicas: 4, events: 60_000, patience: 1}
	if worst == nil || worst.flow.levels.events > 2.5*float64(long.events) {
		return Figures{}, false, nil
	}
	f, err = worst.predict(ctx, s, long, seed)
	return f, f.Stable, err
}
