package impltest

import (
	"context"
	"slices"
	"time"

	"github.com/informerbench/informerbench/impl/election"
	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/leaderelection"
)

var electionLifeClauses = []clause[newElector]{
	{name: "parameters-refused", contract: "election 5", run: electionParametersRefused,
		reason: "settings under which two could lead, or nobody can, must not start"},
	{name: "release-lets-next-in-quickly", contract: "election 6", run: electionReleaseLetsNextInQuickly,
		reason: "a rolling update must not stand still for a lease duration at each step"},
	{name: "no-release-unless-asked", contract: "election 6", run: electionNoReleaseUnlessAsked,
		reason: "work that goes on after the cancel is still covered by the lease"},
	{name: "release-only-if-holder", contract: "election 6", run: electionReleaseOnlyIfHolder,
		reason: "a release that empties the record of the next leader makes a third lead beside it"},
	{name: "release-retries-conflict", contract: "election 6", run: electionReleaseRetriesConflict,
		reason: "a renewal that the cancel interrupted may have been done: its version is newer"},
	{name: "started-in-own-goroutine-and-cancelled", contract: "election 7", run: electionStartedInOwnGoroutineAndCancelled,
		reason: "the work of a leader never returns while it leads: it must hold up no renewal, and must be told to end"},
	{name: "stopped-always-runs", contract: "election 7", run: electionStoppedAlwaysRuns,
		reason: "OnStoppedLeading is where processes exit: it is called once whether the candidate led or not"},
	{name: "new-leader-callback", contract: "election 7", run: electionNewLeaderCallback,
		reason: "replicas forward requests to the leader that OnNewLeader named: each change once, the first included"},
	{name: "new-leader-holds-up-nobody", contract: "election 7", run: electionNewLeaderHoldsUpNobody,
		reason: "a callback that blocks must not cost the lease"},
	{name: "check", contract: "election 7", run: electionCheck,
		reason: "a liveness probe restarts a leader that is stuck past its lease, and no other"},
	{name: "no-goroutine-leak", contract: "election 7", run: electionNoGoroutineLeak,
		reason: "a process that runs many elections must not grow"},
}

func electionParametersRefused(t *trial, new newElector) {
	b := newBallot(t, new)
	for what, spoil := range map[string]func(*leaderelection.LeaderElectionConfig){
		"lease duration = renew deadline": func(c *leaderelection.LeaderElectionConfig) { c.LeaseDuration = c.RenewDeadline },
		"lease duration < renew deadline": func(c *leaderelection.LeaderElectionConfig) { c.LeaseDuration = c.RenewDeadline - 1 },
		"renew deadline = 1.2 × retry period": func(c *leaderelection.LeaderElectionConfig) {
			c.RenewDeadline, c.RetryPeriod = 12*time.Second, 10*time.Second
		},
		"no retry period": func(c *leaderelection.LeaderElectionConfig) { c.RetryPeriod = 0 },
		"all zero": func(c *leaderelection.LeaderElectionConfig) {
			c.LeaseDuration, c.RenewDeadline, c.RetryPeriod = 0, 0, 0
		},
		"negative":            func(c *leaderelection.LeaderElectionConfig) { c.RetryPeriod = -1 },
		"no lock":             func(c *leaderelection.LeaderElectionConfig) { c.Lock = nil },
		"no identity":         func(c *leaderelection.LeaderElectionConfig) { c.Lock = b.server.Lock("") },
		"no started callback": func(c *leaderelection.LeaderElectionConfig) { c.Callbacks.OnStartedLeading = nil },
		"no stopped callback": func(c *leaderelection.LeaderElectionConfig) { c.Callbacks.OnStoppedLeading = nil },
	} {
		config := b.config("a")
		spoil(&config)
		_, err := new(config)
		assert.Error(t, err, what)
	}
	_, err := new(b.config("a"))
	assert.NoError(t, err)
}

func electionReleaseLetsNextInQuickly(t *trial, new newElector) {
	b := newBallot(t, new)
	a := b.join("a", releasing)
	next := b.join("b")
	pass(time.Minute)
	a.end()
	assert.Empty(t, b.record().HolderIdentity, "holder after the release")
	assert.False(t, a.IsLeader())
	waited := passUntil(time.Minute, next.leads)
	assert.LessOrEqual(t, waited, longestRetry, "until the next leads")
}

func electionNoReleaseUnlessAsked(t *trial, new newElector) {
	b := newBallot(t, new)
	a := b.join("a")
	next := b.join("b")
	pass(time.Minute)
	a.end()
	assert.Equal(t, "a", b.record().HolderIdentity)
	assert.GreaterOrEqual(t, passUntil(time.Minute, next.leads), leaseDuration-longestRetry, "until the next leads")
}

func electionReleaseOnlyIfHolder(t *trial, new newElector) {
	b := newBallot(t, new)
	a := b.join("a", releasing)
	pass(time.Second)
	b.held("other", time.Now(), 1)
	a.end()
	assert.Equal(t, "other", b.record().HolderIdentity)
}

func electionReleaseRetriesConflict(t *trial, new newElector) {
	t.needs("release-lets-next-in-quickly")
	b := newBallot(t, new)
	a := b.join("a", releasing)
	pass(time.Second)
	n := 0
	b.fault(func(c election.Call) election.Fault {
		if c.Verb == "update" {
			n++
		}
		return election.Fault{Conflict: c.Verb == "update" && n == 1}
	})
	a.end()
	assert.Empty(t, b.record().HolderIdentity)
}

func electionStartedInOwnGoroutineAndCancelled(t *trial, new newElector) {
	b := newBallot(t, new)
	a := b.join("a")
	pass(5 * leaseDuration)
	assert.True(t, a.leads(), "it renews while OnStartedLeading runs")
	stopped := time.Now()
	a.end()
	_, ended := a.times()
	assert.Equal(t, stopped, ended, "when the context of OnStartedLeading was cancelled")
}

func electionStoppedAlwaysRuns(t *trial, new newElector) {
	b := newBallot(t, new)
	leader, waiting := b.join("a"), b.join("b")
	pass(time.Minute)
	waiting.end()
	leader.end()
	b.fault(callsFail(""))
	unreachable := b.join("c")
	pass(time.Minute)
	unreachable.end()
	for _, c := range []*candidate{leader, waiting, unreachable} {
		assert.Equal(t, 1, c.stopped, "calls of OnStoppedLeading of %s", c.name)
	}
	config := b.config("d")
	calls := 0
	config.Callbacks.OnStoppedLeading = func() { calls++ }
	d, err := new(config)
	assert.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d.Run(ctx)
	assert.Equal(t, 1, calls, "calls when the context had ended before Run")
	assert.Len(t, b.log, 1, "only one ever led")
}

func electionNewLeaderCallback(t *trial, new newElector) {
	b := newBallot(t, new)
	a := b.join("a", releasing)
	next := b.join("b")
	pass(time.Minute)
	a.end()
	pass(time.Minute)
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Equal(t, []string{"a"}, a.news)
	assert.Equal(t, []string{"a", "b"}, slices.DeleteFunc(next.news, func(s string) bool { return s == "" }))
}

func electionNewLeaderHoldsUpNobody(t *trial, new newElector) {
	b := newBallot(t, new)
	blocked := make(chan struct{})
	t.Cleanup(func() { close(blocked) })
	a := b.join("a", func(c *leaderelection.LeaderElectionConfig) { c.Callbacks.OnNewLeader = func(string) { <-blocked } })
	pass(5 * leaseDuration)
	assert.True(t, a.leads())
}

func electionCheck(t *trial, new newElector) {
	t.needs("never-two-leaders", "lost-on-renew-deadline")
	b := newBallot(t, new)
	a, waiting := b.join("a"), b.join("b")
	pass(time.Minute)
	assert.NoError(t, a.Check(0))
	b.fault(callsFail(""))
	pass(leaseDuration + 10*time.Second)
	assert.NoError(t, a.Check(20*time.Second))
	assert.Error(t, a.Check(time.Second))
	assert.NoError(t, waiting.Check(0))
}

func electionNoGoroutineLeak(t *trial, new newElector) {
	b := newBallot(t, new)
	a, waiting := b.join("a", releasing), b.join("b")
	pass(time.Minute)
	waiting.end()
	b.fault(callsFail(""))
	<-a.done
	pass(time.Minute)
	assert.Empty(t, t.Goroutines())
}
