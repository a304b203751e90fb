package search

import (
	"testing"

	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseObjective(t *testing.T) {
	for text, want := range map[string]Objective{
		"p99 queue wait < 1s":      {Figure: "wait", P: 0.99, Bound: 1, Strict: true},
		"P99.9  Queue Wait<=250ms": {Figure: "wait", P: 0.999, Bound: 0.25},
		"mean settle < 2s":         {Figure: "settle", P: -1, Bound: 2, Strict: true},
		"median of the work ≤ 1m":  {Figure: "work", P: 0.5, Bound: 60},
		"api qps <= 50":            {Figure: "api qps", P: -1, Bound: 50},
		"api qps <= 50/s":          {Figure: "api qps", P: -1, Bound: 50},
		"max workers 32":           {Figure: "workers", P: -1, Bound: 32},
		"workers < 8":              {Figure: "workers", P: -1, Bound: 8, Strict: true},
		"utilisation < 80%":        {Figure: "utilisation", P: -1, Bound: 0.8, Strict: true},
		"maximum utilization 0.8":  {Figure: "utilisation", P: -1, Bound: 0.8},
		"depth <= 100":             {Figure: "depth", P: -1, Bound: 100},
	} {
		o, err := ParseObjective(text)
		require.NoError(t, err, text)
		o.Text = ""
		assert.InDelta(t, want.Bound, o.Bound, 1e-12, text)
		o.Bound = want.Bound
		assert.InDelta(t, want.P, o.P, 1e-12, text)
		o.P = want.P
		assert.Equal(t, want, o, text)
	}
	for text, want := range map[string]string{
		"":                      "found no bound",
		"fast":                  "found no bound",
		"p99 queue wait > 1s":   "found no upper bound",
		"p99 queue wait < soon": `found the bound "soon", expected a duration`,
		"p99 queue wait < -1s":  `found the bound "-1s"`,
		"p99 queue wait < 5":    `found the bound "5", expected a duration`,
		"queue wait < 1s":       "found no quantile of queue wait",
		"p100 queue wait < 1s":  "found p100, expected a percentile above 0 and below 100",
		"p99 workers < 3":       "found a quantile of workers",
		"max workers 2.5":       "expected a whole number",
		"max workers 0":         "expected a number above 0",
		"api qps <= NaN":        "expected a number above 0",
		"utilisation < 120%":    "expected a share up to 100%",
		"cost < 3":              `found "cost", expected a figure`,
	} {
		_, err := ParseObjective(text)
		assert.ErrorContains(t, err, want, text)
	}
}

// Where no calls are known, a bound on them is kept whatever the limit is.
func TestUnknownCallsKeepTheirBound(t *testing.T) {
	f := predict.Figures{Settings: predict.Settings{QPS: 40, Burst: 80}}
	assert.True(t, objectives(t, "api qps <= 20")[0].met(f))
	f.CallRate.Mean = 10
	assert.False(t, objectives(t, "api qps <= 20")[0].met(f), "what the limit allows is what the API server has to bear")
}
