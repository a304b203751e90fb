package impl

import (
	"github.com/informerbench/informerbench/impl/fifo"
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

// Indexers lists the indexers.
func Indexers() []Variant[NewIndexer] {
	return []Variant[NewIndexer]{
		{Name: "client-go", Peer: true,
			Summary: "one RWMutex around a map and index sets: listers starve the writer",
			New: func(keyFunc cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
				return cache.NewIndexer(keyFunc, indexers)
			}},
	}
}

// Informers lists the informers.
func Informers() []Variant[NewInformer] {
	return []Variant[NewInformer]{
		{Name: "client-go", Peer: true, New: cache.NewSharedIndexInformerWithOptions,
			Summary: "Reflector, in-order FIFO, indexer and two goroutines a handler"},
	}
}
