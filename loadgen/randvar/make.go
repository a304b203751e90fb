package randvar

import "fmt"

// longest is more seconds than anything lasts; beyond it a text would be refused too.
const longest = 1e8

// Constant is always that many seconds.
func Constant(x float64) Dist { return Dist{kind: constant, unit: seconds, a: min(max(x, 0), longest)} }

// Exponential has that mean, in seconds.
func Exponential(mean float64) Dist {
	return Dist{kind: exponential, unit: seconds, a: min(max(mean, 0), longest)}
}

// Lognormal has that median and 99th percentile, in seconds.
func Lognormal(median, p99 float64) (Dist, error) {
	return made(Dist{kind: lognormal, unit: seconds, a: median, b: p99})
}

// Pareto has that minimum, in seconds, and tail index.
func Pareto(least, tail float64) (Dist, error) {
	return made(Dist{kind: pareto, unit: seconds, a: least, b: tail})
}

// Gamma has that mean, in seconds, and coefficient of variation.
func Gamma(mean, cv float64) (Dist, error) {
	return made(Dist{kind: gamma, unit: seconds, a: mean, b: cv})
}

// Quantiles goes straight from point to point of its quantile function: from a probability
// of 0 to one of 1, of seconds.
func Quantiles(at, values []float64) (Dist, error) {
	d := Dist{kind: quantiles, unit: seconds}
	for i, p := range at {
		if i > 0 && !(p > at[i-1] && values[i] >= values[i-1]) {
			return Dist{}, fmt.Errorf("found %v=%v out of order, expected rising shares and values as in %s", p, values[i], forms[quantiles].example)
		}
		d.points = append(d.points, point{p, min(max(values[i], 0), longest)})
	}
	if n := len(at); n < 2 || at[0] != 0 || at[n-1] != 1 {
		return Dist{}, fmt.Errorf("found quantiles that don't span all shares, expected them from 0 to 1 as in %s", forms[quantiles].example)
	}
	return d, nil
}

// Numbers are plain numbers instead of seconds.
func (d Dist) Numbers() Dist {
	d.unit = plain
	return d
}

func made(d Dist) (Dist, error) {
	if !(d.a >= 0 && d.a <= longest) {
		return Dist{}, fmt.Errorf("found %v seconds, expected 0 to %v", d.a, longest)
	}
	if err := d.check(); err != nil {
		return Dist{}, err
	}
	return d, nil
}
