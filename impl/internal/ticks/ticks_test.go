package ticks

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// within is how exact a Clock is while the counter has no fault.
const within = time.Microsecond

// What a Clock tells between two readings of the system's clock lies between them.
func TestClockIsTheSystems(t *testing.T) {
	c := New()
	if c == nil {
		t.Skip("the kernel does not take its time from the time stamp counter here")
	}
	told := 0
	for measured, first := 0, c.first; measured < 4 && !c.faulty; {
		before := since()
		now := c.Now()
		after := since()
		require.LessOrEqual(t, before-within, now)
		require.LessOrEqual(t, now, after+within)
		if c.good > 0 {
			told++
		}
		if c.first != first {
			measured, first = measured+1, c.first
		}
	}
	require.False(t, c.faulty, "after %d readings", told)
	require.NotZero(t, New().tick, "another knows the tick from the start")
}

// In a bubble time is virtual, whatever it is there.
func TestNoClockInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, sleep := range []time.Duration{0, time.Nanosecond, time.Hour, 26 * 365 * 24 * time.Hour} {
			time.Sleep(sleep)
			require.Nil(t, New())
		}
	})
}

// A system is a counter and a clock as a Clock finds them, without noise.
type system struct {
	ticks uint64
	at    time.Duration
	ghz   float64
	rest  float64 // of a tick
	width uint64  // ticks that a reading of the clock takes
}

// pass lets time pass.
func (s *system) pass(d time.Duration) {
	s.at += d
	ticks, rest := math.Modf(float64(d)*s.ghz + s.rest)
	s.ticks += uint64(ticks)
	s.rest = rest
}

// now is Now of a Clock on this system.
func (s *system) now(c *Clock) time.Duration {
	if c.good > 0 {
		if at, ok := c.tell(s.ticks); ok {
			return at
		}
	}
	return s.renew(c)
}

// renew is Renew of a Clock on this system.
func (s *system) renew(c *Clock) time.Duration {
	if !c.faulty {
		c.anchorAt(s.ticks-s.width/2, s.at, s.ticks+s.width-s.width/2)
	}
	return s.at
}

// settle makes readings until the time of a tick is known.
func (s *system) settle(t require.TestingT) *Clock {
	c := new(Clock)
	for range 3 {
		s.now(c)
		s.pass(firstSpan)
	}
	require.NotZero(t, c.good)
	return c
}

func newSystem() *system { return &system{ticks: math.MaxUint64 - 1e6, ghz: 2.6, width: 100} }

// Whatever the times between readings are, they are told.
func TestClockTellsTheTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSystem()
		ghz := rapid.Float64Range(0.1, 10).Draw(t, "GHz")
		s.ghz = ghz
		c := s.settle(t)
		step := rapid.OneOf(
			rapid.Int64Range(0, 10_000),
			rapid.Int64Range(0, int64(2*reach)),
			rapid.Int64Range(0, int64(24*time.Hour)),
		)
		for _, d := range rapid.SliceOf(step).Draw(t, "steps") {
			s.ghz = ghz * (1 + rapid.Float64Range(-1e-4, 1e-4).Draw(t, "adjusted"))
			s.pass(time.Duration(d))
			require.InDelta(t, s.at, s.now(c), float64(within))
		}
		require.False(t, c.faulty)
	})
}

// A counter with a fault is noticed when the anchor is renewed, and misleads by no
// more than reach before, if it does not lag.
func TestFaultyCounter(t *testing.T) {
	faults := map[string]func(*system){
		"forwards":       func(s *system) { s.ticks += 1e9 },
		"a bit forwards": func(s *system) { s.ticks += 1e5 },
		"backwards":      func(s *system) { s.ticks -= 1e9 },
		"to zero":        func(s *system) { s.ticks = 0 },
		"faster":         func(s *system) { s.ghz *= 2 },
		"slower":         func(s *system) { s.ghz /= 2 },
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			s := newSystem()
			c := s.settle(t)
			fault(s)
			for range 1000 {
				s.pass(10 * time.Microsecond)
				require.InDelta(t, s.at, s.now(c), 2*float64(reach))
			}
			require.True(t, c.faulty)
			require.Equal(t, s.at, s.now(c))
		})
	}
}

func TestCounterThatStandsStill(t *testing.T) {
	s := newSystem()
	c := s.settle(t)
	s.now(c)
	s.ghz = 0
	s.pass(time.Second)
	require.NotEqual(t, s.at, s.now(c))
	require.Equal(t, s.at, s.renew(c))
	require.Equal(t, s.at, s.now(c))
	require.True(t, c.faulty)
}

// A system whose clock can't be read at a known count is asked itself.
func TestSlowReadings(t *testing.T) {
	s := newSystem()
	c := s.settle(t)
	s.width = 10 * narrow
	for range patience {
		s.pass(reach)
		require.Equal(t, s.at, s.now(c))
		require.False(t, c.faulty)
	}
	s.width = 100
	s.now(c)
	s.pass(time.Microsecond)
	s.now(c)
	require.Zero(t, c.missed, "a narrow one makes up for those")

	s.width = 10 * narrow
	for range patience + 1 {
		s.pass(reach)
		s.now(c)
	}
	require.True(t, c.faulty)
}
