package impltest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/impl/election"
	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var electionSafetyClauses = []clause[newElector]{
	{name: "lost-on-renew-deadline", contract: "election 5", run: electionLostOnRenewDeadline,
		reason: "a leader that can't renew must stop before the others may start, and not at the first failure"},
	{name: "deadline-from-last-renewal", contract: "election 8", run: electionDeadlineFromLastRenewal,
		reason: "only what is counted from the last renewal leaves leaseDuration/renewDeadline for clocks of different rates, whatever the retry period"},
	{name: "lost-in-hung-call", contract: "election 8", run: electionLostInHungCall,
		reason: "the deadline passes while a call hangs that heeds no context"},
	{name: "lost-to-another-holder", contract: "election 8", run: electionLostToAnotherHolder,
		reason: "a leader that reads another's name in the record has lost already"},
	{name: "late-answer-elects-nobody", contract: "election 8", run: electionLateAnswerElectsNobody,
		reason: "an answer that comes after the lease tells of a leadership that is over"},
	{name: "cancelled-before-release", contract: "election 6", run: electionCancelledBeforeRelease,
		reason: "the next leader starts at the release: the work must have been told to end by then"},
	{name: "is-leader-ends", contract: "election 7", run: electionIsLeaderEnds,
		reason: "IsLeader of a candidate that lost must not be true beside that of the next"},
	{name: "never-two-leaders", contract: "election 8", run: electionNeverTwoLeaders,
		reason: "two leaders act on the same objects: that is what the election is there to prevent"},
}

func electionLostOnRenewDeadline(t *trial, new newElector) {
	b := newBallot(t, new)
	a := b.join("a")
	pass(time.Minute)
	b.fault(callsFail(""))
	pass(renewDeadline - 2*retryPeriod - time.Second)
	b.fault(nil)
	pass(time.Minute)
	assert.True(t, a.leads(), "after an outage of 5s")

	renewed := b.record().RenewTime.Time
	b.fault(callsFail(""))
	<-a.done
	pass(0)
	_, ended := a.times()
	assert.GreaterOrEqual(t, ended.Sub(renewed), renewDeadline, "from the last renewal to the end")
	assert.Less(t, ended.Sub(renewed), leaseDuration, "from the last renewal to the end")
	assert.Equal(t, 1, a.stopped)
}

func electionDeadlineFromLastRenewal(t *trial, new newElector) {
	t.needs("never-two-leaders", "lost-on-renew-deadline")
	b := newBallot(t, new)
	a := b.join("a")
	pass(time.Minute)
	renewed := b.record().RenewTime.Time
	b.fault(callsFail(""))
	<-a.done
	pass(0)
	_, ended := a.times()
	assert.LessOrEqual(t, ended.Sub(renewed), renewDeadline, "from the last renewal to the end")
}

func electionLostInHungCall(t *trial, new newElector) {
	t.needs("never-two-leaders", "lost-on-renew-deadline")
	b := newBallot(t, new)
	a := b.join("a")
	pass(time.Minute)
	renewed := b.record().RenewTime.Time
	b.fault(func(election.Call) election.Fault { return election.Fault{Request: time.Hour, Deaf: true} })
	passUntil(time.Minute, func() bool { return !a.leads() })
	assert.Less(t, time.Since(renewed), leaseDuration, "from the last renewal to the end")
}

func electionLostToAnotherHolder(t *trial, new newElector) {
	t.needs("optimistic-conflict")
	b := newBallot(t, new)
	a := b.join("a")
	pass(time.Minute)
	b.held("other", time.Now(), 1)
	waited := passUntil(time.Minute, func() bool { return !a.leads() })
	assert.LessOrEqual(t, waited, 2*retryPeriod, "until it stops")
	assert.Equal(t, "other", b.record().HolderIdentity)
}

func electionLateAnswerElectsNobody(t *trial, new newElector) {
	t.needs("never-two-leaders", "lost-on-renew-deadline", "optimistic-conflict")
	b := newBallot(t, new)
	b.fault(func(c election.Call) election.Fault {
		if c.Verb == "create" {
			return election.Fault{Response: 20 * time.Second, Deaf: true}
		}
		return election.Fault{}
	})
	b.join("a")
	b.join("b")
	pass(time.Minute) // started reports two who lead
	assert.Len(t, b.leaders(), 1)
}

func electionCancelledBeforeRelease(t *trial, new newElector) {
	t.needs("release-lets-next-in-quickly")
	b := newBallot(t, new)
	var lock *onlyReleases
	a := b.join("a", releasing, func(c *leaderelection.LeaderElectionConfig) {
		lock = &onlyReleases{Interface: c.Lock}
		c.Lock = lock
	})
	pass(time.Minute)
	lock.released = func() { assert.False(t, a.leads(), "it is at work while it releases") }
	lock.closed.Store(true)
	<-a.done
	assert.Empty(t, b.record().HolderIdentity, "released after the loss")
}

func electionIsLeaderEnds(t *trial, new newElector) {
	b := newBallot(t, new)
	a := b.join("a")
	pass(time.Minute)
	b.fault(callsFail("a"))
	<-a.done
	assert.False(t, a.IsLeader(), "after Run returned")
}

func electionNeverTwoLeaders(t *trial, new newElector) {
	t.needs("optimistic-conflict", "lost-on-renew-deadline")
	r := t.Rand()
	for range 5 {
		electionStorm(t, new, rand.New(rand.NewPCG(r.Uint64(), 0)))
	}
}

// electionStorm has candidates that come and go, on a server that is slow, fails,
// loses answers and is cut off from one or all for up to a minute. Whoever starts
// to lead looks for others who do.
func electionStorm(t *trial, new newElector, r *rand.Rand) {
	b := newBallot(t, new)
	var cut string
	b.fault(func(c election.Call) election.Fault {
		f := election.Fault{Request: time.Duration(r.IntN(1000)) * time.Millisecond, Response: time.Duration(r.IntN(1000)) * time.Millisecond}
		switch n := r.IntN(20); {
		case cut == "all" || cut == c.Identity:
			f.Err = errors.New("the server is unreachable")
		case n == 0:
			f.Err = errors.New("the server is overloaded")
		case n == 1:
			f.Lost = errors.New("the connection broke")
		case n == 2:
			f.Conflict = true
		}
		return f
	})
	names := []string{"a", "b", "c", "d"}
	running := map[string]*candidate{}
	for step := range 60 {
		for _, name := range names { // who lost comes again, as after a restart
			c := running[name]
			if c != nil {
				select {
				case <-c.done:
				default:
					continue
				}
			}
			// Restarts have names of their own, as pods do.
			running[name] = b.join(fmt.Sprintf("%s%d", name, step))
		}
		b.mu.Lock()
		cut = ""
		switch pick := running[names[r.IntN(len(names))]]; r.IntN(4) {
		case 0:
			cut = pick.name
		case 1:
			cut = "all"
		case 2:
			pick.stop()
		}
		if record, ok := b.server.Record(); ok && cut == "" && r.IntN(3) == 0 {
			cut = record.HolderIdentity
		}
		d := time.Duration(1+r.IntN(40)) * time.Second
		b.mu.Unlock()
		pass(d)
		if n := b.leaders(); len(n) > 1 {
			t.Errorf("%v lead at a time", n)
		}
	}
	b.fault(nil)
	pass(time.Minute)
	assert.Len(t, b.leaders(), 1, "in the end, undisturbed")
	assert.Greater(t, len(b.log), 5, "leaders in all")
	for _, c := range running {
		c.end()
	}
}

// onlyReleases is a lock that accepts no renewals once it is closed.
type onlyReleases struct {
	resourcelock.Interface
	closed   atomic.Bool
	released func()
}

func (l *onlyReleases) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if l.closed.Load() {
		if record.HolderIdentity != "" {
			return errors.New("the server is overloaded")
		}
		l.released()
	}
	return l.Interface.Update(ctx, record)
}
