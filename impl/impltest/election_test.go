package impltest

import (
	"testing"

	"github.com/informerbench/informerbench/impl/election"
	"k8s.io/client-go/tools/leaderelection"
)

func TestOurElector(t *testing.T) {
	t.Parallel()
	TestElector(t, func(c leaderelection.LeaderElectionConfig) (election.Elector, error) { return election.New(c) })
}

func newUpstreamElector(c leaderelection.LeaderElectionConfig) (election.Elector, error) {
	return leaderelection.NewLeaderElector(c)
}

func TestUpstreamElector(t *testing.T) {
	t.Parallel()
	TestElector(t, newUpstreamElector,
		"fault:sub-second-lease", "fault:release-only-if-holder", "fault:deadline-from-last-renewal", "fault:lost-in-hung-call",
		"fault:lost-to-another-holder", "fault:late-answer-elects-nobody", "fault:cancelled-before-release", "fault:is-leader-ends")
}
