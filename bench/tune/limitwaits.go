package tune

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/informerbench/informerbench/loadgen/sim"
)

// waitsForLimit are equally likely sums of what a reconcile's calls take, the waits for
// the client's limit included. How these hang together, and with the work, only a
// simulation tells; how long they were, the measurement: where it had more or less of
// them, calls waited more or less often.
func (f *fit) waitsForLimit(results []sim.Result) callTimes {
	var pairs []sim.Pair
	mean := 0.0
	for _, r := range results {
		pairs = append(pairs, r.Pairs...)
	}
	for _, p := range pairs {
		mean += p.Held.Seconds() / float64(len(pairs))
	}
	if mean == 0 {
		return f.latencies()
	}
	// A few workers' calls wait the less the longer these work between them.
	slices.SortFunc(pairs, func(a, b sim.Pair) int { return cmp.Compare(a.Service, b.Service) })
	n, parts := 64, 1
	if math.Abs(correlated(pairs)) > 0.1 {
		n, parts = 32, 8
	}
	var all callTimes
	sum := 0.0
	for k := range parts {
		part := pairs[k*len(pairs)/parts : (k+1)*len(pairs)/parts]
		s := stretch{part[0].Service.Seconds(), math.Inf(1), often(part, n, f.Calls*f.Throttle/mean)}
		if k == 0 {
			s.from = 0
		} else {
			all[k-1].to = s.from
		}
		for _, wait := range s.calls {
			sum += wait / float64(n*parts)
		}
		all = append(all, s)
	}
	if sum == 0 {
		all[0].calls[n-1], sum = 1, 1/float64(n*parts)
	}
	latencies := slices.Sorted(slices.Values(f.sums()))
	latencies = resampled(latencies, n)
	without := 0 // calls, of which those that wait longest have some
	for without < n-1 && latencies[without] == 0 {
		without++
	}
	latencies = latencies[without:]
	for _, s := range all {
		for i := range s.calls {
			// Both are sorted, and independent.
			s.calls[i] *= f.Calls * f.Throttle / sum
			if i >= without || len(latencies) == 1 {
				s.calls[i] += latencies[(i-without)*7%len(latencies)]
			}
		}
	}
	return all
}

// often gives n equally likely waits, in seconds, the shortest first, if calls wait so many
// times as often as in the pairs.
func often(pairs []sim.Pair, n int, times float64) []float64 {
	var held []float64
	for _, p := range pairs {
		if p.Held > 0 {
			held = append(held, p.Held.Seconds())
		}
	}
	slices.Sort(held)
	waits := make([]float64, n)
	share := min(1, times*float64(len(held))/float64(len(pairs)))
	for i := range waits {
		if above := 1 - (float64(i)+0.5)/float64(n); above < share {
			waits[i] = held[int((1-above/share)*float64(len(held)))]
		}
	}
	return waits
}

// resampled are n of a sorted list's quantiles.
func resampled(list []float64, n int) []float64 {
	to := make([]float64, n)
	for i := range to {
		to[i] = list[(2*i+1)*len(list)/(2*n)]
	}
	return to
}

// correlated is the correlation of what reconciles work and wait.
func correlated(pairs []sim.Pair) float64 {
	var service, held []float64
	for _, p := range pairs {
		service, held = append(service, p.Service.Seconds()), append(held, p.Held.Seconds())
	}
	return together(service, held)
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
		f.service = fitService(f.work, f.Model, f.waitsForLimit(x.results), true)
		f.setService(f.service.shape, 1)
	}
	return f.service.plausible, nil
}
