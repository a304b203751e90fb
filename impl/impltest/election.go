package impltest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/impl/election"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

type newElector = func(leaderelection.LeaderElectionConfig) (election.Elector, error)

// TestElector tests a leader elector on a lock in memory that is slow, fails and
// loses answers. Relaxes names the clauses that it gives up.
func TestElector(t *testing.T, new func(leaderelection.LeaderElectionConfig) (election.Elector, error), relaxes ...string) {
	t.Helper()
	runClauses(t, electionClauses(), new, relaxes)
}

func electionClauses() []clause[newElector] {
	return slices.Concat(electionRecordClauses, electionLifeClauses, electionSafetyClauses, electionCoordinatedClauses, electionDifferentialClauses)
}

// The settings of Kubernetes' own components.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
	// A candidate that waits looks again within this time.
	longestRetry = retryPeriod * 11 / 5
)

// A ballot is an election under test: candidates and their lock.
type ballot struct {
	t      *trial
	new    newElector
	server *election.Memory

	mu         sync.Mutex
	inject     func(election.Call) election.Fault
	candidates []*candidate
	log        []string // who led, in order
}

func newBallot(t *trial, new newElector) *ballot {
	t.needs("started-in-own-goroutine-and-cancelled")
	b := &ballot{t: t, new: new}
	b.server = election.NewMemory(clock.RealClock{}, func(c election.Call) election.Fault {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.inject == nil {
			return election.Fault{}
		}
		return b.inject(c)
	})
	return b
}

// fault sets what happens to calls from now on; nil is nothing.
func (b *ballot) fault(inject func(election.Call) election.Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inject = inject
}

// A candidate is one elector that runs.
type candidate struct {
	election.Elector
	b    *ballot
	name string
	stop context.CancelFunc
	done <-chan struct{} // closed when Run has returned

	// Guarded by b.mu.

	work    context.Context // of OnStartedLeading
	ledAt   time.Time
	endedAt time.Time // when work was cancelled
	stopped int       // calls of OnStoppedLeading
	news    []string
}

// join adds a candidate that runs until it is stopped or loses.
func (b *ballot) join(name string, edit ...func(*leaderelection.LeaderElectionConfig)) *candidate {
	quiet := klog.NewContext(context.Background(), klog.Logger{})
	ctx, cancel := context.WithCancel(quiet)
	c := &candidate{b: b, name: name, stop: cancel}
	config := b.config(name)
	config.Callbacks = leaderelection.LeaderCallbacks{
		OnStartedLeading: c.started,
		OnStoppedLeading: func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			c.stopped++
			if c.work != nil && c.work.Err() == nil {
				b.t.Errorf("%s: OnStoppedLeading was called before the context of OnStartedLeading was cancelled", name)
			}
		},
		OnNewLeader: func(leader string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			c.news = append(c.news, leader)
		},
	}
	for _, e := range edit {
		e(&config)
	}
	elector, err := b.new(config)
	require.NoError(b.t, err)
	c.Elector = elector
	b.mu.Lock()
	b.candidates = append(b.candidates, c)
	b.mu.Unlock()
	b.t.Cleanup(cancel)
	c.done = b.t.Go(func() { c.Run(ctx) })
	synctest.Wait()
	return c
}

func (b *ballot) config(name string) leaderelection.LeaderElectionConfig {
	return leaderelection.LeaderElectionConfig{
		Name: name, Lock: b.server.Lock(name),
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	}
}

// releasing makes a candidate release on cancel.
func releasing(c *leaderelection.LeaderElectionConfig) { c.ReleaseOnCancel = true }

// started is the work of a leader: it checks that nobody else is at work.
func (c *candidate) started(ctx context.Context) {
	c.b.mu.Lock()
	c.work, c.ledAt = ctx, time.Now()
	if ctx.Err() == nil {
		c.b.log = append(c.b.log, c.name)
		for _, other := range c.b.candidates {
			if other != c && other.work != nil && other.work.Err() == nil {
				c.b.t.Errorf("%s starts to lead while %s leads", c.name, other.name)
			}
		}
	}
	c.b.mu.Unlock()
	<-ctx.Done()
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	c.endedAt = time.Now()
}

// leads tells whether the candidate is at work.
func (c *candidate) leads() bool {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	return c.work != nil && c.work.Err() == nil
}

// times returns when the candidate started to lead and when its work ended.
func (c *candidate) times() (led, ended time.Time) {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	return c.ledAt, c.endedAt
}

// end stops the candidate and waits for it.
func (c *candidate) end() {
	c.stop()
	<-c.done
	synctest.Wait()
}

// leaders returns the names of those who are at work.
func (b *ballot) leaders() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for _, c := range b.candidates {
		if c.work != nil && c.work.Err() == nil {
			names = append(names, c.name)
		}
	}
	return names
}

func (b *ballot) record() resourcelock.LeaderElectionRecord {
	record, ok := b.server.Record()
	assert.True(b.t, ok, "there is a record")
	return record
}

// held writes a record as a candidate that is not under test would.
func (b *ballot) held(holder string, renewed time.Time, transitions int) {
	b.server.SetRecord(electionRecord(holder, renewed, transitions))
}

// pass lets virtual time go by, until everybody waits.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// passUntil lets virtual time go by until done, at most limit, and returns how
// much it was.
func passUntil(limit time.Duration, done func() bool) time.Duration {
	begin := time.Now()
	for synctest.Wait(); !done() && time.Since(begin) < limit; {
		pass(50 * time.Millisecond)
	}
	return time.Since(begin)
}

// callsFail returns a fault for the calls of one candidate, or of all if name is
// empty.
func callsFail(name string) func(election.Call) election.Fault {
	return func(c election.Call) election.Fault {
		if name == "" || c.Identity == name {
			return election.Fault{Err: fmt.Errorf("the server is unreachable for %s", c.Identity)}
		}
		return election.Fault{}
	}
}
