// Package defaults says which settings a controller has that nobody told. Its steps, in order:
//
//  1. [FlavourOf] recognises what a controller is built on, its [Flavour], by its metrics:
//     kube-controller-manager by queues that it alone has, controller-runtime by families
//     of its own; anything else is client-go's.
//  2. [Flavour.Current] takes each setting as given, else from the metrics, else from the
//     flavour's defaults ([Fill]), and notes which of these it was.
//  3. manager.go lists kube-controller-manager's queues, with the flag of the workers of each
//     and how many they are ([SyncFlag]).
package defaults

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
)

// A Flavour is what a controller is built on, which decides on its defaults.
type Flavour string

// What is told apart.
const (
	ClientGo          Flavour = "client-go"
	ControllerRuntime Flavour = "controller-runtime"
	ControllerManager Flavour = "kube-controller-manager"
)

// FlavourOf recognises kube-controller-manager by its queues, whose families have no
// prefix, and controller-runtime by its own families.
func FlavourOf(d *scrape.Delta) Flavour {
	own, prefixed, known := false, false, 0
	for name, q := range d.Queues {
		if len(q.Results) > 0 || q.Workers > 0 || q.Reconcile.Count() > 0 || q.Kind == scrape.Prioritised {
			return ControllerRuntime
		}
		own = own || slices.Contains(ownQueues, name)
		prefixed = prefixed || q.Prefix != ""
		_, ok := syncFlags[name]
		if _, shared := libraryQueues[name]; ok || shared {
			known++
		}
	}
	// Of a part of its metrics: karpenter has a queue disruption too, but none of workloads.
	_, disruption := d.Queues["disruption"]
	_, replicaset := d.Queues["replicaset"]
	if !prefixed && (own || disruption && replicaset && known == len(d.Queues)) {
		return ControllerManager
	}
	return ClientGo
}

// Current fills in what was not given: by the metrics, then by the defaults. The workers stay 0
// where neither says how many they are.
func (f Flavour) Current(given predict.Current, q scrape.Queue) predict.Current {
	c := predict.Current{Settings: given.Settings, Told: map[string]string{}}
	maps.Copy(c.Told, given.Told)
	base := predict.Defaults()
	switch f {
	case ControllerRuntime:
		base.Workers, base.QPS, base.Burst, base.Resync = 1, 0, 0, 10*time.Hour
		base.Priority = true // since v0.23
		if q.Kind != scrape.Untold && c.Told["priority"] == "" {
			c.Priority, c.Told["priority"] = q.Kind == scrape.Prioritised, "metrics"
		}
	case ControllerManager:
		base.QPS, base.Burst, base.Resync = ManagerQPS, ManagerBurst, 12*time.Hour
		base.Workers = cmp.Or(syncFlags[q.Name].workers, libraryQueues[q.Name])
	}
	if q.Workers > 0 && c.Told["workers"] == "" {
		c.Workers, c.Told["workers"] = int(q.Workers), "metrics"
	}
	Fill(&c, base, "default of "+string(f))
	return c
}

// unbucketed is where it is known from that retries wait for no tokens: with its
// priority queue controller-runtime's limiter has only the back-off of each key.
const unbucketed = "default of controller-runtime's priority queue"

// OfWorkload is where a setting is known from that a spec tells.
const OfWorkload = "workload"

// Fill takes each setting that is not told from base, and notes where it is then known from. The
// map of what is told has to be there.
func Fill(c *predict.Current, base predict.Settings, told string) {
	take := func(name string, set func()) {
		if c.Told[name] == "" {
			set()
			c.Told[name] = told
		}
	}
	if c.Told["qps"] != "" && c.Told["burst"] == "" {
		// As client-go's users do: room for a second and a half.
		base.Burst = max(1, int(1.5*c.QPS))
	}
	if base.Workers > 0 {
		take("workers", func() { c.Workers = base.Workers })
	}
	take("qps", func() { c.QPS = base.QPS })
	take("burst", func() { c.Burst = base.Burst })
	if c.QPS == 0 {
		c.Burst = 0
	}
	take("baseDelay", func() { c.BaseDelay = base.BaseDelay })
	take("maxDelay", func() { c.MaxDelay = base.MaxDelay })
	take("resync", func() { c.Resync = base.Resync })
	take("batch", func() { c.Batch = base.Batch })
	take("priority", func() { c.Priority = base.Priority })
	if c.Priority && c.Told["bucketRate"] == "" && c.Told["bucketBurst"] == "" && told != OfWorkload {
		c.BucketRate, c.BucketBurst = 0, 0
		c.Told["bucketRate"], c.Told["bucketBurst"] = unbucketed, unbucketed
	}
	take("bucketRate", func() { c.BucketRate = base.BucketRate })
	take("bucketBurst", func() { c.BucketBurst = base.BucketBurst })
	if c.BucketRate == 0 {
		c.BucketBurst = 0
	}
	take("split", func() { c.Split = base.Split })
	take("queue", func() { c.Queue = c.PeersQueue() })
}
