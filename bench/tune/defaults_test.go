package tune

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What nobody said and no program has as a default is asked for, not made up.
func TestUnknownWorkers(t *testing.T) {
	x := system{rate: 16, service: exponentially(0.05), mean: 0.05, workers: 1}.run(*seed, 300)
	queue := x.delta(t).Queues["q"]
	tuned := func(kind defaults.Flavour, name string, given predict.Current) (predict.Current, string, string) {
		q := queue
		q.Name = name
		c := kind.Current(given, q)
		why, say := refuse(kind, &scrape.Delta{Interval: 5 * time.Minute}, q, c)
		return c, why, say
	}
	for _, c := range []struct {
		kind    defaults.Flavour
		queue   string
		workers int
	}{
		{defaults.ControllerManager, "disruption", 1}, {defaults.ControllerManager, "volume_expand", 10}, {defaults.ControllerManager, "noexec_taint_pod", 8},
		{defaults.ControllerManager, "node_lifecycle_controller_pods", 4}, {defaults.ControllerManager, "cidrallocator_node", 30},
		{defaults.ControllerManager, "resource-version-controller", 1}, {defaults.ControllerManager, "leasecandidate", 1}, {defaults.ClientGo, "leasecandidate", 0},
		// Of these it depends on the flags.
		{defaults.ControllerManager, "certificate", 0}, {defaults.ControllerManager, "DynamicConfigMapCABundle-client-ca", 0},
		{defaults.ControllerManager, "of_tomorrow", 0}, {defaults.ClientGo, "disruption", 0}, {defaults.ControllerRuntime, "mine", 1},
	} {
		current, why, _ := tuned(c.kind, c.queue, predict.Current{})
		assert.Equal(t, c.workers, current.Workers, c.queue)
		assert.Equal(t, c.workers == 0, why != "", c.queue)
		_, known := current.Told["workers"]
		assert.Equal(t, c.workers > 0, known, c.queue)
	}
	_, why, say := tuned(defaults.ClientGo, "mine", predict.Current{})
	assert.Equal(t, "neither its metrics nor a default say how many workers it has", why)
	assert.Contains(t, say, "with --queue mine and the number of goroutines that call its Get as --workers (0.")
	given := predict.Current{Settings: predict.Settings{Workers: 7}, Told: map[string]string{"workers": "given"}}
	current, why, _ := tuned(defaults.ClientGo, "mine", given)
	assert.Equal(t, 7, current.Workers)
	assert.Empty(t, why)
}

// A single worker of kube-controller-manager that is 80 % busy needs few more.
func TestOneWorker(t *testing.T) {
	numbers(t)
	x := system{rate: 40, service: exponentially(0.02), mean: 0.02, workers: 1}.run(*seed, 600)
	d := x.delta(t)
	q := d.Queues["q"]
	q.Name = "disruption"
	d.Queues = map[string]scrape.Queue{"disruption": q, "replicaset": {Name: "replicaset"}, "deployment": {Name: "deployment"}, "job": {Name: "job"}}
	r, err := Metrics(t.Context(), d, Options{Seed: *seed})
	require.NoError(t, err)
	a := r.Queues[0]
	assert.Equal(t, 1, a.Current.Workers)
	assert.Equal(t, "default of kube-controller-manager", a.Current.Told["workers"])
	assert.Greater(t, a.Recommended.Workers, 1)
	assert.LessOrEqual(t, a.Recommended.Workers, 5)
}
