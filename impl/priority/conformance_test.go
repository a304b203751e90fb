package priority_test

import (
	"testing"

	"github.com/informerbench/informerbench/impl/impltest"
	"github.com/informerbench/informerbench/impl/priority"
)

func TestLevels(t *testing.T) {
	impltest.TestPriorityQueue(t, priority.New[string],
		"global-provider", "len-counts-queued", "drain-after-shutdown", "requeue-after-shutdown", "drain-includes-requeued")
}
