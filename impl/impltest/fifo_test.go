package impltest

import "testing"

// Upstream's own types keep every clause but for the fault named here.

func TestUpstreamFIFO(t *testing.T) {
	t.Parallel()
	TestFIFO(t, plainFIFO.upstream)
}
func TestUpstreamDeltaFIFO(t *testing.T) {
	t.Parallel()
	TestDeltaFIFO(t, deltaFIFO.upstream)
}
func TestUpstreamInOrderFIFO(t *testing.T) {
	t.Parallel()
	TestInOrderFIFO(t, inOrderFIFO.upstream, "fault:resync-error-cause")
}
