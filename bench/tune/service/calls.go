package service

import (
	"math"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen/randvar"
)

// none is no latency.
var none = []float64{0}

// Latencies are equally likely sums of a reconcile's calls' latencies, which are
// taken to be exponential: of so many calls with these probabilities, of that mean each.
func Latencies(calls []float64, latency float64) []float64 {
	const n = 64 // with 16 of them, what is above a Pareto shape's knee comes out 2% too rare
	mean := 0.0
	for k, p := range calls {
		mean += float64(k) * p
	}
	if mean*latency == 0 {
		return []float64{0}
	}
	list := make([]float64, n)
	sum := 0.0
	for i := range list {
		u, k := (float64(i)+0.5)/n, len(calls)-1
		for k > 0 && u >= calls[k] {
			u -= calls[k]
			k--
		}
		if k > 0 {
			d, _ := randvar.Gamma(float64(k), max(0.01, 1/math.Sqrt(float64(k)))) // has every such member
			list[i] = d.Quantile(u / calls[k])
		}
		sum += list[i]
	}
	for i := range list {
		list[i] *= mean * latency * n / sum
	}
	return list
}

// likelihood is the logarithm of the probability of the buckets' counts.
func likelihood(h scrape.Histogram, below func(float64) float64, calls []float64) float64 {
	sum := 0.0
	for i, share := range shares(h, below, calls) {
		if n := h.Counts[i]; n > 0 {
			sum += n * math.Log(max(share, unlucky))
		}
	}
	return sum
}

// shares is what of a service time lies in each bucket, with calls beside it that take now one and
// now another of these.
func shares(h scrape.Histogram, below func(float64) float64, calls []float64) []float64 {
	list := make([]float64, len(h.Counts))
	list[len(list)-1] = 1
	for i, bound := range h.Bounds {
		for _, latency := range calls {
			if bound > latency {
				list[i] += below(bound-latency) / float64(len(calls))
			}
		}
	}
	for i := len(list) - 1; i > 0; i-- {
		list[i] -= list[i-1] // what is up to the bound before
	}
	return list
}

// distance is half the sum of the differences between shares.
func distance(h scrape.Histogram, d randvar.Dist, calls []float64) float64 {
	sum := 0.0
	for i, share := range shares(h, d.Below, calls) {
		sum += math.Abs(h.Counts[i]/h.Count() - share)
	}
	return sum / 2
}
