package conformance

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// knownFields are the fields of upstream's configs that our variants read, or that
// do not concern them. Fields of newer versions are listed with theirs.
var knownFields = map[reflect.Type][]string{
	reflect.TypeFor[workqueue.TypedQueueConfig[string]]():         {"Name", "MetricsProvider", "Clock", "Queue"},
	reflect.TypeFor[workqueue.TypedDelayingQueueConfig[string]](): {"Name", "MetricsProvider", "Clock", "Queue", "Logger"},
	reflect.TypeFor[workqueue.TypedRateLimitingQueueConfig[string]](): {"Name", "MetricsProvider", "Clock", "DelayingQueue",
		"Logger"}, // v0.38
	reflect.TypeFor[cache.SharedIndexInformerOptions](): {"ResyncPeriod", "Indexers", "ObjectDescription", "Identifier", "InformerMetricsProvider"},
	reflect.TypeFor[cache.HandlerOptions]():             {"Logger", "ResyncPeriod"},
	reflect.TypeFor[cache.DeltaFIFOOptions]():           {"KeyFunction", "KnownObjects", "EmitDeltaTypeReplaced", "Transformer", "Logger", "Name"},
	reflect.TypeFor[cache.RealFIFOOptions](): {"KeyFunction", "KnownObjects", "Transformer", "Logger", "Name", "AtomicEvents",
		"UnlockWhileProcessing", "EmitDeltaTypeBookmark", "Identifier", "MetricsProvider"},
	reflect.TypeFor[leaderelection.LeaderElectionConfig](): {"Lock", "LeaseDuration", "RenewDeadline", "RetryPeriod", "Callbacks", "WatchDog",
		"ReleaseOnCancel", "Name", "Coordinated"},
	reflect.TypeFor[leaderelection.LeaderCallbacks](): {"OnStartedLeading", "OnStoppedLeading", "OnNewLeader"},
	reflect.TypeFor[resourcelock.LeaderElectionRecord](): {"HolderIdentity", "LeaseDurationSeconds", "AcquireTime", "RenewTime",
		"LeaderTransitions", "Strategy", "PreferredHolder"},
	reflect.TypeFor[priorityqueue.Opts[string]](): {"RateLimiter", "MetricProvider", "Log"},
	reflect.TypeFor[priorityqueue.AddOpts]():      {"After", "RateLimited", "Priority"},
	reflect.TypeFor[cache.Transaction]():          {"Object", "Type"},
	reflect.TypeFor[cache.ReplacedAllInfo]():      {"ResourceVersion", "Objects"},
	reflect.TypeFor[cache.SyncAllInfo]():          {},
	reflect.TypeFor[cache.BookmarkInfo]():         {"ResourceVersion"},
}

// TestConfigsHaveNoNewFields notices what upstream adds: a field that a variant
// does not know of would be ignored in silence.
func TestConfigsHaveNoNewFields(t *testing.T) {
	for config, known := range knownFields {
		for _, field := range reflect.VisibleFields(config) {
			if field.IsExported() {
				assert.Contains(t, known, field.Name, "%s has a new field: honour it in our variants and list it here", config)
			}
		}
	}
}
