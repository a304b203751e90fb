package tune

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inTurn are gaps of arrivals at random at two rates, each for exponential times of
// that mean. Of one run at a time.
func inTurn(high, low, length float64) func(*rand.Rand) float64 {
	rate, left := low, 0.0
	return func(r *rand.Rand) float64 {
		gap := 0.0
		for {
			next := r.ExpFloat64() / rate
			if next < left {
				left -= next
				return gap + next
			}
			gap += left
			if left, rate = length*r.ExpFloat64(), high+low-rate; left == 0 {
				left = length
			}
		}
	}
}

// A load that is higher at some times than at others is not one of few keys, for which
// no number of workers would help.
func TestTwoRatesInTurn(t *testing.T) {
	numbers(t)
	slow(t)
	// What takes time is the fit, whose simulations are no longer than what was measured;
	// one that knows no two rates fails at either length.
	for length, measured := range map[float64]float64{10: 900, 60: 1800} {
		if *known == 1 && length > 10 {
			continue
		}
		s := system{name: "two rates", rate: 40, gap: inTurn(60, 20, length), service: exponentially(0.05), mean: 0.05, workers: 4}
		d := s.run(*seed, measured).delta(t)
		f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{Seed: *seed}, false)
		_, err := f.fitBursts(t.Context(), *seed, func(string) {})
		require.NoError(t, err)
		assert.NotContains(t, f.Bursts, "few keys")
		assert.True(t, f.lasting(Settings{Workers: 2}), "which the higher rate overloads")
		for _, workers := range []int{4, 5, 6} {
			z := f.current.Settings
			z.Workers = workers
			x, err := f.predict(t.Context(), z, finest, *seed)
			require.NoError(t, err)
			x, err = f.doubted(t.Context(), x, *seed)
			require.NoError(t, err)
			y := s
			y.workers = workers
			truth, p99 := percentile(y.run(*seed+100, 20_000).wait, 0.99), x.Wait.P99
			t.Logf("%v s, %d workers: p99 %.3g [%.3g, %.3g], true %.3g; %s", length, workers, p99.Mean, p99.Low, p99.High, truth, f.Bursts)
			assert.True(t, p99.Low < 1.05*truth && truth < 1.05*p99.High, "the interval holds the truth")
		}
	}
}

// Many at once now and then make keys wait as a rate does that for a while is more than the
// workers can do, of which a worker more is the end. Who reads of the first has to hear of
// the second.
func TestManyAtOnceMayBeAWhileOfOverload(t *testing.T) {
	numbers(t)
	s := system{rate: 30, gap: inTurn(48, 12, 200), service: exponentially(0.1), mean: 0.1, workers: 4}
	d := s.run(*seed, 3600).delta(t)
	for loose, times := range map[bool]int{true: 1, false: 0} {
		f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{Seed: *seed}, false)
		was := f.now()
		c := was
		c.flow = flow{size: 760, share: 0.6, loose: loose}
		f.samples = []candidate{c}
		f.take(c)
		f.describeBursts(was, f.ArrivalRate)
		assert.Contains(t, f.Bursts, "in bursts of 760 at once every ")
		assert.Equal(t, times, strings.Count(strings.Join(f.doubts, "; "), "somewhat more than 4 workers can do, for 19s or longer, makes as many keys wait"))
	}
}

// Waits under fewer workers than the higher rate keeps busy grow with how long it
// lasts, which nothing tells.
func TestOverloadForAPartOfTheTime(t *testing.T) {
	poisson := loadgen.Arrivals{Kind: "poisson", Rate: 40}
	m := &Model{Busy: 0.05, workers: 4, samples: []candidate{{arrivals: poisson, flow: flow{levels: levels{0.5, 0.5, 200}}}}}
	assert.True(t, m.lasting(Settings{Workers: 3}))
	assert.False(t, m.lasting(Settings{Workers: 4}))
	m.workers = 3
	assert.False(t, m.lasting(Settings{Workers: 2}), "the waits that were measured tell")
	high, low := m.samples[0].flow.levels.rates(40)
	assert.Equal(t, []float64{60, 20}, []float64{high, low})
}

// No more keys than workers take evidence: nobody told of them.
func TestKeysNoMoreThanWorkers(t *testing.T) {
	s := system{rate: 20, service: exponentially(0.05), mean: 0.05, workers: 4}
	d := s.run(*seed, 300).delta(t)
	few, counted := []candidate{{keys: 4}, {keys: 5}}, []outcome{{}, {}}
	f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{}, false)
	left, outcomes := f.moreThanWorkers(few, counted)
	assert.Equal(t, few[1:], left)
	assert.Len(t, outcomes, 1)
	f = newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{Keys: 100}, false)
	left, _ = f.moreThanWorkers(few, counted)
	assert.Equal(t, few, left)
	assert.NotContains(t, strings.Join(f.doubts, " "), "keys")
}
