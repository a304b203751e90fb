package model

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/informerbench/informerbench/loadgen/sim"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func usual(workers int) Controller {
	return Controller{Workers: workers, BaseDelay: 0.005, MaxDelay: 1000, BucketRate: 10, BucketBurst: 100}
}

// Both simulators find the same, as far as chance lets them.
func TestAgainstSim(t *testing.T) {
	for name, x := range map[string]struct {
		s    System
		c    Controller
		with func(*loadgen.Resource)
	}{
		"plain":   {s: System{Rate: 30, Service: NewWork(randvar.Exponential(0.05))}, c: usual(2)},
		"failing": {s: System{Rate: 15, Service: NewWork(randvar.Exponential(0.08)), Failure: 0.3}, c: usual(3)},
		"limited": {s: System{Rate: 8, Service: NewWork(randvar.Exponential(0.02)), Calls: []float64{0, 0, 1}, Latency: 0.01}, c: Controller{Workers: 5, QPS: 20, Burst: 10}},
		"shared":  {s: System{Rate: 8, Service: NewWork(randvar.Exponential(0.02)), Calls: []float64{0, 0, 1}, Latency: 0.01, Background: 10}, c: Controller{Workers: 5, QPS: 34, Burst: 4}},
		"keys":    {s: System{Rate: 60, Keys: 40, Service: NewWork(randvar.Exponential(0.04))}, c: usual(3)},
		"popular": {s: System{Rate: 60, Keys: 200, Popular: Zipf(200, 1.2), Service: NewWork(randvar.Exponential(0.04))}, c: usual(3), with: func(r *loadgen.Resource) { r.Skew = loadgen.Skew{Kind: "zipf", S: 1.2} }},
		"phases": {s: System{Rate: 20, Service: NewWork(randvar.Exponential(0.05)), Arrivals: Arrivals{Kind: Phases, Duty: 0.3, Depth: 1, Cycle: 4}}, c: usual(3),
			with: func(r *loadgen.Resource) {
				r.Events.Arrivals = loadgen.Arrivals{Kind: "onoff", Rate: 20, On: randvar.Exponential(1.2), Off: randvar.Exponential(2.8)}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const length = 60_000
			got, err := x.s.Run(t.Context(), x.c, Plan{Warmup: 200, Length: length, Seed: 1})
			require.NoError(t, err)

			r := loadgen.Resource{Name: "objects", Kind: "metadata", Count: 50_000, Events: loadgen.Events{Pattern: "mix", Mix: loadgen.Mix{Update: 1}, Arrivals: loadgen.Arrivals{Kind: "poisson", Rate: x.s.Rate}}}
			if x.s.Keys > 0 {
				r.Count = x.s.Keys
			}
			if x.with != nil {
				x.with(&r)
			}
			spec := &loadgen.Spec{Name: "same", Seed: 1, Duration: (length + 200) * time.Second, Resources: []loadgen.Resource{r}, Reconcile: loadgen.Reconcile{
				Workers: x.c.Workers, QPS: x.c.QPS, Burst: x.c.Burst, Service: x.s.Service.law, Failure: x.s.Failure,
			}}
			if calls := x.s.MeanCalls(); calls > 0 {
				spec.Reconcile.Calls, spec.Reconcile.CallLatency = randvar.Constant(calls).Numbers(), randvar.Exponential(x.s.Latency)
			}
			want, err := sim.Run(t.Context(), sim.Config{Spec: spec, Warmup: 200 * time.Second, Until: (length + 200) * time.Second, Background: x.s.Background})
			require.NoError(t, err)
			assert.InEpsilon(t, want.Adds, got.Adds, 0.03)
			assert.InEpsilon(t, want.QueueWait.Mean().Seconds(), got.Wait.Mean(), 0.12)
			p90 := want.QueueWait.Quantile(0.9).Seconds()
			assert.InDelta(t, p90, got.Wait.Quantile(0.9), 0.12*p90+0.002)
			assert.InEpsilon(t, want.QueueWait.Quantile(0.99).Seconds(), got.Wait.Quantile(0.99), 0.15)
			assert.InEpsilon(t, want.Work.Mean().Seconds(), got.Work.Mean(), 0.05)
			assert.InEpsilon(t, want.Settle.Quantile(0.99).Seconds(), got.Settle.Quantile(0.99), 0.15)
			assert.InEpsilon(t, want.Utilisation, got.Busy/length/float64(x.c.Workers), 0.04)
			assert.InEpsilon(t, want.Depth, got.Waiting/length, 0.12)
			if x.c.QPS > 0 {
				assert.InEpsilon(t, want.Throttle.Mean().Seconds(), got.Throttle.Mean(), 0.12)
			}
		})
	}
}

// A sketch's quantiles and shares are those of what it counted, to a hundredth.
func TestSketch(t *testing.T) {
	var s Sketch
	assert.Zero(t, s.Quantile(0.5))
	assert.Equal(t, []float64{0, 0}, s.Below([]float64{1, 2}))
	for i := range 10_000 {
		s.Add(float64(i) / 1000)
	}
	assert.Equal(t, 10_000, s.Count())
	assert.InEpsilon(t, 4.9995, s.Mean(), 1e-9)
	for _, p := range []float64{0.01, 0.5, 0.99, 0.999} {
		assert.InEpsilon(t, 10*p, s.Quantile(p), 0.01)
	}
	assert.InDeltaSlice(t, []float64{0.1, 0.5, 1}, s.Below([]float64{1, 5, 100}), 0.003)
	s.Add(1e12)
	assert.Greater(t, s.Quantile(1), 1e6)
}

// What is counted in steps has the mean and the dispersion of the arrivals that are simulated.
func TestCounts(t *testing.T) {
	for name, a := range map[string]Arrivals{
		"random":   {},
		"batches":  {Kind: Batches, Size: 12.5, Share: 0.6},
		"sweeps":   {Kind: Batches, Size: 80, Share: 0.6, Even: true},
		"phases":   {Kind: Phases, Duty: 0.2, Depth: 1, Cycle: 5},
		"levels":   {Kind: Phases, Duty: 0.2, Depth: 0.6, Cycle: 5},
		"regular":  {Kind: Phases, Duty: 0.3, Depth: 1, Cycle: 17, Even: true},
		"gaps":     {Kind: Gaps, CV: 2},
		"even":     {Kind: Gaps, CV: 0.3},
		"measured": {Kind: Measured, Rates: []float64{0.5, 1.5}, Spans: []float64{10, 10}, Size: 3},
	} {
		t.Run(name, func(t *testing.T) {
			const n, span, rate = 4000, 10, 20
			spans := make([]float64, n)
			simulated := make([]float64, n)
			for i := range spans {
				spans[i] = span
			}
			s := a.stream(rate, random(1))
			for {
				at, k, _ := s.next()
				if at >= n*span {
					break
				}
				simulated[int(at/span)] += float64(k)
			}
			counted := a.Counts(rate, spans, random(2))
			mean, variance := moments(simulated)
			assert.InEpsilon(t, rate*span, mean, 0.05)
			again, other := moments(counted)
			assert.InEpsilon(t, rate*span, again, 0.05)
			assert.InEpsilon(t, math.Sqrt(variance), math.Sqrt(other), 0.1, fmt.Sprint(variance, other))
		})
	}
}

// Keys that are worked off in order need no agenda: both ways to simulate them count the same.
func TestInOrderAsByAgenda(t *testing.T) {
	for name, s := range map[string]System{
		"plain":  {Rate: 60, Service: NewWork(randvar.Exponential(0.05))},
		"phases": {Rate: 40, Service: NewWork(randvar.Exponential(0.05)), Arrivals: Arrivals{Kind: Phases, Duty: 0.3, Depth: 1, Cycle: 4}},
		"calls":  {Rate: 60, Service: NewWork(randvar.Exponential(0.02)), Arrivals: Arrivals{Kind: Batches, Size: 7, Share: 0.5}, Calls: []float64{0.5, 0, 0.5}, Latency: 0.02},
	} {
		t.Run(name, func(t *testing.T) {
			p := Plan{Warmup: 20, Length: 900, Steps: []float64{200, 0.5, 400}, Seed: 1}
			got, err := s.Run(t.Context(), usual(5), p)
			require.NoError(t, err)
			p.Held = 1 // which changes nothing but who simulates
			want, err := s.Run(t.Context(), usual(5), p)
			require.NoError(t, err)
			assert.Equal(t, [5]int{want.Arrivals, want.Adds, want.Done, want.Calls, want.Wait.Count()}, [5]int{got.Arrivals, got.Adds, got.Done, got.Calls, got.Wait.Count()})
			assert.InEpsilon(t, want.Busy, got.Busy, 1e-9)
			assert.InEpsilon(t, want.Waiting, got.Waiting, 1e-9)
			for i, sketches := range [][2]Sketch{{want.Wait, got.Wait}, {want.Work, got.Work}, {want.Settle, got.Settle}} {
				assert.InEpsilon(t, sketches[0].Mean(), sketches[1].Mean(), 1e-9, i)
				assert.InEpsilon(t, sketches[0].Quantile(0.99), sketches[1].Quantile(0.99), 1e-3, i)
			}
			for i, step := range want.Steps {
				assert.Equal(t, step.Adds, got.Steps[i].Adds, i)
				assert.Equal(t, step.Taken, got.Steps[i].Taken, i)
				assert.InDelta(t, step.Waited, got.Steps[i].Waited, 1e-5, i)
			}
		})
	}
}

func BenchmarkRun(b *testing.B) {
	for name, s := range map[string]System{
		"plain": {Rate: 30, Service: NewWork(randvar.Exponential(0.05))},
		"keys":  {Rate: 30, Keys: 200, Service: NewWork(randvar.Exponential(0.05))},
		"calls": {Rate: 30, Service: NewWork(randvar.Exponential(0.03)), Calls: []float64{0, 0, 1}, Latency: 0.01},
	} {
		c := usual(2)
		if s.Calls != nil {
			c.QPS, c.Burst = 70, 10
		}
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				if _, err := s.Run(b.Context(), c, Plan{Length: 1000, Seed: uint64(i)}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/30_000, "ns/arrival")
		})
	}
}

// Tables draw as the law does, far out as well.
func TestWork(t *testing.T) {
	heavy, err := randvar.Lognormal(0.05, 3)
	require.NoError(t, err)
	two, err := randvar.Quantiles([]float64{0, 0.9, 0.9 + 1e-9, 1}, []float64{0.01, 0.01, 1, 1})
	require.NoError(t, err)
	for name, law := range map[string]randvar.Dist{"heavy": heavy, "two": two, "exponential": randvar.Exponential(2)} {
		w := NewWork(law).Times(3)
		var s Sketch
		r := random(1)
		for range 400_000 {
			s.Add(w.sample(r))
		}
		assert.InEpsilon(t, 3*law.Mean(), w.Mean(), 1e-9)
		assert.InEpsilon(t, 3*law.Mean(), s.Mean(), 0.03, name)
		for _, p := range []float64{0.1, 0.5, 0.95, 0.99, 0.9995} {
			assert.InEpsilon(t, 3*law.Quantile(p), s.Quantile(p), 0.06, "%s %v", name, p)
		}
	}
}

// Of a few workers no more calls wait for the limit at a time than there are workers, and calls
// that come one after another wait for longer.
func TestCallsOfOthers(t *testing.T) {
	s := System{Rate: 10, Service: NewWork(randvar.Exponential(0.05)), Calls: []float64{0, 1}, Latency: 0.005, Background: 30, Row: 3, Others: 6}
	run := func() *Result {
		r, err := s.Run(t.Context(), Controller{Workers: 3, QPS: 44, Burst: 10}, Plan{Warmup: 100, Length: 3000, Seed: 1})
		require.NoError(t, err)
		return r
	}
	few := run()
	assert.Less(t, few.Throttle.Quantile(0.9999), 9./44*1.05)
	s.Others = 0
	assert.Greater(t, run().Throttle.Quantile(0.9999), 9./44*1.3)
	s.Row, s.Others = 1, 6
	assert.Less(t, run().Throttle.Mean(), 0.7*few.Throttle.Mean())
}
