package memory

import (
	"math"
	"slices"
)

// student90 is the two-sided 90% quantile of Student's distribution, by degrees of
// freedom from 1 on.
var student90 = []float64{6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83, 1.81}

func quantile(freedom int) float64 {
	if freedom <= len(student90) {
		return student90[freedom-1]
	}
	return 1.75
}

// FigureOf is the mean of repeats, and the interval that another one falls into nine times
// in ten.
func FigureOf(values []float64) Figure {
	values = slices.DeleteFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) // of systems that do not say
	n := float64(len(values))
	if n == 0 {
		return Figure{}
	}
	mean := 0.0
	for _, v := range values {
		mean += v / n
	}
	if n == 1 {
		return Figure{mean, mean, mean}
	}
	sum := 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	half := quantile(len(values)-1) * math.Sqrt(sum/(n-1)*(1+1/n))
	return Figure{mean, mean - half, mean + half}
}

// A line is a least-squares fit.
type line struct {
	slope, intercept float64
	n, mean, spread  float64 // of the points' x
	deviation        float64 // of the points from the line
}

func fit(x, y []float64) line {
	l := line{n: float64(len(x))}
	meanY := 0.0
	for i := range x {
		l.mean += x[i] / l.n
		meanY += y[i] / l.n
	}
	product := 0.0
	for i := range x {
		l.spread += (x[i] - l.mean) * (x[i] - l.mean)
		product += (x[i] - l.mean) * (y[i] - meanY)
	}
	if l.spread == 0 {
		l.intercept = meanY
		return l
	}
	l.slope = product / l.spread
	l.intercept = meanY - l.slope*l.mean
	sum := 0.0
	for i := range x {
		off := y[i] - l.intercept - l.slope*x[i]
		sum += off * off
	}
	if len(x) > 2 {
		l.deviation = math.Sqrt(sum / (l.n - 2))
	}
	return l
}

// at is what another run with x is expected to read.
func (l line) at(x float64) Figure {
	v := l.intercept + l.slope*x
	if l.n <= 2 || l.spread == 0 {
		return Figure{v, v, v}
	}
	half := quantile(int(l.n)-2) * l.deviation * math.Sqrt(1+1/l.n+(x-l.mean)*(x-l.mean)/l.spread)
	return Figure{v, v - half, v + half}
}

// slopeFigure is the slope with its 90% interval.
func (l line) slopeFigure() Figure {
	if l.n <= 2 || l.spread == 0 {
		return Figure{l.slope, l.slope, l.slope}
	}
	half := quantile(int(l.n)-2) * l.deviation / math.Sqrt(l.spread)
	return Figure{l.slope, l.slope - half, l.slope + half}
}
