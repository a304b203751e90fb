package impl

import (
	"github.com/informerbench/informerbench/impl/election"
	"k8s.io/client-go/tools/leaderelection"
)

// Elector is a candidate for leadership.
type Elector = election.Elector

// NewElector makes a candidate as leaderelection.NewLeaderElector does.
type NewElector = func(leaderelection.LeaderElectionConfig) (Elector, error)

// Electors lists the leader electors.
func Electors() []Variant[NewElector] {
	return withAdded("elector", []Variant[NewElector]{
		{Name: "deadline",
			Summary: "reference: one write a retry period; the renew deadline counts from the last write that succeeded",
			New:     func(c leaderelection.LeaderElectionConfig) (Elector, error) { return election.New(c) }},
		{Name: "client-go", Peer: true,
			Relaxes: []string{"fault:deadline-from-last-renewal", "fault:lost-in-hung-call", "fault:lost-to-another-holder",
				"fault:late-answer-elects-nobody", "fault:cancelled-before-release", "fault:release-only-if-holder",
				"fault:is-leader-ends", "fault:sub-second-lease"},
			Summary: "one write a retry period; the renew deadline counts from the first write that fails",
			New: func(c leaderelection.LeaderElectionConfig) (Elector, error) {
				return leaderelection.NewLeaderElector(c)
			}},
	})
}
