package tune

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen/sim"
)

// held are equally likely sums of what a reconcile's calls take, the waits for
// the client's limit included. How these hang together, only a simulation tells;
// how long they were, the measurement: where it had more or less of them, calls
// waited more or less often.
func (f *fit) held(results []sim.Result) []float64 {
	const n = 64
	var list []sim.Distribution
	for _, r := range results {
		list = append(list, r.Held)
	}
	all := sim.Pooled(list)
	measured := f.Calls * f.Throttle
	often := 1 - all.Below(0)[0]
	if all.Count() == 0 || often == 0 {
		return f.latencies()
	}
	share := min(1, often*measured/all.Mean().Seconds())
	waits, sum := make([]float64, n), 0.0
	for i := range waits {
		if above := 1 - (float64(i)+0.5)/n; above < share {
			waits[i] = all.Quantile(1 - above*often/share).Seconds()
			sum += waits[i]
		}
	}
	if sum == 0 {
		waits[n-1], sum = 1, 1
	}
	latencies := slices.Clone(f.latencies())
	slices.Sort(latencies)
	without := 0 // calls, of which those that wait longest have some
	for without < len(latencies)-1 && latencies[without] == 0 {
		without++
	}
	latencies = latencies[without:]
	for i := range waits {
		// Both are sorted, and independent.
		waits[i] *= measured * n / sum
		if i >= without || len(latencies) == 1 {
			waits[i] += latencies[(i-without)*7%len(latencies)]
		}
	}
	return waits
}

// unthrottled are the shapes of service that make the work durations likely when
// the waits for the client's limit are taken from them, as simulated with the
// best shape so far.
func (f *fit) unthrottled(ctx context.Context, t trial, progress func(string)) ([]likely, error) {
	for step := range 2 {
		progress("waits for the client's limit")
		if step == 0 {
			f.setService(shape{family: "gamma", cv: 1}, 1)
		}
		x, err := t.run(ctx)
		if err != nil {
			return nil, err
		}
		f.service = fitService(f.work, f.Model, f.held(x.results), true)
		f.setService(f.service.shape, 1)
	}
	return f.service.plausible, nil
}

// tabled is the distribution function of a shape's values from a table of its
// quantiles, for where it is asked for often.
func tabled(quantile func(float64) float64) func(float64) float64 {
	const n = 400
	at, points := make([]float64, n+1), make([]float64, n+1)
	for i := range at {
		// Close where little is left.
		at[i] = 1 / (1 + math.Exp(-28*(float64(i)/n-0.5)))
		points[i] = quantile(at[i])
	}
	return func(x float64) float64 {
		if x < points[0] {
			return 0
		}
		low, high := 0, n+1 // points[low] <= x < points[high]
		for high-low > 1 {
			if middle := (low + high) / 2; points[middle] <= x {
				low = middle
			} else {
				high = middle
			}
		}
		if high > n {
			return 1
		}
		return at[low] + (at[high]-at[low])*(x-points[low])/(points[high]-points[low])
	}
}

// gammas are the tables of gamma distributions of mean 1 by their coefficient of
// variation, one of those that are tried each time: most of a fit's time goes into these.
var gammas sync.Map

// likelihood is that of the shape with that mean.
func (s shape) likelihood(h scrape.Histogram, mean float64, calls []float64) float64 {
	if _, often := slices.BinarySearch(coefficients, s.cv); len(calls) < 2 || s.family != "gamma" || !often {
		return likelihood(h, s.of(mean), calls)
	}
	table, ok := gammas.Load(s.cv)
	if !ok {
		table, _ = gammas.LoadOrStore(s.cv, tabled(s.of(1).Quantile))
	}
	below := table.(func(float64) float64)
	return likelihoodOf(h, func(x float64) float64 { return below(x / mean) }, calls)
}
