package tune

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What nobody said and no program has as a default is asked for, not made up.
func TestUnknownWorkers(t *testing.T) {
	x := system{rate: 16, service: exponentially(0.05), mean: 0.05, workers: 1}.run(*seed, 300)
	queue := x.delta(t).Queues["q"]
	tuned := func(kind flavour, name string, given Current) (Current, string, string) {
		q := queue
		q.Name = name
		c := kind.current(given, q)
		why, say := kind.unstaffed(q, c, 5*time.Minute)
		return c, why, say
	}
	for _, c := range []struct {
		kind    flavour
		queue   string
		workers int
	}{
		{controllerManager, "disruption", 1}, {controllerManager, "volume_expand", 10}, {controllerManager, "noexec_taint_pod", 8},
		{controllerManager, "node_lifecycle_controller_pods", 4}, {controllerManager, "cidrallocator_node", 30},
		{controllerManager, "resource-version-controller", 1}, {controllerManager, "leasecandidate", 1}, {clientGo, "leasecandidate", 0},
		// Of these it depends on the flags.
		{controllerManager, "certificate", 0}, {controllerManager, "DynamicConfigMapCABundle-client-ca", 0},
		{controllerManager, "of_tomorrow", 0}, {clientGo, "disruption", 0}, {controllerRuntime, "mine", 1},
	} {
		current, why, _ := tuned(c.kind, c.queue, Current{})
		assert.Equal(t, c.workers, current.Workers, c.queue)
		assert.Equal(t, c.workers == 0, why != "", c.queue)
		_, known := current.Told["workers"]
		assert.Equal(t, c.workers > 0, known, c.queue)
	}
	_, why, say := tuned(clientGo, "mine", Current{})
	assert.Equal(t, "neither its metrics nor a default say how many workers it has", why)
	assert.Contains(t, say, "with --queue mine and the number of goroutines that call its Get as --workers (0.")
	given := Current{Settings: Settings{Workers: 7}, Told: map[string]string{"workers": "given"}}
	current, why, _ := tuned(clientGo, "mine", given)
	assert.Equal(t, 7, current.Workers)
	assert.Empty(t, why)
}

// kube-controller-manager is recognised by what it alone has: other programs have queues of
// its libraries, and of the names of workloads.
func TestFlavour(t *testing.T) {
	libraries := strings.Join(slices.Sorted(maps.Keys(libraryQueues)), " ")
	for _, c := range []struct {
		why, queues, prefix string
		want                flavour
	}{
		{"libraries alone", libraries, "", clientGo},
		{"kube-controller-manager", libraries + " root_ca_cert_publisher disruption namespace csrcleaner", "", controllerManager},
		{"a part of its metrics", "disruption replicaset deployment job", "", controllerManager},
		{"its names with a prefix", "garbage_collector_attempt_to_delete replicaset deployment", "x_", clientGo},
		{"OpenKruise", "statefulset daemonset cronjob deployment", "", clientGo},
		{"Volcano", "job queue podgroup replicaset deployment", "", clientGo},
		{"an operator", "deployment job namespace myapp", "", clientGo},
		{"karpenter", "disruption nodeclaim.lifecycle nodepool.hash", "", clientGo},
		{"a provisioner of storage", "claims volumes", "", clientGo},
	} {
		d := &scrape.Delta{Counts: scrape.Counts{Queues: map[string]scrape.Queue{}}}
		for _, name := range strings.Fields(c.queues) {
			d.Queues[name] = scrape.Queue{Name: name, Prefix: c.prefix}
		}
		assert.Equal(t, c.want, flavourOf(d), c.why)
	}
	for _, name := range ownQueues {
		assert.Contains(t, syncFlags, name)
	}
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
