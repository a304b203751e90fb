package impltest

import (
	"time"

	"github.com/informerbench/informerbench/impl/election"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func electionRecord(holder string, renewed time.Time, transitions int) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{
		HolderIdentity: holder, LeaseDurationSeconds: int(leaseDuration / time.Second),
		AcquireTime: metav1.NewTime(renewed), RenewTime: metav1.NewTime(renewed), LeaderTransitions: transitions,
	}
}

var electionRecordClauses = []clause[newElector]{
	{name: "first-leader", contract: "election 1", run: electionFirstLeader,
		reason: "a controller without a leader does nothing: of candidates that start together one leads at once"},
	{name: "renew", contract: "election 1", run: electionRenew,
		reason: "a leader that is not disturbed leads for ever"},
	{name: "renew-in-one-call", contract: "election 1", run: electionRenewInOneCall,
		reason: "every controller of a cluster renews all the time: a read before each write doubles that load"},
	{name: "acquire-time-kept", contract: "election 3", run: electionAcquireTimeKept,
		reason: "the acquire time tells since when this leader leads; a renewal, a conflict or a restart under the same name does not change it"},
	{name: "takeover-after-expiry-observed-locally", contract: "election 2", run: electionTakeoverAfterExpiryObservedLocally,
		reason: "clocks of machines differ by any amount: what counts is how long a candidate saw no change by its own clock"},
	{name: "transitions", contract: "election 3", run: electionTransitions,
		reason: "the count of transitions is what alerts watch: each takeover adds one, nothing else does"},
	{name: "optimistic-conflict", contract: "election 4", run: electionOptimisticConflict,
		reason: "of two who write at once only one may win: the other's version is old"},
	{name: "sub-second-lease", contract: "election 1", run: electionSubSecondLease,
		reason: "a record of whole seconds must not tell others to wait for less than the leader relies on"},
}

func electionFirstLeader(t *trial, new newElector) {
	b := newBallot(t, new)
	began := time.Now()
	for _, name := range []string{"a", "b", "c"} {
		b.join(name)
	}
	pass(time.Second)
	assert.Equal(t, []string{"a"}, b.leaders())
	r := b.record()
	assert.Equal(t, "a", r.HolderIdentity)
	assert.Equal(t, 15, r.LeaseDurationSeconds)
	assert.Zero(t, r.LeaderTransitions, "the first leader is no transition")
	assert.True(t, r.AcquireTime.Equal(&metav1.Time{Time: began}), "acquired at the start")
	for _, c := range b.candidates {
		assert.Equal(t, c.name == "a", c.IsLeader(), "IsLeader of %s", c.name)
		assert.Equal(t, "a", c.GetLeader(), "GetLeader of %s", c.name)
	}
}

func electionRenew(t *trial, new newElector) {
	b := newBallot(t, new)
	a := b.join("a")
	b.join("b")
	for range 360 {
		pass(10 * time.Second)
		assert.Equal(t, []string{"a"}, b.leaders())
		assert.True(t, a.IsLeader())
		assert.LessOrEqual(t, time.Since(b.record().RenewTime.Time), retryPeriod, "age of the last renewal")
	}
	assert.Zero(t, b.record().LeaderTransitions)
}

func electionRenewInOneCall(t *trial, new newElector) {
	b := newBallot(t, new)
	b.join("a")
	pass(time.Second)
	before := len(b.server.Calls())
	pass(time.Minute)
	calls := b.server.Calls()[before:]
	for _, c := range calls {
		assert.Equal(t, "update", c.Verb)
	}
	assert.InDelta(t, time.Minute/retryPeriod, len(calls), 2, "calls in a minute, one a retry period")
}

func electionAcquireTimeKept(t *trial, new newElector) {
	t.needs("no-release-unless-asked")
	b := newBallot(t, new)
	a := b.join("a")
	acquired := b.record().AcquireTime
	pass(time.Minute)
	b.fault(func(election.Call) election.Fault { return election.Fault{Conflict: true} })
	pass(retryPeriod)
	b.fault(nil)
	pass(renewDeadline)
	a.end()
	b.join("a")
	pass(time.Minute)
	r := b.record()
	assert.Equal(t, []string{"a"}, b.leaders())
	assert.True(t, r.AcquireTime.Equal(&acquired), "acquire time: found %v, expected %v", r.AcquireTime, acquired)
	assert.Zero(t, r.LeaderTransitions, "transitions")
}

func electionTakeoverAfterExpiryObservedLocally(t *trial, new newElector) {
	for _, skew := range []time.Duration{-time.Hour, 0, time.Hour} {
		b := newBallot(t, new)
		b.held("gone", time.Now().Add(skew), 7)
		c := b.join("c")
		waited := passUntil(time.Minute, c.leads)
		assert.GreaterOrEqual(t, waited, leaseDuration, "takeover of a record %v off", skew)
		assert.LessOrEqual(t, waited, leaseDuration+longestRetry, "takeover of a record %v off", skew)
		c.end()
	}
	b := newBallot(t, new)
	b.held("slow-clock", time.Now().Add(-time.Hour), 7)
	b.join("c")
	for range 20 {
		pass(9 * time.Second)
		b.held("slow-clock", time.Now().Add(-time.Hour), 7)
	}
	assert.Equal(t, "slow-clock", b.record().HolderIdentity, "a holder that renews keeps the lease, whatever its clock says")
}

func electionTransitions(t *trial, new newElector) {
	t.needs("acquire-time-kept", "release-lets-next-in-quickly")
	b := newBallot(t, new)
	b.held("gone", time.Now(), 7)
	c := b.join("c", releasing)
	pass(time.Minute)
	assert.Equal(t, []string{"c"}, b.leaders())
	assert.Equal(t, 8, b.record().LeaderTransitions, "after a takeover")
	c.end()
	assert.Equal(t, 8, b.record().LeaderTransitions, "after a release")
	began := time.Now()
	b.join("d")
	pass(time.Minute)
	assert.Equal(t, 9, b.record().LeaderTransitions, "after a takeover of a released lease")
	assert.Equal(t, began.Unix(), b.record().AcquireTime.Unix(), "a takeover acquires anew")
}

func electionOptimisticConflict(t *trial, new newElector) {
	b := newBallot(t, new)
	b.held("", time.Now(), 0)
	b.fault(func(election.Call) election.Fault {
		return election.Fault{Request: 50 * time.Millisecond, Response: 50 * time.Millisecond}
	})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		b.join(name)
	}
	pass(time.Minute)
	assert.Len(t, b.leaders(), 1)
	assert.Equal(t, b.leaders(), []string{b.record().HolderIdentity})
	if !t.relaxed("transitions") {
		assert.Equal(t, 1, b.record().LeaderTransitions)
	}

	// A write of somebody else in between.
	b = newBallot(t, new)
	b.held("", time.Now(), 0)
	b.fault(func(c election.Call) election.Fault {
		if c.Verb == "update" {
			b.held("quick", time.Now(), 1)
		}
		return election.Fault{}
	})
	b.join("a")
	pass(time.Minute)
	assert.Empty(t, b.leaders(), "its update was refused")
	assert.Equal(t, "quick", b.record().HolderIdentity)
}

func electionSubSecondLease(t *trial, new newElector) {
	b := newBallot(t, new)
	b.join("a", func(c *leaderelection.LeaderElectionConfig) {
		c.LeaseDuration, c.RenewDeadline, c.RetryPeriod = 1900*time.Millisecond, 1500*time.Millisecond, 500*time.Millisecond
	})
	pass(time.Second)
	assert.GreaterOrEqual(t, b.record().LeaseDurationSeconds, 2, "recorded lease duration in seconds, for 1.9s")
}
