package informer

import "k8s.io/client-go/tools/cache"

// The floor of this package is client-go v0.36: the first whose
// cache.SharedIndexInformer asks for HasSyncedChecker, and whose options carry a
// name and a metrics provider.
var (
	_ cache.DoneChecker
	_ cache.InformerNameAndResource
	_ = cache.SharedIndexInformerOptions{}.InformerMetricsProvider
)
