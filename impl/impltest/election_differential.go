package impltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/impl/election"
	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/leaderelection"
)

var electionDifferentialClauses = []clause[newElector]{
	{name: "differential", contract: "election", run: electionDifferential,
		reason: "whoever replaces client-go's elector relies on the same leaders, records and callbacks after the same faults"},
}

func electionDifferential(t *trial, new newElector) {
	t.needs("acquire-time-kept", "lost-on-renew-deadline", "release-lets-next-in-quickly", "never-two-leaders", "new-leader-callback", "transitions", "renew-in-one-call")
	r := t.Rand()
	for range 10 {
		script := electionScript(r)
		ours := playElection(t, new, script)
		upstream := playElection(t, func(c leaderelection.LeaderElectionConfig) (election.Elector, error) {
			return leaderelection.NewLeaderElector(c)
		}, script)
		assert.Equal(t, upstream, ours, "client-go's story, and this one's, of %s", strings.Join(script, ", "))
	}
}

// electionScript draws faults whose outcome no jitter decides: short ones are
// shorter than what every elector bears, long ones are longer than every lease.
func electionScript(r *rand.Rand) []string {
	acts := []string{"leader cut off briefly", "leader cut off", "waiting cut off", "all cut off briefly",
		"conflicts", "answers lost", "slow", "release"}
	script := make([]string, 8)
	for i := range script {
		script[i] = acts[r.IntN(len(acts))]
	}
	return script
}

// playElection has two candidates go through the script and returns what they
// came to, act by act. Who stops joins again when the other leads.
func playElection(t *trial, new newElector, script []string) []string {
	b := newBallot(t, new)
	leader := b.join("a", releasing)
	pass(time.Second)
	waiting := b.join("b", releasing)
	var story []string
	for _, act := range script {
		pass(30 * time.Second)
		acquired := b.record().AcquireTime
		changed := false
		switch act {
		case "leader cut off briefly", "all cut off briefly", "waiting cut off":
			name, d := leader.name, renewDeadline-2*retryPeriod-time.Second
			switch act {
			case "all cut off briefly":
				name = ""
			case "waiting cut off":
				name, d = waiting.name, 40*time.Second
			}
			b.fault(callsFail(name))
			pass(d)
		case "leader cut off":
			b.fault(callsFail(leader.name))
			pass(40 * time.Second)
			changed = true
		case "conflicts":
			n := 0
			b.fault(func(election.Call) election.Fault { n++; return election.Fault{Conflict: n%4 == 0} })
			pass(30 * time.Second)
		case "answers lost":
			n := 0
			b.fault(func(election.Call) election.Fault {
				if n++; n%5 == 0 {
					return election.Fault{Lost: errors.New("the connection broke")}
				}
				return election.Fault{}
			})
			pass(30 * time.Second)
		case "slow":
			b.fault(func(election.Call) election.Fault {
				return election.Fault{Request: 300 * time.Millisecond, Response: 300 * time.Millisecond}
			})
			pass(30 * time.Second)
		case "release":
			leader.stop()
			pass(30 * time.Second)
			changed = true
		}
		b.fault(nil)
		pass(10 * time.Second)
		r := b.record()
		story = append(story, fmt.Sprintf("%s: %v at work, held by %s, transitions %d, acquired anew %t, a leader stopped %d, a waiting %d",
			act, b.leaders(), r.HolderIdentity, r.LeaderTransitions, !r.AcquireTime.Equal(&acquired), leader.stops(), waiting.stops()))
		if changed {
			story = append(story, fmt.Sprintf("the leader was told of %v", leader.told()))
			leader, waiting = waiting, b.join(leader.name, releasing)
		}
	}
	story = append(story, fmt.Sprintf("the last were told of %v, %v", leader.told(), waiting.told()))
	leader.end()
	waiting.end()
	return append(story, fmt.Sprintf("in the end held by %q", b.record().HolderIdentity))
}

func (c *candidate) stops() int {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	return c.stopped
}

// told returns the leaders that OnNewLeader named. An empty name is left out:
// whether a candidate sees the record between two leaders is chance.
func (c *candidate) told() []string {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.news), func(s string) bool { return s == "" })
}
