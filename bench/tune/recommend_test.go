package tune

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/search"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var judged = flag.Int("judged", 1, "how many seeds recommendations are judged with against every setting of a grid; 1: some systems only")

// A wish is a known system and what is wanted of it.
type wish struct {
	system
	objectives []string
	bound      float64 // of the objective on the 99th percentile of the wait, in seconds
	maxQPS     float64 // of the objectives; 0: the client has no limit
	short      bool    // judged in the short form, too
}

func wishes() []wish {
	below := func(text string, more ...string) []string {
		return append([]string{"p99 queue wait < " + text}, more...)
	}
	return []wish{
		{system{name: "light", rate: 4, service: exponentially(0.05), mean: 0.05, workers: 5}, below("20ms"), 0.02, 0, false},
		{system{name: "M/M/c", rate: 85, service: exponentially(0.05), mean: 0.05, workers: 12}, below("50ms"), 0.05, 0, true},
		{system{name: "heavy", rate: 150, service: exponentially(0.05), mean: 0.05, workers: 9}, below("30ms"), 0.03, 0, false},
		{system{name: "heavy tail", rate: 60, service: lognormally(0.03, 3), mean: 0.03, workers: 3}, below("100ms"), 0.1, 0, false},
		{system{name: "constant", rate: 60, service: always(0.05), mean: 0.05, workers: 4}, below("20ms"), 0.02, 0, false},
		{system{name: "retries", rate: 15, service: exponentially(0.08), mean: 0.08, workers: 3, failure: 0.2}, below("50ms"), 0.05, 0, false},
		{system{name: "duplicates", rate: 60, service: exponentially(0.03), mean: 0.03, workers: 2, keys: 200}, below("20ms"), 0.02, 0, false},
		{system{name: "client QPS", rate: 8, service: exponentially(0.02), mean: 0.02, workers: 5, calls: 2, latency: 0.01, qps: 20, tokens: 10}, below("100ms", "api qps <= 40"), 0.1, 40, true},
		{system{name: "client QPS, tight", rate: 8, service: exponentially(0.02), mean: 0.02, workers: 5, calls: 2, latency: 0.01, qps: 18, tokens: 10}, below("10ms", "api qps <= 50"), 0.01, 50, false},
		{system{name: "client QPS, too low", rate: 20, service: lognormally(0.01, 1), mean: 0.01, workers: 4, calls: 1, latency: 0.02, qps: 22, tokens: 5}, below("250ms", "api qps <= 60", "max workers 20"), 0.25, 60, false},
		{system{name: "API latency", rate: 12, service: exponentially(0.005), mean: 0.005, workers: 6, calls: 5, latency: 0.06, qps: 90, tokens: 90}, below("100ms", "api qps <= 150"), 0.1, 150, false},
		{system{name: "bursts", rate: 20, service: exponentially(0.05), mean: 0.05, workers: 4, burst: bursting(2, 8)}, below("1s"), 1, 0, false},
	}
}

// grids are the cheapest settings by the name of the wish, which the seeds of the
// measurement share.
var grids sync.Map

// cheapest is the least cost in a grid of settings that keep the bound on the
// true system, which is simulated for each of them from the cheapest up.
func (w wish) cheapest(t *testing.T) (system, float64) {
	once, _ := grids.LoadOrStore(w.name, sync.OnceValues(func() (system, float64) { return w.exhaust(t) }))
	return once.(func() (system, float64))()
}

func (w wish) exhaust(t *testing.T) (system, float64) {
	var grid []system
	add := func(workers int, qps float64, tokens int) {
		y := w.system
		y.workers, y.qps, y.tokens = workers, qps, tokens
		grid = append(grid, y)
	}
	need := w.rate * float64(w.calls)
	for workers := 1; workers <= 40; workers++ {
		if w.qps == 0 {
			add(workers, 0, 0)
			continue
		}
		for qps := math.Floor(need) + 1; qps <= w.maxQPS; qps += max(1, math.Round(need/20)) {
			for _, times := range []float64{1, 1.5, 2} {
				add(workers, qps, int(math.Ceil(times*qps)))
			}
		}
	}
	slices.SortStableFunc(grid, func(a, b system) int { return cmp.Compare(a.cost(), b.cost()) })
	for _, y := range grid {
		if float64(y.workers) <= w.rate*(w.mean+float64(w.calls)*w.latency)*0.8 {
			continue // overloaded
		}
		if percentile(y.run(10_000, 4*(*length)).wait, 0.99) < 3*w.bound && y.truth(t, w.bound) < w.bound {
			return y, y.cost()
		}
	}
	return w.system, math.Inf(1)
}

// recommended searches with a model that was fitted to the system's metrics.
func (w wish) recommended(t *testing.T, f *fit, seed uint64) predict.Settings {
	o := Options{Objectives: objectives(t, w.objectives...), Seed: seed}
	s := search.New(f.Model, o.search(f.Current, defaults.ClientGo, f.undivided, func(string) {}))
	x, err := s.Best(t.Context())
	require.NoError(t, err)
	x, _, err = s.Firm(t.Context(), x)
	require.NoError(t, err)
	return x
}

// judge is how many times the recommended settings cost what the cheapest in a grid do, and
// the true 99th percentile of their waits.
func (w wish) judge(t *testing.T, x predict.Settings) (dearer, truth float64) {
	best, cost := w.cheapest(t)
	y := w.system
	y.workers, y.qps, y.tokens = x.Workers, x.QPS, x.Burst
	dearer, truth = y.cost()/cost, y.truth(t, 1.1*w.bound)
	t.Logf("%s: recommended %d workers, QPS %.4g, burst %d: cost %.4g, true p99 %.3g of %.3g; best %d, %.4g, %d: %.4g (%.2f×)",
		w.name, y.workers, y.qps, y.tokens, y.cost(), truth, w.bound, best.workers, best.qps, best.tokens, cost, dearer)
	return dearer, truth
}

func (s system) cost() float64 { return predict.Settings{Workers: s.workers, QPS: s.qps}.Cost() }

// What is recommended from a system's metrics costs at most a tenth more than
// the best of all settings, and keeps the objective to a tenth, both on the true
// system.
func TestRecommendationsAgainstAGrid(t *testing.T) {
	numbers(t)
	for _, w := range wishes() {
		if *judged == 1 && !w.short {
			continue
		}
		for n := range *judged {
			seed := *seed + uint64(n)
			t.Run(fmt.Sprintf("%s/seed=%d", w.name, seed), func(t *testing.T) {
				t.Parallel()
				d := w.run(seed, *length).delta(t)
				f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(w.given(), d.Queues["q"]), Options{Keys: w.keys, Seed: seed, Queues: predict.MeasuredQueues}, false)
				require.NoError(t, f.explain(t.Context(), seed, func(string) {}))
				dearer, truth := w.judge(t, w.recommended(t, f, seed))
				assert.LessOrEqual(t, dearer, 1.1, "at most a tenth dearer than the best")
				assert.LessOrEqual(t, truth, 1.1*w.bound, "within a tenth of the objective")
			})
		}
	}
}
