package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/informerbench/informerbench/bench/tune"
	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/search"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/reports"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWrittenTuneFollowsItsSchema(t *testing.T) {
	spec, err := loadgen.ParseSpec("w.yaml", []byte(`
name: small
seed: 1
duration: 30s
resources:
- {name: a, kind: custom, count: 100, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: poisson, rate: 40}}}
reconcile: {workers: 3, service: exp(50ms), calls: 1, callLatency: 1ms, qps: 60, burst: 90, failure: 0.05}
`))
	require.NoError(t, err)
	objective, err := search.ParseObjective("p99 queue wait < 1s")
	require.NoError(t, err)
	r, err := tune.Workload(t.Context(), spec, nil, tune.Options{Seed: 1, Objectives: []search.Objective{objective}, WhatIf: []advice.Alternative{
		{Text: "workers=4", Change: func(s *predict.Settings) { s.Workers = 4 }}, {Text: "split=true", Change: func(s *predict.Settings) { s.Split = true }},
	}})
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, reports.WriteTune(dir, *r))
	b, err := os.ReadFile(filepath.Join(dir, "tune.json"))
	require.NoError(t, err)
	assert.Empty(t, check(t, "tune", b), "describe new fields in tune.schema.json")

	assert.Equal(t, "there is one resource", r.Queues[0].WhatIf[1].Refused)

	assert.NotContains(t, string(b), "serviceCV", "its distributions say it")

	// What a measurement adds, and what refused advice and unstable settings leave out.
	r.Queues[0].Model.ServiceCV = 1.5
	r.Queues[0].Reproduction = &advice.Reproduction{Wait: []advice.Bucket{{}}}
	r.Queues[0].WhatIf[0].Figures = &predict.Figures{Load: 1.5}
	r.Queues[0].Curves[0].Points[0] = search.CurvePoint{Value: "1"}
	r.Queues = append(r.Queues, advice.Advice{Queue: "b", Refused: "why", Record: "what"})
	b, err = json.Marshal(r)
	require.NoError(t, err)
	assert.Empty(t, check(t, "tune", b))
}
