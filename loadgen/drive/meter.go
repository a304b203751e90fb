package drive

import (
	"slices"
	"sync"
	"time"

	"github.com/informerbench/informerbench/loadgen/durations"
)

// Range and precision of the histograms.
const (
	shortest, longest = 100 * time.Nanosecond, time.Hour
	digits            = 3 // of a whole drive
	tickDigits        = 2 // of one second
)

// A meter is one goroutine's histogram of one latency. Its lock is for the
// ticker, which looks in once a second.
type meter struct {
	mu    sync.Mutex
	total durations.Histogram
	tick  *durations.Histogram // since the last tick; nil if the timeline does not show this latency
}

func (m *meter) record(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total.Record(d)
	if m.tick != nil {
		m.tick.Record(d)
	}
}

func newTick() *durations.Histogram {
	h := durations.New(shortest, longest, tickDigits)
	return &h
}

// meters are all meters of a drive, by the name of their latency.
type meters struct {
	mu  sync.Mutex
	all map[string][]*meter
}

// ticked are the latencies that the timeline shows.
var ticked = []string{QueueWait, Settled}

func (s *meters) add(name string) *meter {
	m := &meter{total: durations.New(shortest, longest, digits)}
	if slices.Contains(ticked, name) {
		m.tick = newTick()
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
func (s *meters) sinceTick(name string, into *durations.Histogram) {
	into.Reset()
	for _, m := range s.named(name) {
		m.mu.Lock()
		into.Merge(*m.tick)
		m.tick.Reset()
		m.mu.Unlock()
	}
}

// distribution merges the meters of a name.
func (s *meters) distribution(name string) durations.Distribution {
	merged := durations.New(shortest, longest, digits)
	for _, m := range s.named(name) {
		m.mu.Lock()
		merged.Merge(m.total)
		m.mu.Unlock()
	}
	return merged.Distribution()
}
