package advice

import (
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/assert"
)

type description struct {
	*predict.Model
	unidentified, doubts []string
}

// described is a model that found these members, with the words about them.
func described(odd float64, overloaded bool, members ...infer.Member) *description {
	f := &description{Model: &predict.Model{ArrivalRate: 20, Measured: &infer.Measured{Overloaded: overloaded}}}
	f.Posterior = &infer.Posterior{Odd: odd, Families: map[string]float64{}}
	for _, m := range members {
		m.System.Rate, m.System.Service = 20, model.NewWork(randvar.Exponential(0.05))
		f.Posterior.Members = append(f.Posterior.Members, m)
		f.Posterior.Families[m.Family] += 1 / float64(len(members))
	}
	f.unidentified, f.doubts = Describe(f.Model)
	return f
}

// A form of arrivals is in the words that people use for it, and only bursts leave open how
// long they are.
func TestWordsForArrivals(t *testing.T) {
	for _, c := range []struct {
		a          model.Arrivals
		words      string
		dispersion float64
	}{
		{model.Arrivals{}, "at random (Poisson), which explains the waits", 1},
		{model.Arrivals{Kind: model.Batches, Size: 30, Share: 0.6}, "in bursts of 30 at once every 2.5s on average, 60% of all, and else at random", 18.4},
		{model.Arrivals{Kind: model.Batches, Size: 300, Share: 0.25, Even: true}, "in bursts of 300 at once every 1m0s, 25% of all, and else at random", 75.75},
		{model.Arrivals{Kind: model.Phases, Duty: 0.2, Depth: 1, Cycle: 10}, "in bursts of 2s every 10s on average, with 100 arrivals a second in them", 257},
		{model.Arrivals{Kind: model.Phases, Duty: 0.25, Depth: 1, Cycle: 8, Even: true}, "in bursts of 2s every 8s, with 80 arrivals a second in them", 181},
		{model.Arrivals{Kind: model.Phases, Duty: 0.5, Depth: 0.5, Cycle: 10}, "in turn at 30 a second for 50% of the time and else at 10", 26},
		{model.Arrivals{Kind: model.Gaps, CV: 2}, "in bursts of a few, the gaps between arrivals with a coefficient of variation of 2", 4},
		{model.Arrivals{Kind: model.Gaps, CV: 0.5}, "more evenly spaced than at random (the gaps' coefficient of variation is 0.5)", 0.25},
		{model.Arrivals{Kind: model.Gaps, CV: 0.01}, "evenly spaced", 0.0001},
		{model.Arrivals{Kind: model.Measured, Rates: []float64{0.5, 1.5}, Spans: []float64{9, 9}, Size: 3}, "at rates that vary as measured, from 10 to 30 a second, with 3 at once", 3},
		{model.Arrivals{Kind: model.Measured, Rates: []float64{0.5, 1.5}, Spans: []float64{9, 9}, Size: 1}, "at rates that vary as measured, from 10 to 30 a second, with arrivals at random in between", 1},
	} {
		f := described(0.5, false, infer.Member{System: model.System{Arrivals: c.a}, Family: "any"})
		assert.Equal(t, c.words, f.Bursts)
		assert.InDelta(t, c.dispersion, f.Dispersion, 1e-9, c.words)
		assert.Equal(t, c.a.Size >= 2, workOff(f.Model, predict.Settings{Workers: 3}) != "", c.words)
		assert.Empty(t, f.doubts)
		open := strings.Join(f.unidentified, "; ")
		if c.dispersion > 1 {
			assert.Contains(t, open, "how long bursts are from how dense they are: keys "+c.words+" explains what was measured")
			assert.Contains(t, open, "a series of scrapes")
		} else {
			assert.Empty(t, open)
		}
	}
}

// The words are of the middle of what is most probable, and name the ends of the rest.
func TestWordsAreOfTheMostProbable(t *testing.T) {
	batches := func(size float64) infer.Member {
		return infer.Member{System: model.System{Arrivals: model.Arrivals{Kind: model.Batches, Size: size, Share: 1}}, Family: "batches at random"}
	}
	bursts := infer.Member{System: model.System{Arrivals: model.Arrivals{Kind: model.Phases, Duty: 0.2, Depth: 1, Cycle: 10}}, Family: "bursts and pauses"}
	f := described(0.5, false, batches(30), bursts, batches(10), batches(20), bursts)
	assert.Equal(t, "in bursts of 20 at once every 1s on average, 100% of all, and else at random", f.Bursts)
	assert.Equal(t, 20.0, f.Likely().System.Arrivals.Size)
	assert.Contains(t, strings.Join(f.unidentified, "; "), "anything from keys in bursts of 10 at once every 500ms on average, 100% of all, and else at random to keys in bursts of 2s every 10s on average")
	f.Measured.Steps = make([]scrape.Step, minSteps)
	open, _ := Describe(f.Model)
	assert.NotContains(t, strings.Join(open, "; "), "a series of scrapes", "there is one")
}

// Few keys are a guess from the waits, which --keys would make none.
func TestWordsForKeys(t *testing.T) {
	keys := func(n int) infer.Member {
		return infer.Member{System: model.System{Keys: n}, Family: "few keys"}
	}
	f := described(0.5, false, keys(50), keys(40), keys(70), infer.Member{Family: "arrivals at random"})
	assert.Equal(t, "at random (Poisson) on few keys, about 50, which wait while they are worked on", f.Bursts)
	assert.True(t, f.GuessedKeys())
	assert.Contains(t, strings.Join(f.doubts, "; "), "many keys would not wait like this; 40 to 70 that often change")
	assert.Contains(t, strings.Join(f.doubts, "; "), "--keys says how many there are")

	f = described(0.5, false, infer.Member{System: model.System{Keys: 100, Popular: model.Zipf(100, 1)}, Family: "popular keys"})
	assert.Contains(t, f.Bursts, "on keys of which some change more often than others")
	assert.False(t, f.GuessedKeys())
	assert.Contains(t, strings.Join(f.doubts, "; "), "100 keys that change as often as each other would not wait like this")
}

// What nothing explains is said, and of an overloaded queue nothing is expected.
func TestWordsForWhatIsOdd(t *testing.T) {
	random := infer.Member{Family: "arrivals at random"}
	f := described(0.019, false, random)
	assert.Equal(t, []string{"no load that was tried explains all that was measured: one in 53 measurements of the likeliest would be as far from what is expected"}, f.doubts)
	f = described(0, false, random)
	assert.Contains(t, f.doubts[0], "one in 1000 measurements")
	assert.Empty(t, described(unexplained, false, random).doubts)
	f = described(0, true, random)
	assert.Empty(t, f.doubts)
	assert.Contains(t, f.Bursts, "an overloaded queue's waits don't tell")
	assert.Contains(t, strings.Join(f.unidentified, "; "), "bursts: the queue was overloaded")
}
