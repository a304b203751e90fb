package impl

import (
	"github.com/informerbench/informerbench/impl/fifo"
	"github.com/informerbench/informerbench/impl/indexer"
	"github.com/informerbench/informerbench/impl/informer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// FIFOConfig is what a FIFO of any kind is made from.
type FIFOConfig = fifo.Config

// Constructors of the cache family, as the catalogue lists them.
type (
	// NewFIFO makes a FIFO, a DeltaFIFO or an in-order FIFO.
	NewFIFO = func(FIFOConfig) cache.Queue
	// NewIndexer makes an indexer as cache.NewIndexer does.
	NewIndexer = func(cache.KeyFunc, cache.Indexers) cache.Indexer
	// NewInformer makes an informer as cache.NewSharedIndexInformerWithOptions does.
	NewInformer = func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer
)

// FIFOs lists the FIFOs.
func FIFOs() []Variant[NewFIFO] {
	return withAdded("fifo", []Variant[NewFIFO]{
		{Name: "slice", New: func(c FIFOConfig) cache.Queue { return fifo.NewSliceFIFO(c) },
			Summary: "reference: a map of objects and a slice of keys"},
		{Name: "ring", New: func(c FIFOConfig) cache.Queue { return fifo.NewRingFIFO(c) },
			Summary: "keys and objects in one ring of segments under a hash index: no allocation in the steady state"},
		{Name: "client-go", Peer: true,
			Summary: "a map of objects and a slice of keys: five map operations an object and a string a key",
			New: func(c FIFOConfig) cache.Queue {
				if c.KeyFunc == nil {
					c.KeyFunc = cache.MetaNamespaceKeyFunc
				}
				return cache.NewFIFO(c.KeyFunc)
			}},
	})
}

// DeltaFIFOs lists the DeltaFIFOs.
func DeltaFIFOs() []Variant[NewFIFO] {
	return withAdded("delta-fifo", []Variant[NewFIFO]{
		{Name: "slice", New: func(c FIFOConfig) cache.Queue { return fifo.NewSliceDeltaFIFO(c) },
			Summary: "reference: a map of Deltas and a slice of keys"},
		{Name: "ring", New: func(c FIFOConfig) cache.Queue { return fifo.NewRingDeltaFIFO(c) },
			Summary: "keys and deltas in one ring of segments under a hash index: allocates only the Deltas it hands out"},
		{Name: "client-go", Peer: true,
			Summary: "a map of Deltas and a slice of keys: five map operations an event, Deltas grow by append",
			New: func(c FIFOConfig) cache.Queue {
				return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
					KeyFunction:           c.KeyFunc,
					KnownObjects:          c.KnownObjects,
					Transformer:           c.Transformer,
					EmitDeltaTypeReplaced: c.EmitReplaced,
				})
			}},
	})
}

// InOrderFIFOs lists the in-order FIFOs, the queues of today's informers. An
// atomic one is built as these build it: it emits bookmarks and releases its
// lock for the handler.
func InOrderFIFOs() []Variant[NewFIFO] {
	return withAdded("in-order-fifo", []Variant[NewFIFO]{
		{Name: "slice", New: func(c FIFOConfig) cache.Queue { return fifo.NewSliceInOrder(c) },
			Summary: "reference: a slice of deltas, keys made again for each batch"},
		{Name: "ring", New: func(c FIFOConfig) cache.Queue { return fifo.NewRingInOrder(c) },
			Summary: "a ring of deltas with key hashes: a batch compares hashes and allocates only its own slice"},
		{Name: "client-go", Peer: true,
			Relaxes: []string{"fault:resync-error-cause"},
			Summary: "a slice of deltas that re-allocates as it walks; keys made again and put in a set for each batch",
			New: func(c FIFOConfig) cache.Queue {
				switch {
				case c.Atomic:
					c.KnownObjects = nil // upstream refuses them
				case c.KnownObjects == nil: // upstream insists on them
					c.KnownObjects = cache.NewStore(cache.MetaNamespaceKeyFunc)
				}
				return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
					KeyFunction:           c.KeyFunc,
					KnownObjects:          c.KnownObjects,
					Transformer:           c.Transformer,
					AtomicEvents:          c.Atomic,
					UnlockWhileProcessing: c.Atomic,
					EmitDeltaTypeBookmark: c.Atomic,
				})
			}},
	})
}

// Indexers lists the indexers.
func Indexers() []Variant[NewIndexer] {
	return withAdded("indexer", []Variant[NewIndexer]{
		{Name: "locked",
			Summary: "one RWMutex around a map and index sets, as plain as it can be",
			New: func(keyFunc cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
				return indexer.NewLocked(keyFunc, indexers)
			}},
		{Name: "sharded",
			Summary: "a lock, a map and index sets for each of 32 shards; a list takes all the locks",
			New: func(keyFunc cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
				return indexer.NewSharded(keyFunc, indexers)
			}},
		{Name: "snapshot",
			Summary: "objects in chunks that a write copies only while a list may still see them; lists hold no lock",
			New: func(keyFunc cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
				return indexer.NewSnapshot(keyFunc, indexers)
			}},
		{Name: "client-go", Peer: true,
			Relaxes: []string{"fault:index-func-error-changes-nothing", "fault:indexers-owned-by-store"},
			Summary: "one RWMutex around a map and index sets: listers starve the writer",
			New: func(keyFunc cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
				return cache.NewIndexer(keyFunc, indexers)
			}},
	})
}

// Informers lists the informers.
func Informers() []Variant[NewInformer] {
	plain := informer.Options{
		NewFIFO:    func(c fifo.Config) cache.Queue { return fifo.NewSliceInOrder(c) },
		NewIndexer: func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return indexer.NewLocked(k, i) },
	}
	return withAdded("informer", []Variant[NewInformer]{
		{Name: "plain", New: plain.New,
			Summary: "Reflector, the slice FIFO, the locked indexer and one goroutine a handler"},
		{Name: "snapshot", New: informer.New,
			Summary: "Reflector, the ring FIFO, the snapshot indexer and one goroutine a handler: readers hold up nobody"},
		{Name: "client-go", Peer: true, New: cache.NewSharedIndexInformerWithOptions,
			Relaxes: []string{"fault:relist-unchanged", "fault:panic-syncs"},
			Summary: "Reflector, in-order FIFO, indexer and two goroutines a handler"},
	})
}

// cacheComponents are the lists of the cache family, which needs a newer client-go than
// the work queue family.
func cacheComponents() []component {
	return []component{listed("fifo", FIFOs), listed("delta-fifo", DeltaFIFOs), listed("in-order-fifo", InOrderFIFOs),
		listed("indexer", Indexers), listed("informer", Informers)}
}
