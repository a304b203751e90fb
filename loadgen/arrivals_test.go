package loadgen

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// times draws the arrivals of a process until a time.
func times(t *testing.T, a Arrivals, seed uint64, until time.Duration) []time.Duration {
	t.Helper()
	require.NoError(t, a.complete("", until))
	var all []time.Duration
	it := newArrivals(a, newRandom(seed, 0))
	for at := it.next(); at < until; at = it.next() {
		if n := len(all); n > 0 {
			require.GreaterOrEqual(t, at, all[n-1], "in order")
		}
		all = append(all, at)
	}
	return all
}

// dispersion is the variance of the counts in windows over their mean: 1 for
// Poisson, below it where evenly spaced, above it in bursts.
func dispersion(all []time.Duration, window, until time.Duration) float64 {
	counts := make([]float64, until/window)
	for _, at := range all {
		counts[at/window]++
	}
	mean, squares := 0.0, 0.0
	for _, c := range counts {
		mean += c / float64(len(counts))
	}
	for _, c := range counts {
		squares += (c - mean) * (c - mean) / float64(len(counts)-1)
	}
	return squares / mean
}

var processes = map[string]struct {
	arrivals Arrivals
	bursty   float64 // variance of a count over its mean; on-off: 1 + 2·500²·(1/9·1)/(1/9+1)³/50
}{
	"constant":       {Arrivals{Kind: arrivalsConstant, Rate: 50}, 1},
	"poisson":        {Arrivals{Kind: arrivalsPoisson, Rate: 50}, 1},
	"on-off":         {Arrivals{Kind: arrivalsOnOff, Rate: 50}, 811},
	"diurnal":        {Arrivals{Kind: arrivalsDiurnal, Rate: 50, Period: 5 * time.Minute, Swing: 1}, 1},
	"part of a day":  {Arrivals{Kind: arrivalsDiurnal, Rate: 50, Period: 3 * time.Hour}, 1},
	"ramp":           {Arrivals{Kind: arrivalsRamp, Rate: 10, To: 100}, 1},
	"falling ramp":   {Arrivals{Kind: arrivalsRamp, Rate: 100, To: 0, After: 5 * time.Minute, Over: 5 * time.Minute}, 1},
	"step and back":  {Arrivals{Kind: arrivalsStep, Rate: 10, To: 200, After: 6 * time.Minute, Over: time.Minute}, 1},
	"step to an end": {Arrivals{Kind: arrivalsStep, Rate: 50, To: 0, After: 6 * time.Minute}, 1},
}

// Each third of the time has as many arrivals as Expected tells, within five
// standard deviations.
func TestArrivalsFollowTheirRate(t *testing.T) {
	const until, seed = 15 * time.Minute, 1
	for name, p := range processes {
		t.Run(name, func(t *testing.T) {
			all := times(t, p.arrivals, seed, until)
			a := p.arrivals
			require.NoError(t, a.complete("", until))
			for i := range 3 {
				begin, end := until/3*time.Duration(i), until/3*time.Duration(i+1)
				n := 0.0
				for _, at := range all {
					if begin <= at && at < end {
						n++
					}
				}
				want := a.Expected(end) - a.Expected(begin)
				require.InDelta(t, want, n, 5*math.Sqrt(p.bursty*want)+1, "third %d, seed %d", i, seed)
			}
		})
	}
}

// The gaps of a Poisson process are exponential, checked at deciles
// (Kolmogorov and Smirnov's bound for one seed in a million).
func TestPoissonGaps(t *testing.T) {
	const rate, seed = 100, 2
	all := times(t, Arrivals{Rate: rate}, seed, 10*time.Minute)
	for decile := 1; decile < 10; decile++ {
		p := float64(decile) / 10
		limit := time.Duration(-math.Log(1-p) / rate * float64(time.Second))
		below := 0.0
		for i := 1; i < len(all); i++ {
			if all[i]-all[i-1] <= limit {
				below++
			}
		}
		require.InDelta(t, p, below/float64(len(all)-1), 2.7/math.Sqrt(float64(len(all))), "seed %d", seed)
	}
}

func TestBurstiness(t *testing.T) {
	const until, window, seed = time.Hour, time.Second, 3
	of := func(a Arrivals) float64 { return dispersion(times(t, a, seed, until), window, until) }
	require.InDelta(t, 0, of(Arrivals{Kind: arrivalsConstant, Rate: 20}), 1e-9)
	require.InDelta(t, 1, of(Arrivals{Rate: 20}), 5*math.Sqrt(2.0/3600), "a Poisson process has 1")
	require.Greater(t, of(Arrivals{Kind: arrivalsOnOff, Rate: 20}), 20.0, "bursts of ten times the rate")
	require.InDelta(t, 1, of(Arrivals{Kind: arrivalsDiurnal, Rate: 20, Period: time.Hour, Swing: 0.01}), 0.2)
}

func TestPeakIsReachedAndNotExceeded(t *testing.T) {
	for name, p := range processes {
		t.Run(name, func(t *testing.T) {
			a := p.arrivals
			require.NoError(t, a.complete("", 30*time.Minute))
			if a.Kind == arrivalsConstant {
				require.Equal(t, a.Rate, a.Peak())
				return
			}
			highest, next, at := 0.0, a.pieces(newRandom(1, 0)), 0.0
			for at < 3*3600 {
				p := next()
				if p.length > 0 {
					highest = max(highest, p.from, p.to)
				}
				at += p.length
			}
			require.InEpsilon(t, a.Peak(), highest, 1e-9)
		})
	}
}

// A new process at every event would be as slow as the log of its time; this
// one is also exact far from the start.
func TestArrivalsLateInTheDay(t *testing.T) {
	a := Arrivals{Kind: arrivalsDiurnal, Rate: 0.5, Swing: 0.9}
	all := times(t, a, 4, 5*24*time.Hour)
	require.InDelta(t, 0.5*5*86400, float64(len(all)), 5*math.Sqrt(0.5*5*86400))
	night, day := 0, 0
	for _, at := range all {
		switch hour := at % (24 * time.Hour) / time.Hour; {
		case hour < 2 || hour >= 22:
			night++
		case 10 <= hour && hour < 14:
			day++
		}
	}
	require.InDelta(t, 1.87/0.13, float64(day)/float64(night), 2, fmt.Sprint(day, " by day and ", night, " by night"))
}
