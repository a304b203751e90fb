package randvar

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func parse(t testing.TB, text string) Dist {
	t.Helper()
	d, err := Parse(text)
	require.NoError(t, err)
	return d
}

var texts = []string{
	"5ms", "0", "0.25", "constant(90s)", "uniform(1ms, 3ms)", "exp(10ms)", "lognormal(5ms, 80ms)", "lognormal(4Ki, 9Ki)",
	"pareto(1ms, 2.5)", "gamma(10ms, 0.5)", "gamma(10ms, 2)", "gamma(3, 1)",
	"quantiles(0=1ms, 0.5=5ms, 0.99=80ms, 1=1s)", "quantiles(0=0, 1=1.5Mi)",
}

// Samples follow the law that the text names: their distribution function is
// nowhere further from it than chance allows (Kolmogorov and Smirnov; one seed
// in a million would fail), and their mean is the one that Mean tells.
func TestSamplesFollowTheLaw(t *testing.T) {
	const n, seed = 20_000, 1
	for _, text := range texts {
		t.Run(text, func(t *testing.T) {
			d, r := parse(t, text), rand.New(rand.NewPCG(seed, seed))
			samples, sum, squares := make([]float64, n), 0.0, 0.0
			for i := range samples {
				samples[i] = d.Sample(r)
				sum += samples[i]
				squares += samples[i] * samples[i]
			}
			mean := sum / n
			deviation := math.Sqrt(max(0, squares/n-mean*mean))
			require.InDelta(t, d.Mean(), mean, 6*deviation/math.Sqrt(n)+1e-12, "seed %d", seed)
			slices.Sort(samples)
			if samples[0] == samples[n-1] {
				require.Equal(t, d.Quantile(0.5), samples[0])
				return // a constant has no shares to compare
			}
			limit := 2.7 / math.Sqrt(n)
			for _, p := range []float64{0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999} {
				below, _ := slices.BinarySearch(samples, d.Quantile(p))
				require.InDelta(t, p, float64(below)/n, limit, "share below quantile %v, seed %d", p, seed)
			}
		})
	}
}

// The parameters mean what the package says, checked against closed forms.
func TestMeaning(t *testing.T) {
	require.InEpsilon(t, 0.005, parse(t, "lognormal(5ms, 80ms)").Quantile(0.5), 1e-9)
	require.InEpsilon(t, 0.08, parse(t, "lognormal(5ms, 80ms)").Quantile(0.99), 1e-9)
	require.InEpsilon(t, 0.01, parse(t, "exp(10ms)").Mean(), 1e-12)
	require.InEpsilon(t, 0.01*math.Ln2, parse(t, "exp(10ms)").Quantile(0.5), 1e-9)
	require.InEpsilon(t, 3*math.Ln2, parse(t, "gamma(3, 1)").Quantile(0.5), 1e-9, "a gamma of variation 1 is exponential")
	require.InEpsilon(t, 0.002, parse(t, "pareto(1ms, 2)").Mean(), 1e-12)
	require.InEpsilon(t, 3.672060748850897, parse(t, "gamma(4, 0.5)").Quantile(0.5), 1e-9, "of shape 4 and scale 1")
	require.Equal(t, 80.0*1024, parse(t, "80Ki").Mean())
	require.InEpsilon(t, 0.005+0.25/0.49*0.075, parse(t, "quantiles(0=1ms, 0.5=5ms, 0.99=80ms, 1=1s)").Quantile(0.75), 1e-9)
	d := Dist{}
	require.True(t, d.IsZero())
	require.Zero(t, d.Mean())
	require.False(t, parse(t, "0").IsZero(), "always 0 is given")
}

func TestBelowInvertsQuantile(t *testing.T) {
	for _, text := range texts {
		d := parse(t, text)
		low, high := d.Quantile(0), d.Quantile(1)
		require.Zero(t, d.Below(low-1e-9), text)
		require.Equal(t, 1.0, d.Below(high), text)
		for p := 0.005; p < 1 && low < high; p += 0.01 {
			require.InDelta(t, p, d.Below(d.Quantile(p)), 1e-9, text)
		}
	}
	for _, text := range []string{"exp(0)", "uniform(0, 0)", "lognormal(1, 1)", "quantiles(0=1, 1=1)"} {
		d := parse(t, text)
		require.Zero(t, d.Below(d.Quantile(0.5)-1e-9), text)
		require.Equal(t, 1.0, d.Below(d.Quantile(0.5)), text)
	}
}

func TestTextRoundTrip(t *testing.T) {
	for _, text := range texts {
		d := parse(t, text)
		require.Equal(t, d, parse(t, d.String()), "%s became %s", text, d)
	}
	var d Dist
	require.NoError(t, d.UnmarshalText(nil))
	require.True(t, d.IsZero())
}

func TestParseErrors(t *testing.T) {
	const form = " as in "
	for text, want := range map[string]string{
		"":                         "found nothing, expected a value such as 5ms or a distribution such as lognormal(5ms, 80ms)",
		"fast":                     `found "fast", expected a duration such as 5ms, a size such as 8Ki or a number, from 0 to 1e15`,
		"-5ms":                     `found "-5ms", expected a duration such as 5ms, a size such as 8Ki or a number, from 0 to 1e15`,
		"NaN":                      `found "NaN", expected a duration such as 5ms, a size such as 8Ki or a number, from 0 to 1e15`,
		"norm(1, 2)":               `unknown distribution "norm", expected constant, uniform, exp, lognormal, pareto, gamma or quantiles`,
		"exp(1ms":                  `found "exp(1ms" without a closing parenthesis, expected a form such as exp(10ms)`,
		"exp(1ms, 2ms)":            "found 2 parameters of exp, expected 1" + form + "exp(10ms)",
		"uniform(3ms, 1ms)":        "found uniform(3ms, 1ms), expected the larger bound second" + form + "uniform(1ms, 3ms)",
		"uniform(3ms, 8Ki)":        `found "8Ki" beside a value of another unit, expected durations, sizes or numbers alone`,
		"uniform(1, 3ms)":          `found "3ms" beside a value of another unit, expected durations, sizes or numbers alone`,
		"lognormal(80ms, 5ms)":     "found lognormal(80ms, 5ms), expected a median above 0 and a 99th percentile from it to a billion times it" + form + "lognormal(5ms, 80ms)",
		"pareto(1ms, 1)":           "found pareto(1ms, 1), expected a minimum above 0 and a tail index above 1 and up to 1000" + form + "pareto(1ms, 1.5)",
		"pareto(1ms, 2ms)":         `found "2ms", expected a plain number` + form + "pareto(1ms, 1.5)",
		"gamma(1ms, 0)":            "found gamma(1ms, 0), expected a coefficient of variation from 0.01 to 100" + form + "gamma(10ms, 0.5)",
		"quantiles(0=1ms, 0.5)":    `found "0.5", expected a share from 0 to 1, = and a value` + form + "quantiles(0=1ms, 0.5=5ms, 1=1s)",
		"quantiles(0=1ms, 0.5=2s)": "found quantiles that don't span all shares, expected them from 0 to 1" + form + "quantiles(0=1ms, 0.5=5ms, 1=1s)",
		"quantiles(0=2s, 1=1s)":    `found "1=1s" out of order, expected rising shares and values` + form + "quantiles(0=1ms, 0.5=5ms, 1=1s)",
	} {
		_, err := Parse(text)
		require.EqualError(t, err, want, text)
	}
}

// FuzzParse: any text is a distribution that can be used and written again, or
// an error of one line.
func FuzzParse(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		sample := d.Sample(rand.New(rand.NewPCG(1, 2)))
		require.True(t, sample >= 0 && !math.IsNaN(sample), "sampled %v", sample)
		require.True(t, d.Mean() >= 0 && !math.IsInf(d.Mean(), 1), "mean %v", d.Mean())
		require.False(t, math.IsNaN(d.Quantile(0.5)))
		again, err := Parse(d.String())
		require.NoError(t, err, "written as %s", d)
		require.Equal(t, d.String(), again.String())
	})
}

func BenchmarkSample(b *testing.B) {
	for _, text := range texts {
		b.Run("dist="+text, func(b *testing.B) {
			d, r := parse(b, text), rand.New(rand.NewPCG(1, 1))
			sum := 0.0
			for b.Loop() {
				sum += d.Sample(r)
			}
			require.GreaterOrEqual(b, sum, 0.0)
		})
	}
}
