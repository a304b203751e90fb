package tune

import (
	"context"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cut tunes a small workload until the progress says that.
func cut(t *testing.T, until string, texts ...string) *advice.Result {
	t.Helper()
	spec, err := loadgen.ParseSpec("w.yaml", []byte(`
name: small
seed: 1
duration: 20s
resources: [{name: a, kind: custom, count: 500, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: poisson, rate: 40}}}]
reconcile: {workers: 3, service: exp(50ms), failure: 0.05}
`))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if until == "" {
		cancel()
	}
	r, err := Workload(ctx, spec, nil, Options{Seed: 1, Objectives: objectives(t, texts...), Progress: func(p advice.Progress) {
		if strings.Contains(p.Doing, until) {
			cancel()
		}
	}})
	require.NoError(t, err)
	require.Equal(t, "interrupted", r.Stopped)
	return r
}

// A search that ends before it found settings that keep an objective says so, and
// calls out of reach only what is.
func TestCutOffNamesWhatIsNotReached(t *testing.T) {
	for name, c := range map[string]struct {
		until      string
		objectives []string
		unmet      []string
	}{
		"at once":              {"", []string{"p99 queue wait < 1ms", "max workers 8"}, []string{`^p99 queue wait < 1ms: not reached in the time given; nothing that carries the load was found yet$`}},
		"beyond a limit":       {"", []string{"max workers 2"}, []string{`^max workers 2: not reached`}},
		"before what is found": {": 0 settings tried", []string{"p99 queue wait < 1ms"}, []string{`^p99 queue wait < 1ms: not reached in the time given; the nearest found is \S+, with 3 workers$`}},
		"too few yet":          {": 1 settings tried", []string{"p99 queue wait < 1ms", "p99 settle < 200ms"}, []string{`^p99 settle < 200ms: not reached in the time given; the nearest found is 2\d\dms, with 64 workers$`}},
		"shorter than work":    {": 1 settings tried", []string{"p99 settle < 1us"}, []string{`^p99 settle < 1us: not reached in the time given; the nearest found is 2\d\dms, with 64 workers$`}},
		"of the mean":          {"", []string{"mean work < 30ms"}, []string{`^mean work < 30ms: not reached`}},
	} {
		t.Run(name, func(t *testing.T) {
			a := cut(t, c.until, c.objectives...).Queues[0]
			require.Len(t, a.Unmet, len(c.unmet))
			for i, want := range c.unmet {
				assert.Regexp(t, want, a.Unmet[i])
				assert.Contains(t, a.Summary, a.Unmet[i])
			}
			assert.Empty(t, a.Impossible)
			assert.Equal(t, 3, a.Recommended.Workers, "what was not found to be better is not recommended")
		})
	}
}

// What keeps the objectives and was found in time is recommended.
func TestCutOffKeepsWhatWasFound(t *testing.T) {
	a := cut(t, ": 1 settings tried", "p99 queue wait < 1ms", "p99 settle < 2s").Queues[0]
	assert.Empty(t, a.Unmet)
	assert.Empty(t, a.Impossible)
	assert.Greater(t, a.Recommended.Workers, 3)

	// A bound on workers alone doesn't make few of them better.
	a = cut(t, ": 1 settings tried", "max workers 16").Queues[0]
	assert.Empty(t, a.Unmet)
	assert.Equal(t, 3, a.Recommended.Workers)

	a = cut(t, "what if", "p99 settle < 10ms").Queues[0]
	assert.Empty(t, a.Unmet, "the search had found out what is possible")
	assert.Contains(t, a.Impossible[0], "the nearest possible within the limits is")
}
