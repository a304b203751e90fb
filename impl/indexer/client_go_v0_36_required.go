package indexer

import "k8s.io/client-go/tools/cache"

// The floor of this package is client-go v0.36: the first whose stores tell their
// resource version and take transactions, which its informers ask of them. A type in
// the first file is what a compiler complains of first.
type required struct {
	_ cache.ThreadSafeStoreWithTransaction
	_ cache.TransactionStore
	_ interface {
		Bookmark(rv string)
		DeleteWithObject(key string, obj any)
		LastStoreSyncResourceVersion() string
	}
}

var (
	_ required
	_ = cache.ThreadSafeStoreWithTransaction.LastStoreSyncResourceVersion
)
