package tune

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench/tune/scrape"
)

// defaultSettings are client-go's, which has none for the workers.
func defaultSettings() Settings {
	return Settings{
		QPS: 5, Burst: 10,
		BaseDelay: 5 * time.Millisecond, MaxDelay: 1000 * time.Second, BucketRate: 10, BucketBurst: 100,
		Batch: 1000, Queue: "client-go",
	}
}

// kube-controller-manager's own.
const (
	managerQPS   = 20
	managerBurst = 30
)

// A syncFlag is what kube-controller-manager calls a queue's workers.
type syncFlag struct {
	flag    string // "" if there is none
	workers int    // its default, or the number that is built in
}

// syncFlags are kube-controller-manager's, by the name of the queue, as in v1.36 and v1.37.
// certificate is not among them: the approver has a queue of that name, with 5 workers, and
// so has each signer of which the flags name the files, four at most.
var syncFlags = map[string]syncFlag{
	"bootstrap_signer_queue":                  {"", 1},
	"ca_cert_publisher_cluster_trust_bundles": {"", 1},
	"cidrallocator_node":                      {"", 30},
	"claims":                                  {"", 1},
	"ClusterRoleAggregator":                   {"", 5},
	"cronjob":                                 {"concurrent-cron-job-syncs", 5},
	"daemonset":                               {"concurrent-daemonset-syncs", 2},
	"daemonset-node-updates":                  {"concurrent-daemonset-syncs", 2},
	"deployment":                              {"concurrent-deployment-syncs", 5},
	"device-taint-eviction-controller":        {"concurrent-device-taint-eviction-syncs", 8},
	"disruption":                              {"concurrent-disruption-syncs", 1}, // the flag since v1.37
	"disruption_recheck":                      {"", 1},
	"endpoint":                                {"concurrent-endpoint-syncs", 5},
	"endpoint_slice":                          {"concurrent-service-endpoint-syncs", 5},
	"endpoint_slice_mirroring":                {"mirroring-concurrent-service-endpoint-syncs", 5},
	"ephemeral_volume":                        {"concurrent-ephemeralvolume-syncs", 5},
	"garbage_collector_attempt_to_delete":     {"concurrent-gc-syncs", 20},
	"garbage_collector_attempt_to_orphan":     {"concurrent-gc-syncs", 20},
	"garbage_collector_graph_changes":         {"", 1},
	"horizontalpodautoscaler":                 {"concurrent-horizontal-pod-autoscaler-syncs", 5},
	"ipaddresses":                             {"", 5},
	"job":                                     {"concurrent-job-syncs", 5},
	"job_orphan_pod":                          {"concurrent-job-syncs", 5},
	"namespace":                               {"concurrent-namespace-syncs", 10},
	"node_lifecycle_controller":               {"", 8},
	"node_lifecycle_controller_pods":          {"", 4},
	"noexec_taint_node":                       {"", 8}, // one goroutine calls Get, for the 8 that do the work of both and call Done
	"noexec_taint_pod":                        {"", 8},
	"orphaned_pods_nodes":                     {"", 1},
	"podgroupprotection":                      {"", 1},
	"pvcprotection":                           {"", 1},
	"pvcs":                                    {"", 1},
	"pvprotection":                            {"", 1},
	"replicaset":                              {"concurrent-replicaset-syncs", 5},
	"replicationmanager":                      {"concurrent-rc-syncs", 5},
	// Two queues have this name, each with one worker.
	"resource-version-controller":                {"", 1},
	"resource_claim":                             {"concurrent-resourceclaim-syncs", 50},
	"resource_quota_controller_resource_changes": {"", 1},
	"resourcequota_primary":                      {"concurrent-resource-quota-syncs", 5},
	"resourcequota_priority":                     {"concurrent-resource-quota-syncs", 5},
	"root_ca_cert_publisher":                     {"", 1},
	"selinux_warning":                            {"", 1},
	"serviceaccount":                             {"", 1},
	// Two queues have this name, one of service accounts and one of secrets, and each has so
	// many workers.
	"serviceaccount_tokens_service":                     {"concurrent-serviceaccount-token-syncs", 5},
	"stale_pod_disruption":                              {"", 1},
	"statefulset":                                       {"concurrent-statefulset-syncs", 5},
	"storage-version-migrator-controller":               {"", 5},
	"storage_version_garbage_collector_leases":          {"", 1},
	"storage_version_garbage_collector_storageversions": {"", 1},
	"token_cleaner":                                     {"", 1},
	"ttl_jobs_to_delete":                                {"concurrent-ttl-after-finished-syncs", 5},
	"ttlcontroller":                                     {"", 5},
	"vacprotection":                                     {"", 1},
	"validatingadmissionpolicy-status":                  {"concurrent-validating-admission-policy-status-syncs", 5},
	"volume_expand":                                     {"", 10},
	"volumes":                                           {"", 1},
}

// libraryQueues are those that kube-controller-manager has of its libraries, with their
// workers. Other programs have them as well, so it isn't recognised by them. Of some names,
// as DynamicCABundle-csr-controller and DynamicClientCertificate, it depends on the flags
// and files how many queues there are.
var libraryQueues = map[string]int{
	"DynamicCABundle-client-ca-bundle":    1,
	"DynamicCABundle-request-header":      1,
	"DynamicCABundle-serving-cert":        1,
	"DynamicServingCertificateController": 1,
	"RequestHeaderAuthRequestController":  1,
	"leasecandidate":                      1,
}

// A flavour is what a controller is built on, which decides on its defaults.
type flavour string

const (
	clientGo          flavour = "client-go"
	controllerRuntime flavour = "controller-runtime"
	controllerManager flavour = "kube-controller-manager"
)

// ownQueues are those of kube-controller-manager alone, one of which it is recognised by.
// They do what a cluster has done once: other programs' queues have the names of the
// kinds they work on, as deployment, job, namespace or disruption, or of what they copied
// from it, as claims and volumes of the provisioners of storage.
var ownQueues = []string{
	"ClusterRoleAggregator", "garbage_collector_attempt_to_delete", "garbage_collector_attempt_to_orphan",
	"garbage_collector_graph_changes", "node_lifecycle_controller", "replicationmanager",
	"resource_quota_controller_resource_changes", "resourcequota_primary", "resourcequota_priority",
	"root_ca_cert_publisher", "serviceaccount_tokens_service", "stale_pod_disruption", "ttl_jobs_to_delete",
}

// flavourOf recognises kube-controller-manager by its queues, whose families have no
// prefix, and controller-runtime by its own families.
func flavourOf(d *scrape.Delta) flavour {
	own, prefixed, known := false, false, 0
	for name, q := range d.Queues {
		if len(q.Results) > 0 || q.Workers > 0 || q.Reconcile.Count() > 0 || q.Kind == scrape.Prioritised {
			return controllerRuntime
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
		return controllerManager
	}
	return clientGo
}

// current fills in what was not given: by the metrics, then by the defaults.
func (f flavour) current(given Current, q scrape.Queue) Current {
	c := Current{Settings: given.Settings, Told: maps.Clone(given.Told)}
	if c.Told == nil {
		c.Told = map[string]string{}
	}
	base := defaultSettings()
	told := "default of " + string(f)
	switch f {
	case controllerRuntime:
		base.Workers, base.QPS, base.Burst, base.Resync = 1, 0, 0, 10*time.Hour
		base.Priority = true // since v0.23
		if q.Kind != scrape.Untold && c.Told["priority"] == "" {
			c.Priority, c.Told["priority"] = q.Kind == scrape.Prioritised, "metrics"
		}
	case controllerManager:
		base.QPS, base.Burst, base.Resync = managerQPS, managerBurst, 12*time.Hour
		base.Workers = cmp.Or(syncFlags[q.Name].workers, libraryQueues[q.Name])
	}
	if q.Workers > 0 && c.Told["workers"] == "" {
		c.Workers, c.Told["workers"] = int(q.Workers), "metrics"
	}
	c.fill(base, told)
	return c
}

// unbucketed is where it is known from that retries wait for no tokens: with its
// priority queue controller-runtime's limiter has only the back-off of each key.
const unbucketed = "default of controller-runtime's priority queue"

// fill takes each setting that is not told from base.
func (c *Current) fill(base Settings, told string) {
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
	if c.Priority && c.Told["bucketRate"] == "" && c.Told["bucketBurst"] == "" && told != ofWorkload {
		c.BucketRate, c.BucketBurst = 0, 0
		c.Told["bucketRate"], c.Told["bucketBurst"] = unbucketed, unbucketed
	}
	take("bucketRate", func() { c.BucketRate = base.BucketRate })
	take("bucketBurst", func() { c.BucketBurst = base.BucketBurst })
	if c.BucketRate == 0 {
		c.BucketBurst = 0
	}
	take("split", func() { c.Split = base.Split })
	take("queue", func() { c.Queue = queueVariant(c.Priority) })
}
