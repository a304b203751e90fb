package tune

import (
	"testing"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What can't be set, or makes no difference, is said.
func TestWhatMakesNoDifference(t *testing.T) {
	spec, err := loadgen.ParseSpec("w.yaml", []byte(`
name: calm
seed: 1
duration: 1m
resources: [{name: a, kind: custom, count: 500, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: poisson, rate: 40}}}]
reconcile: {workers: 3, service: exp(50ms)}
`))
	require.NoError(t, err)
	r, err := Workload(t.Context(), spec, nil, Options{Objectives: objectives(t, "p99 queue wait < 20ms"), Seed: 1})
	require.NoError(t, err)
	why := map[string]string{}
	for _, c := range r.Queues[0].Changes {
		why[c.Setting] = c.Why
	}
	assert.Contains(t, why["batch"], "not a setting of client-go's informers")
	assert.Regexp(t, `^(39|4.)\S* adds a second take 0.000\d+% of a processor: no measurable difference below \d{5}, from where on heap4 saves 1%$`, why["queue"])
	assert.Equal(t, "there are no resyncs", why["resync"])
	assert.Equal(t, "there is one resource", why["split"])
}
