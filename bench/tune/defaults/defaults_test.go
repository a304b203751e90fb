package defaults

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/assert"
)

// kube-controller-manager is recognised by what it alone has: other programs have queues of
// its libraries, and of the names of workloads.
func TestFlavour(t *testing.T) {
	libraries := strings.Join(slices.Sorted(maps.Keys(libraryQueues)), " ")
	for _, c := range []struct {
		why, queues, prefix string
		want                Flavour
	}{
		{"libraries alone", libraries, "", ClientGo},
		{"kube-controller-manager", libraries + " root_ca_cert_publisher disruption namespace csrcleaner", "", ControllerManager},
		{"a part of its metrics", "disruption replicaset deployment job", "", ControllerManager},
		{"its names with a prefix", "garbage_collector_attempt_to_delete replicaset deployment", "x_", ClientGo},
		{"OpenKruise", "statefulset daemonset cronjob deployment", "", ClientGo},
		{"Volcano", "job queue podgroup replicaset deployment", "", ClientGo},
		{"an operator", "deployment job namespace myapp", "", ClientGo},
		{"karpenter", "disruption nodeclaim.lifecycle nodepool.hash", "", ClientGo},
		{"a provisioner of storage", "claims volumes", "", ClientGo},
	} {
		d := &scrape.Delta{Counts: scrape.Counts{Queues: map[string]scrape.Queue{}}}
		for _, name := range strings.Fields(c.queues) {
			d.Queues[name] = scrape.Queue{Name: name, Prefix: c.prefix}
		}
		assert.Equal(t, c.want, FlavourOf(d), c.why)
	}
	for _, name := range ownQueues {
		assert.Contains(t, syncFlags, name)
	}
}
