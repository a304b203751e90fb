package conformance

import (
	"slices"
	"testing"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/impltest"
)

// cacheTests are the tests of the cache family, which needs a newer client-go than the
// work queue family.
func cacheTests() []testing.InternalTest {
	return slices.Concat(
		each("fifo", impl.FIFOs(), impltest.TestFIFO),
		each("delta-fifo", impl.DeltaFIFOs(), impltest.TestDeltaFIFO),
		each("in-order-fifo", impl.InOrderFIFOs(), impltest.TestInOrderFIFO),
		each("indexer", impl.Indexers(), impltest.TestIndexer),
		each("informer", impl.Informers(), impltest.TestInformer),
	)
}
