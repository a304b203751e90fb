package informer

import (
	"time"

	"github.com/informerbench/informerbench/impl/fifo"
	"github.com/informerbench/informerbench/impl/indexer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// Options choose the parts of an informer. The zero value chooses the fastest.
type Options struct {
	// NewFIFO makes the queue between the Reflector and the store; nil means
	// fifo.NewRingInOrder. Its Config asks for atomic events, which a FIFO of
	// another kind ignores.
	NewFIFO func(fifo.Config) cache.Queue
	// NewIndexer makes the store; nil means indexer.NewSnapshot.
	NewIndexer func(cache.KeyFunc, cache.Indexers) cache.Indexer
	// Backlog makes a gauge of the notifications that wait for a handler, which has
	// that name in logs; nil means no gauge. It is called when a handler is added,
	// with the Identifier of the informer's options.
	Backlog func(informer cache.InformerNameAndResource, handler string) cache.GaugeMetric
}

// New makes an informer as cache.NewSharedIndexInformerWithOptions does.
func New(lw cache.ListerWatcher, example runtime.Object, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	return Options{}.New(lw, example, options)
}

// NewWithResync makes an informer as cache.NewSharedIndexInformer does: it is of
// the type that controller-runtime's cache.Options.NewInformer has.
func NewWithResync(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return New(lw, example, cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: indexers})
}

// New makes an informer of the chosen parts.
func (o Options) New(lw cache.ListerWatcher, example runtime.Object, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	if lw == nil {
		panic("informer: lw is nil, expected a cache.ListerWatcher, such as cache.NewListWatchFromClient")
	}
	if o.NewFIFO == nil {
		o.NewFIFO = func(c fifo.Config) cache.Queue { return fifo.NewRingInOrder(c) }
	}
	if o.NewIndexer == nil {
		o.NewIndexer = func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return indexer.NewSnapshot(k, i) }
	}
	return newInformer(o, lw, example, options)
}
