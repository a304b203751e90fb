package tune

import (
	"math"
	"math/rand/v2"
)

func exponentially(mean float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return mean * r.ExpFloat64() }
}

func lognormally(mean, cv float64) func(*rand.Rand) float64 {
	sigma := math.Sqrt(math.Log1p(cv * cv))
	return func(r *rand.Rand) float64 { return mean * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2) }
}

// bimodally are few long reconciles among short ones.
func bimodally(short, long, share float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < share {
			return long
		}
		return short
	}
}

func uniformly(low, high float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return low + (high-low)*r.Float64() }
}

// stepwise is a sum of exponential steps.
func stepwise(mean float64, steps int) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		sum := 0.0
		for range steps {
			sum += mean / float64(steps) * r.ExpFloat64()
		}
		return sum
	}
}

// mixed is of a with that share, else of b.
func mixed(share float64, a, b func(*rand.Rand) float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < share {
			return a(r)
		}
		return b(r)
	}
}

func always(mean float64) func(*rand.Rand) float64 {
	return func(*rand.Rand) float64 { return mean }
}

// paretically is Pareto's, with that exponent.
func paretically(mean, exponent float64) func(*rand.Rand) float64 {
	low := mean * (exponent - 1) / exponent
	return func(r *rand.Rand) float64 { return low * math.Pow(1-r.Float64(), -1/exponent) }
}

// bursting are exponential bursts and pauses of these means.
func bursting(on, off float64) func(*rand.Rand) [2]float64 {
	return func(r *rand.Rand) [2]float64 {
		if r == nil {
			return [2]float64{on, off}
		}
		return [2]float64{on * r.ExpFloat64(), off * r.ExpFloat64()}
	}
}

// regularly are bursts and pauses of these lengths.
func regularly(on, off float64) func(*rand.Rand) [2]float64 {
	return func(*rand.Rand) [2]float64 { return [2]float64{on, off} }
}
