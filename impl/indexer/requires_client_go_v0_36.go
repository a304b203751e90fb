package indexer

import (
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
)

// This package needs client-go v0.36, which brought what is named here: stores tell
// their resource version, as informers ask them to, while a feature is on that older
// versions don't know.
var (
	_ interface {
		Bookmark(rv string)
		DeleteWithObject(key string, obj any)
		LastStoreSyncResourceVersion() string
	} = cache.ThreadSafeStoreWithTransaction(nil)
	_ = features.AtomicFIFO
)
