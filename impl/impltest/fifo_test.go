package impltest

import (
	"testing"

	"github.com/informerbench/informerbench/impl/fifo"
	"k8s.io/client-go/tools/cache"
)

// Upstream's own types keep every clause.

func TestUpstreamFIFO(t *testing.T)        { TestFIFO(t, plainFIFO.upstream) }
func TestUpstreamDeltaFIFO(t *testing.T)   { TestDeltaFIFO(t, deltaFIFO.upstream) }
func TestUpstreamInOrderFIFO(t *testing.T) { TestInOrderFIFO(t, inOrderFIFO.upstream) }

func TestRingFIFO(t *testing.T) {
	TestFIFO(t, func(c fifo.Config) cache.Queue { return fifo.NewRingFIFO(c) })
}

func TestRingDeltaFIFO(t *testing.T) {
	TestDeltaFIFO(t, func(c fifo.Config) cache.Queue { return fifo.NewRingDeltaFIFO(c) })
}

func TestRingInOrderFIFO(t *testing.T) {
	TestInOrderFIFO(t, func(c fifo.Config) cache.Queue { return fifo.NewRingInOrder(c) })
}

func TestSliceFIFO(t *testing.T) {
	TestFIFO(t, func(c fifo.Config) cache.Queue { return fifo.NewSliceFIFO(c) })
}

func TestSliceDeltaFIFO(t *testing.T) {
	TestDeltaFIFO(t, func(c fifo.Config) cache.Queue { return fifo.NewSliceDeltaFIFO(c) })
}

func TestSliceInOrderFIFO(t *testing.T) {
	TestInOrderFIFO(t, func(c fifo.Config) cache.Queue { return fifo.NewSliceInOrder(c) })
}
