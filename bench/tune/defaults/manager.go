package defaults

// kube-controller-manager's own limit of each controller's client.
const (
	ManagerQPS   = 20 // calls a second
	ManagerBurst = 30 // calls
)

// SyncFlag is what kube-controller-manager calls a queue's workers, "" if it has no flag for them,
// and how many they are by default or built in, 0 if that is not known.
func SyncFlag(queue string) (flag string, workers int) {
	known := syncFlags[queue]
	return known.flag, known.workers
}

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
