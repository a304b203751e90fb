package reports

import (
	"math"
	"strconv"

	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

// An axis is logarithmic, from 2^From to 2^To times the baseline. All rankings
// share one, so that a bar twice as far from 1× means the same everywhere.
type axis struct {
	From, To int
	Ticks    []tick
}

type tick struct {
	At    float64 // per cent of the width
	Label string
}

// A span is a stretch of the axis in per cent of its width.
type span struct{ From, Width float64 }

// Beyond these an axis would flatten everything else; marks stop at the edge.
const minExponent, maxExponent = -4, 6

func newAxis(stats verdict.Stats) axis {
	from, to := -1, 1
	for _, c := range stats.Components {
		for _, x := range c.Cases {
			for _, r := range x.Rows {
				if r.Comparison == nil || !estimated(*r.Comparison) {
					continue
				}
				low, high := r.Comparison.Ratio, r.Comparison.Ratio
				if usable(*r.Comparison) { // too few rounds have no interval
					low, high = r.Comparison.Low, r.Comparison.High
				}
				from = min(from, int(math.Floor(math.Log2(low))))
				to = max(to, int(math.Ceil(math.Log2(high))))
			}
		}
	}
	a := axis{From: max(from, minExponent), To: min(to, maxExponent)}
	step := (a.To - a.From + 3) / 4 // five labels at most: more would touch
	for e := a.From; e <= a.To; e++ {
		if e%step == 0 {
			a.Ticks = append(a.Ticks, tick{a.at(math.Exp2(float64(e))), label(e)})
		}
	}
	return a
}

// label is short: a ratio's usual three digits say nothing on a power of two.
func label(exponent int) string {
	return strconv.FormatFloat(math.Exp2(float64(exponent)), 'g', 3, 64) + "×"
}

// at is where the ratio r stands, in per cent of the width.
func (a axis) at(r float64) float64 {
	if !finite(r) || r <= 0 {
		return a.at(1)
	}
	x := (math.Log2(r) - float64(a.From)) / float64(a.To-a.From)
	return math.Round(1e4*min(max(x, 0), 1)) / 100
}

func (a axis) span(low, high float64) span {
	from := a.at(low)
	return span{from, math.Round(100*(a.at(high)-from)) / 100}
}

// One is where the baseline stands.
func (a axis) One() float64 { return a.at(1) }
