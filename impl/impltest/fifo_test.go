package impltest

import "testing"

// Upstream's own types keep every clause.

func TestUpstreamFIFO(t *testing.T)        { TestFIFO(t, plainFIFO.upstream) }
func TestUpstreamDeltaFIFO(t *testing.T)   { TestDeltaFIFO(t, deltaFIFO.upstream) }
func TestUpstreamInOrderFIFO(t *testing.T) { TestInOrderFIFO(t, inOrderFIFO.upstream) }
