package validate

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheoryIsRightWhereClosedFormsAre(t *testing.T) {
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"one server is busy as often as it is utilised", erlangC(1, 0.8), 0.8},
		{"Erlang C of two servers is 2ρ²/(1+ρ)", erlangC(2, 1.6), 2 * 0.64 / 1.8},
		{"M/M/1 waits ρ/(1-ρ)", waitMMC(1, 0.8), 4},
		{"M/G/1 of an exponential service is M/M/1", waitMG1(0.8, 1), 4},
		{"M/D/1 waits half as long as M/M/1", waitMDC(1, 0.8), 2},
		{"M/D/1 near saturation", waitMDC(1, 0.95), 9.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.InEpsilon(t, 1+tt.want, 1+tt.got, 1e-9)
		})
	}
}

// M/D/c has no closed form; the stationary distribution of the number in the
// system, a service time apart, is another way to the same mean.
func TestMDCAgreesWithItsMarkovChain(t *testing.T) {
	for _, c := range []int{2, 5, 20} {
		for _, utilisation := range []float64{0.5, 0.8, 0.95} {
			t.Run(fmt.Sprintf("c=%d/utilisation=%v", c, utilisation), func(t *testing.T) {
				a := float64(c) * utilisation
				assert.InEpsilon(t, markovMDC(c, a), waitMDC(c, a), 1e-5)
			})
		}
	}
}

// markovMDC: what is in the
// system a service time from now is what waits now, less up to c that get a
// server, and a Poisson number that comes meanwhile (Crommelin 1932): the
// stationary distribution of that chain gives the mean number and, by Little's
// law, the mean wait.
func markovMDC(c int, a float64) float64 {
	arrivals := poisson(a)
	// The tail falls geometrically, by about exp(-2(1-utilisation)/c) a state.
	states := c + len(arrivals) + int(20*float64(c)/(1-a/float64(c)))
	now, then := make([]float64, states), make([]float64, states)
	now[0] = 1
	for change := 1.0; change > 1e-13; {
		clear(then)
		for i, p := range now {
			if p < 1e-18 {
				continue
			}
			rest := max(0, i-c)
			for n, q := range arrivals {
				then[min(rest+n, states-1)] += p * q
			}
		}
		change = 0
		for i := range then {
			change += math.Abs(then[i] - now[i])
		}
		now, then = then, now
	}
	number := 0.0
	for i, p := range now {
		number += float64(i) * p
	}
	return (number - a) / a
}

// poisson lists the probabilities of 0, 1, 2, … as far as they matter.
func poisson(mean float64) []float64 {
	p := math.Exp(-mean)
	list := []float64{p}
	for n := 1; float64(n) < mean || p > 1e-17; n++ {
		p *= mean / float64(n)
		list = append(list, p)
	}
	return list
}
