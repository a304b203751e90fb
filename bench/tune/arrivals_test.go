package tune

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Of explanations that all miss, the one that comes near stays, and not the one
// that lets nearly everything happen now and then.
func TestWhatExplainsFarWorseIsDropped(t *testing.T) {
	f := &fit{Model: &Model{wait: scrape.Histogram{Bounds: []float64{1}, Counts: []float64{50, 50}, Sum: 100}}}
	at := func(keys int) candidate { return candidate{keys: keys} }
	tried := []outcome{{score: 100, mean: 1}, {score: 7, mean: 1.1}, {score: 11, mean: 0.9}, {score: 5, mean: 3}}
	left, outcomes := f.near([]candidate{at(1), at(2), at(3), at(4)}, tried)
	assert.Equal(t, []candidate{at(2), at(3)}, left)
	assert.Len(t, outcomes, 2)
}

// Of sweeps that are rare beside the arrivals of a trial, a longer one holds ten, as
// far as five times as many arrivals can be paid for; predictions hold twenty.
func TestRareSweepsAreSimulatedForLonger(t *testing.T) {
	s := system{rate: 10, service: exponentially(0.01), mean: 0.01, workers: 2}
	d := s.run(*seed, 600).delta(t)
	f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{Seed: *seed}, false)
	f.Interval, f.ArrivalRate, f.Spec.Resources[0].Events.Arrivals.Rate = 86_400, 10, 10
	const second = time.Second
	for _, c := range []struct{ period, trial, prediction time.Duration }{
		{5 * second, 100 * second, 100 * second},
		{20 * second, 200 * second, 400 * second},
		{1000 * second, 500 * second, 500 * second},
	} {
		f.flow = flow{share: 0.1, size: 0.1 * c.period.Seconds() * f.ArrivalRate}
		x, err := trial{f, *seed, 1_000}.run(t.Context())
		require.NoError(t, err)
		assert.InDelta(t, c.trial, x.length, 1, "every %v", c.period)
		assert.InDelta(t, c.prediction, f.config(f.current.Settings, effort{events: 1_000}).Until, 1, "every %v", c.period)
	}
}

// A resync adds each key once, and no two of them are coalesced.
func TestASweepHoldsEachKeyOnce(t *testing.T) {
	r := &loadgen.Resource{Count: 30, Events: loadgen.Events{Arrivals: loadgen.Arrivals{Rate: 10}}}
	next := flow{share: 1, size: 30}.arrivals(r)(*seed)
	for range 3 {
		seen := map[uint32]bool{}
		first, _ := next.Next()
		seen[first.Key] = true
		for range 29 {
			d, _ := next.Next()
			assert.Equal(t, first.At, d.At)
			seen[d.Key] = true
		}
		assert.Len(t, seen, 30)
	}
}

// That all of so many objects come again every five minutes is found, whether their
// number is told or not.
func TestResyncOfToldKeys(t *testing.T) {
	numbers(t)
	slow(t)
	s := system{name: "resync of 600", rate: 7, sweep: [2]float64{300, 600}, service: exponentially(0.04), mean: 0.04, workers: 5, keys: 600}
	d := s.run(*seed, 1800).delta(t)
	f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{Keys: s.keys, Seed: *seed}, false)
	_, err := f.fitBursts(t.Context(), *seed, func(string) {})
	require.NoError(t, err)
	assert.InEpsilon(t, 600, f.flow.size, 0.1)
	s.workers *= 2
	z := f.current.Settings
	z.Workers = s.workers
	x, err := f.predict(t.Context(), z, finest, *seed)
	require.NoError(t, err)
	assert.InEpsilon(t, s.truth(t, 0), x.Wait.P99.Mean, 0.1)
}
