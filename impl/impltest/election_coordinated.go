package impltest

import (
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/leaderelection"
)

func coordinated(c *leaderelection.LeaderElectionConfig) { c.Coordinated = true }

// In coordinated mode the API server's controller chooses the holder and writes
// it into the lease.
var electionCoordinatedClauses = []clause[newElector]{
	{name: "coordinated-takes-nothing", contract: "election 9", run: electionCoordinatedTakesNothing,
		reason: "who leads is the coordinator's choice"},
	{name: "coordinated-renews-what-it-is-given", contract: "election 9", run: electionCoordinatedRenewsWhatItIsGiven,
		reason: "it leads from when the coordinator names it, and keeps the coordinator's acquire time and transitions"},
	{name: "coordinated-ends-its-term", contract: "election 9", run: electionCoordinatedEndsItsTerm,
		reason: "a preferred holder in the lease asks the leader to stop before the next one starts"},
}

func electionCoordinatedTakesNothing(t *trial, new newElector) {
	b := newBallot(t, new)
	a := b.join("a", coordinated)
	pass(time.Minute)
	_, exists := b.server.Record()
	assert.False(t, exists, "it created the lease")
	b.held("other", time.Now(), 1)
	pass(5 * leaseDuration)
	assert.Equal(t, "other", b.record().HolderIdentity, "it took a lease that expired")
	assert.False(t, a.leads())
	assert.False(t, a.IsLeader())
}

func electionCoordinatedRenewsWhatItIsGiven(t *trial, new newElector) {
	b := newBallot(t, new)
	a := b.join("a", coordinated)
	pass(time.Minute)
	given := electionRecord("a", time.Now(), 3)
	b.server.SetRecord(given)
	assert.LessOrEqual(t, passUntil(time.Minute, a.leads), longestRetry, "until it leads")
	pass(time.Minute)
	assert.True(t, a.leads())
	renewed := b.record()
	assert.Equal(t, "a", renewed.HolderIdentity)
	assert.Equal(t, 3, renewed.LeaderTransitions)
	assert.True(t, renewed.AcquireTime.Equal(&given.AcquireTime), "acquire time %v, expected %v", renewed.AcquireTime, given.AcquireTime)
	assert.WithinDuration(t, time.Now(), renewed.RenewTime.Time, longestRetry)
}

func electionCoordinatedEndsItsTerm(t *trial, new newElector) {
	t.needs("no-release-unless-asked", "coordinated-takes-nothing")
	b := newBallot(t, new)
	b.held("a", time.Now(), 1)
	a := b.join("a", coordinated)
	passUntil(time.Minute, a.leads)
	assert.True(t, a.leads())
	marked := b.record()
	marked.PreferredHolder = "b"
	b.server.SetRecord(marked)
	passUntil(time.Minute, func() bool { return !a.leads() })
	_, ended := a.times()
	assert.False(t, a.leads())
	assert.WithinRange(t, ended, time.Now().Add(-time.Second), time.Now())
	assert.Equal(t, marked, b.record(), "it renewed beyond its term")
}
