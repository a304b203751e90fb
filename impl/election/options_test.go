package election_test

import (
	"testing"

	"github.com/informerbench/informerbench/impl/election"
	"github.com/informerbench/informerbench/impl/impltest"
	"k8s.io/client-go/tools/leaderelection"
)

func TestOptions(t *testing.T) {
	impltest.TestElectorOptions(t, func(c leaderelection.LeaderElectionConfig, o election.Options) (election.Elector, error) {
		return election.NewWithOptions(c, o)
	})
}
