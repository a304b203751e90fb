package sim

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A queue beside another one on the same client waits for tokens as it does
// beside as many calls of others, which is longer than with what the other leaves
// of the limit.
func TestBackgroundStandsForAnotherQueue(t *testing.T) {
	run := func(resources, queues, reconcile string, background float64) Result {
		spec, err := loadgen.ParseSpec("w.yaml", []byte("name: two\nseed: 1\nduration: 1h\nresources:\n"+resources+"reconcile: "+reconcile))
		require.NoError(t, err)
		c := Config{Spec: spec, Until: time.Hour, Warmup: time.Minute, Background: background}
		if queues != "" {
			c.Queues = []Queue{{Name: "a", Resources: []string{"a"}, Workers: 4}, {Name: "b", Workers: 6}}
		}
		r, err := Run(t.Context(), c)
		require.NoError(t, err)
		return r
	}
	resource := func(name, rate string) string {
		return "- {name: " + name + ", kind: custom, count: 20000, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: poisson, rate: " + rate + "}}}\n"
	}
	const client = "service: exp(20ms), calls: 2, callLatency: exp(5ms)"
	joint := run(resource("a", "10")+resource("b", "12"), "two", "{workers: 10, "+client+", qps: 50, burst: 10}", 0)
	beside := run(resource("a", "10"), "", "{workers: 4, "+client+", qps: 50, burst: 10}", 24)
	left := run(resource("a", "10"), "", "{workers: 4, "+client+", qps: 26, burst: 10}", 0)
	work := joint.Queues[0].Work.Mean().Seconds()
	assert.InEpsilon(t, work, beside.Work.Mean().Seconds(), 0.1)
	assert.InEpsilon(t, joint.Throttle.Mean().Seconds(), beside.Throttle.Mean().Seconds(), 0.1)
	assert.InEpsilon(t, 20, beside.CallRate, 0.05, "the others' calls don't count")
	assert.Less(t, left.Work.Mean().Seconds(), 0.7*work)
}
