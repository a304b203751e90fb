package drive

import (
	"math"
	"slices"
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Range and precision of the histograms.
const (
	lowest, highest = int64(100), int64(time.Hour)
	digits          = 3 // of a whole drive
	tickDigits      = 2 // of one second
)

// A meter is one goroutine's histogram of one latency. Its lock is for the
// ticker, which looks in once a second.
type meter struct {
	mu    sync.Mutex
	total *hdr.Histogram
	tick  *hdr.Histogram // since the last tick; nil if the timeline does not show this latency
}

func (m *meter) record(d time.Duration) {
	value := min(max(int64(d), 0), highest)
	m.mu.Lock()
	defer m.mu.Unlock()
	// The value is within the range, so that it can't be refused.
	_ = m.total.RecordValue(value)
	if m.tick != nil {
		_ = m.tick.RecordValue(value)
	}
}

// meters are all meters of a drive, by the name of their latency.
type meters struct {
	mu  sync.Mutex
	all map[string][]*meter
}

// ticked are the latencies that the timeline shows.
var ticked = []string{QueueWait, Settled}

func (s *meters) add(name string) *meter {
	m := &meter{total: hdr.New(lowest, highest, digits)}
	if slices.Contains(ticked, name) {
		m.tick = hdr.New(lowest, highest, tickDigits)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string][]*meter{}
	}
	s.all[name] = append(s.all[name], m)
	return m
}

func (s *meters) named(name string) []*meter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[name]
}

// sinceTick merges what the meters of a name recorded since the last call.
func (s *meters) sinceTick(name string, into *hdr.Histogram) {
	into.Reset()
	for _, m := range s.named(name) {
		m.mu.Lock()
		into.Merge(m.tick)
		m.tick.Reset()
		m.mu.Unlock()
	}
}

// distribution merges the meters of a name.
func (s *meters) distribution(name string) Distribution {
	merged := hdr.New(lowest, highest, digits)
	for _, m := range s.named(name) {
		m.mu.Lock()
		merged.Merge(m.total)
		m.mu.Unlock()
	}
	return newDistribution(name, merged)
}

// quantiles of a distribution: dense enough for a curve, and the ones that
// people ask for.
var quantiles = []float64{
	0, 0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98,
	0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999, 0.99999, 0.999999,
}

func newDistribution(name string, h *hdr.Histogram) Distribution {
	d := Distribution{Name: name}
	if h == nil || h.TotalCount() == 0 {
		return d
	}
	d.Count = h.TotalCount()
	d.Mean, d.Max = math.Round(h.Mean()), resolved(h.Max())
	for _, q := range quantiles {
		if float64(d.Count)*(1-q) < 1 {
			break // fewer than one value lies above
		}
		d.Points = append(d.Points, Point{q, resolved(h.ValueAtQuantile(100 * q))})
	}
	d.Points = append(d.Points, Point{1, d.Max})
	return d
}

// resolved is 0 for what is too short to be told from it.
func resolved(ns int64) int64 {
	if ns < lowest {
		return 0
	}
	return ns
}
