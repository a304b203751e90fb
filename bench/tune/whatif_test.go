package tune

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func workersTo(n int) advice.Alternative {
	return advice.Alternative{Text: "workers", Change: func(s *predict.Settings) { s.Workers = n }}
}

// What is asked for comes out as the recommendation does, if it is the same.
func TestWhatIf(t *testing.T) {
	numbers(t)
	a := twelve(t)
	require.Len(t, a.WhatIf, 4)
	require.Equal(t, 8, a.Recommended.Workers)
	assert.Equal(t, a.Then.Wait.P99, a.WhatIf[0].Figures.Wait.P99)
	assert.False(t, a.WhatIf[1].Figures.Stable)
	assert.Contains(t, a.WhatIf[2].Refused, "resyncs")
	assert.Contains(t, a.WhatIf[3].Refused, "no API calls")
	for _, e := range advice.Effects(a) {
		unstable := "not predicted"
		switch e.Figure {
		case "queue wait, p50", "queue wait, p99", "settled, p99", "queue depth, mean":
			unstable = "unbounded"
		}
		assert.Equal(t, []string{e.Then, unstable, "not predicted", "not predicted"}, e.WhatIf, e.Figure)
	}
	for _, figure := range []string{"wait", "settle", "work", "depth", "utilisation", "callRate", "queueCores"} {
		assert.JSONEq(t, "null", inJSON(t, a.WhatIf[1].Figures, figure), figure)
		assert.NotEqual(t, "null", inJSON(t, a.WhatIf[0].Figures, figure), figure)
	}
	assert.JSONEq(t, `"workers"`, inJSON(t, a.WhatIf[1].Figures, "bottleneck"))
	for _, p := range a.Curves[0].Points {
		for _, figure := range []string{"waitP99", "settleP99", "utilisation", "callRate", "queueCores"} {
			assert.Equal(t, p.Stable, inJSON(t, p, figure) != "null", "%s of %s workers", figure, p.Value)
		}
	}
}

// inJSON is a field of a value as others read it.
func inJSON(t *testing.T, value any, field string) string {
	t.Helper()
	b, err := json.Marshal(value)
	require.NoError(t, err)
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(b, &fields))
	require.Contains(t, fields, field)
	return string(fields[field])
}

// A limit where there was none gets the usual burst, and every change is checked
// before anything is simulated.
func TestWhatIfIsChecked(t *testing.T) {
	limit := advice.Alternative{Text: "qps=7", Change: func(s *predict.Settings) { s.QPS = 7 }}
	assert.Equal(t, 11, limit.Of(predict.Settings{}).Burst)
	assert.Equal(t, 3, limit.Of(predict.Settings{Burst: 3}).Burst)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := system{rate: 85, service: exponentially(0.05), mean: 0.05, workers: 12}
	_, err := Metrics(ctx, s.run(*seed, 60).delta(t), Options{Current: s.given(), Seed: *seed, WhatIf: []advice.Alternative{workersTo(0)}})
	assert.EqualError(t, err, "what if workers: workers: found 0, expected 1 to 100000")
}

// Where there is no limit there is no burst beside it, whoever says so.
func TestNoLimitHasNoBurst(t *testing.T) {
	none := advice.Alternative{Text: "qps=0", Change: func(s *predict.Settings) { s.QPS = 0 }}
	assert.Equal(t, predict.Settings{Workers: 2}, none.Of(predict.Settings{Workers: 2, QPS: 20, Burst: 30}))
	s := system{rate: 30, service: exponentially(0.05), mean: 0.05, workers: 2}
	d := s.run(*seed, 60).delta(t)
	for _, told := range []map[string]string{
		{"workers": "given", "qps": "given"},
		{"workers": "given", "qps": "given", "burst": "given"},
	} {
		given := predict.Current{Settings: predict.Settings{Workers: 2, Burst: 30}, Told: told}
		f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(given, d.Queues["q"]), Options{}, false)
		assert.Zero(t, f.Current.Burst)
		f.Posterior = &infer.Posterior{Members: []infer.Member{{System: model.System{Rate: f.ArrivalRate, Service: model.NewWork(randvar.Exponential(f.Service))}}}}
		_, err := f.Predict(t.Context(), f.Current.Settings, predict.Rough, *seed)
		assert.NoError(t, err, told)
	}
}
