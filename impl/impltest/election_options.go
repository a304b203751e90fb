package impltest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl/election"
	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/leaderelection"
)

type newElectorWithOptions = func(leaderelection.LeaderElectionConfig, election.Options) (election.Elector, error)

// TestElectorOptions tests what an elector promises beyond client-go's when it is made
// with options.
func TestElectorOptions(t *testing.T, new func(leaderelection.LeaderElectionConfig, election.Options) (election.Elector, error)) {
	t.Helper()
	runClauses(t, []clause[newElectorWithOptions]{
		{name: "work-ends-before-release", reason: "the next leader must not start while the work of the last one ends", run: workEndsBeforeRelease},
		{name: "wait-for-work-ends", reason: "work that never returns must not keep its process, nor may the next leader start beside it", run: waitForWorkEnds},
		{name: "hung-call-survived", reason: "one request that hangs must not cost the lease", run: hungCallSurvived},
		{name: "options-refused", reason: "an option that can't be kept must be refused, not ignored", run: optionsRefused},
	}, new, nil)
}

// electorWith makes the constructor of a ballot's candidates from one that takes options.
func electorWith(new newElectorWithOptions, options election.Options) newElector {
	return func(config leaderelection.LeaderElectionConfig) (election.Elector, error) {
		return new(config, options)
	}
}

// endingAfter lets the work of a candidate go on for d after its context has ended, and
// sets returned when it has come to its end.
func endingAfter(d time.Duration, returned *atomic.Bool) func(*leaderelection.LeaderElectionConfig) {
	return func(c *leaderelection.LeaderElectionConfig) {
		work := c.Callbacks.OnStartedLeading
		c.Callbacks.OnStartedLeading = func(ctx context.Context) {
			work(ctx)
			<-time.After(d)
			returned.Store(true)
		}
	}
}

func workEndsBeforeRelease(t *trial, new newElectorWithOptions) {
	// Shorter and longer than the lease, which has to be renewed meanwhile.
	for _, ending := range []time.Duration{time.Second, 3 * leaseDuration} {
		b := newBallot(t, electorWith(new, election.Options{WaitForWork: time.Minute}))
		var returned, together atomic.Bool
		a := b.join("a", releasing, endingAfter(ending, &returned))
		next := b.join("b", func(c *leaderelection.LeaderElectionConfig) {
			work := c.Callbacks.OnStartedLeading
			c.Callbacks.OnStartedLeading = func(ctx context.Context) {
				together.Store(!returned.Load())
				work(ctx)
			}
		})
		pass(time.Minute)
		a.stop()
		pass(0)
		assert.False(t, a.leads(), "the work is told to end at once")
		waited := passUntil(time.Hour, next.leads)
		assert.False(t, together.Load(), "the next leader starts while the work of the last one ends")
		assert.LessOrEqual(t, waited, ending+longestRetry, "until the next leads")
		<-a.done
		next.end()
	}
}

func waitForWorkEnds(t *trial, new newElectorWithOptions) {
	b := newBallot(t, electorWith(new, election.Options{WaitForWork: 30 * time.Second}))
	var returned atomic.Bool
	a := b.join("a", releasing, endingAfter(2*time.Minute, &returned))
	next := b.join("b")
	pass(time.Minute)
	cancelled := time.Now()
	a.stop()
	<-a.done
	assert.Equal(t, 30*time.Second, time.Since(cancelled), "until Run returned")
	assert.Equal(t, "a", b.record().HolderIdentity, "the lease is not given back beside work that goes on")
	assert.Equal(t, 1, a.stopped)
	assert.GreaterOrEqual(t, passUntil(time.Hour, next.leads), leaseDuration-longestRetry, "until the next leads")
	next.end()
	passUntil(time.Hour, returned.Load)
}

func hungCallSurvived(t *trial, new newElectorWithOptions) {
	for _, verb := range []string{"update", "get"} {
		b := newBallot(t, electorWith(new, election.Options{CallTimeout: 3 * time.Second}))
		a := b.join("a")
		pass(time.Minute)
		hung := false
		b.fault(func(c election.Call) election.Fault {
			switch {
			case c.Verb == verb && !hung:
				hung = true
				return election.Fault{Request: time.Hour}
			case verb == "get" && c.Verb == "update" && !hung:
				return election.Fault{Conflict: true} // then it reads the record
			}
			return election.Fault{}
		})
		pass(time.Minute)
		assert.True(t, hung, "a %s hung", verb)
		assert.True(t, a.leads(), "after a %s that hung", verb)
		a.end()
	}
}

func optionsRefused(t *trial, new newElectorWithOptions) {
	b := newBallot(t, nil)
	for what, options := range map[string]election.Options{
		"negative wait":                 {WaitForWork: -1},
		"negative timeout":              {CallTimeout: -1},
		"timeout of the renew deadline": {CallTimeout: renewDeadline},
	} {
		_, err := new(b.config("a"), options)
		assert.Error(t, err, what)
	}
}
