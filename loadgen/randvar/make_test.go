package randvar

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Constructors make what their text form reads as.
func TestConstructors(t *testing.T) {
	must := func(d Dist, err error) Dist {
		require.NoError(t, err)
		return d
	}
	for text, d := range map[string]Dist{
		"5ms":                    Constant(0.005),
		"exp(10ms)":              Exponential(0.01),
		"lognormal(5ms, 80ms)":   must(Lognormal(0.005, 0.08)),
		"pareto(1ms, 1.5)":       must(Pareto(0.001, 1.5)),
		"gamma(10ms, 0.5)":       must(Gamma(0.01, 0.5)),
		"quantiles(0=1ms, 1=2s)": must(Quantiles([]float64{0, 1}, []float64{0.001, 2})),
		"quantiles(0=1, 1=2)":    must(Quantiles([]float64{0, 1}, []float64{1, 2})).Numbers(),
	} {
		read, err := Parse(text)
		require.NoError(t, err)
		assert.Equal(t, read, d, text)
		assert.Equal(t, text, d.String())
	}
	for want, err := range map[string]error{
		"a coefficient of variation from 0.01": second(Gamma(1, 0)),
		"a tail index above 1":                 second(Pareto(1, 1)),
		"expected 0 to 1e+08":                  second(Lognormal(math.NaN(), 1)),
		"a median above 0":                     second(Lognormal(2, 1)),
		"out of order":                         second(Quantiles([]float64{0, 1}, []float64{2, 1})),
		"don't span all shares":                second(Quantiles([]float64{0, 0.5}, []float64{1, 2})),
	} {
		assert.ErrorContains(t, err, want)
	}
}

func second(_ Dist, err error) error { return err }
