package impltest

import (
	"testing"

	"github.com/informerbench/informerbench/impl/informer"
	"k8s.io/client-go/tools/cache"
)

func TestUpstreamInformer(t *testing.T) {
	t.Parallel()
	TestInformer(t, cache.NewSharedIndexInformerWithOptions, "fault:relist-unchanged", "fault:panic-syncs")
}

func TestOurInformer(t *testing.T) {
	t.Parallel()
	TestInformer(t, informer.New)
}
