package failover

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/impl/election"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Simulate plays the scenario out Config.Runs times. The error names the field of
// the config that is wrong, or that the elector refuses.
func Simulate(t *testing.T, elector NewElector, config Config) (Result, error) {
	if err := config.validate(); err != nil {
		return Result{}, err
	}
	var sum tally
	for run := range config.Runs {
		var err error
		synctest.Test(t, func(t *testing.T) {
			var w *world
			if w, err = play(elector, config, config.Seed+uint64(run)); err == nil {
				sum.add(w)
			}
		})
		if err != nil {
			return Result{}, err
		}
	}
	return sum.result(config), nil
}

// A world is one run: the server, the candidates and who led when.
type world struct {
	config Config
	begin  time.Time
	server *election.Memory

	random     *rand.Rand // of the story; for the goroutine that tells it
	candidates []*candidate

	mu        sync.Mutex
	slowUntil time.Time
	stall     struct {
		random    *rand.Rand
		next, end time.Time
	}
	terms []*term
	err   error
	led   chan *term

	event   time.Time // when the scenario's event happened
	subject *candidate
	end     time.Time
}

type candidate struct {
	id      int
	random  *rand.Rand // of its network
	cutOff  bool
	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// A term is a time during which a candidate led.
type term struct {
	leader   *candidate
	from, to time.Time // to is zero while it leads
}

// play makes one run in the bubble of the caller.
func play(elector NewElector, config Config, seed uint64) (*world, error) {
	w := &world{
		config: config, begin: time.Now(), random: rand.New(rand.NewPCG(seed, 0)),
		led: make(chan *term, 1024),
	}
	w.server = election.NewMemory(clock.RealClock{}, w.network)
	w.stall.random = rand.New(rand.NewPCG(seed, 1<<32))
	w.stall.next = w.begin.Add(w.untilStall())
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	for i := range config.Candidates {
		w.candidates = append(w.candidates, &candidate{id: i, random: rand.New(rand.NewPCG(seed, uint64(2*i+1)))})
	}
	for i, c := range w.candidates {
		own, stop := context.WithCancel(ctx)
		c.stop = stop
		delay := time.Duration(w.random.Float64() * float64(config.RetryPeriod))
		jitter := rand.New(rand.NewPCG(seed, uint64(2*i+2)))
		c.stopped.Go(func() { w.run(own, c, elector, delay, jitter) })
	}
	w.unfold()
	w.end = time.Now()
	cancel()
	for _, c := range w.candidates {
		c.stopped.Wait()
	}
	synctest.Wait() // until the last leader's work has ended too
	w.mu.Lock()
	defer w.mu.Unlock()
	return w, w.err
}

// unfold waits for the first leader, lets the scenario's event happen, and
// waits for what comes of it.
func (w *world) unfold() {
	limit := 4*w.config.LeaseDuration + 10*w.config.RetryPeriod
	first := w.nextTerm(limit)
	if first == nil || w.config.Scenario == Start {
		return
	}
	// The event may come at any moment between two renewals.
	<-time.After(w.config.LeaseDuration + time.Duration(2*w.random.Float64()*float64(w.config.RetryPeriod)))
	w.mu.Lock()
	w.event = time.Now()
	w.subject = w.leader()
	subject := w.subject
	if subject != nil {
		switch w.config.Scenario {
		case Partition, Crash:
			subject.cutOff = true
		case SlowAPI:
			w.slowUntil = w.event.Add(w.config.SlowFor)
		}
	}
	w.mu.Unlock()
	if subject == nil {
		return // it lost its lease beforehand: counts as a loss
	}
	switch w.config.Scenario {
	case Release, Crash:
		subject.stop()
		w.nextTerm(limit)
	case Partition:
		w.nextTerm(limit)
		<-time.After(w.config.RenewDeadline) // the old leader's end is part of the story
	case SlowAPI:
		<-time.After(w.config.SlowFor + limit)
	case Steady:
		<-time.After(w.config.Watch)
	}
}

// nextTerm waits for the next term to begin, and returns nil if none does.
func (w *world) nextTerm(limit time.Duration) *term {
	select {
	case t := <-w.led:
		return t
	case <-time.After(limit):
		return nil
	}
}

// leader returns the candidate that leads now, or nil.
func (w *world) leader() *candidate {
	for _, t := range w.terms {
		if t.to.IsZero() {
			return t.leader
		}
	}
	return nil
}

// run is the process of a candidate, which starts again when it lost.
func (w *world) run(ctx context.Context, c *candidate, elector NewElector, delay time.Duration, jitter *rand.Rand) {
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return
	}
	options := election.Options{Clock: clock.RealClock{}, Rand: jitter.Float64}
	if len(w.config.Rates) > 0 {
		options.Clock = skewed{origin: time.Now(), rate: w.config.Rates[c.id]}
	}
	for ctx.Err() == nil {
		e, err := elector(leaderelection.LeaderElectionConfig{
			Lock:            w.server.Lock(identity(c.id)),
			LeaseDuration:   w.config.LeaseDuration,
			RenewDeadline:   w.config.RenewDeadline,
			RetryPeriod:     w.config.RetryPeriod,
			ReleaseOnCancel: w.config.Scenario == Release,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(work context.Context) { w.started(c, work) },
				OnStoppedLeading: func() {},
			},
		}, options)
		if err != nil {
			w.mu.Lock()
			w.err = err
			w.mu.Unlock()
			return
		}
		e.Run(ctx)
	}
}

// started begins a term, which ends when the context of the leader's work does.
func (w *world) started(c *candidate, work context.Context) {
	t := &term{leader: c, from: time.Now()}
	w.mu.Lock()
	w.terms = append(w.terms, t)
	w.mu.Unlock()
	select {
	case w.led <- t:
	default: // thousands of terms: nobody waits for this one
	}
	<-work.Done()
	w.mu.Lock()
	t.to = time.Now()
	w.mu.Unlock()
}

var errServer = errors.New("the server answers with an error")

// network says what happens to a call.
func (w *world) network(call election.Call) election.Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	var c *candidate
	for _, c = range w.candidates {
		if identity(c.id) == call.Identity {
			break
		}
	}
	if c.cutOff {
		return election.Fault{Request: 1000 * w.config.LeaseDuration}
	}
	latency := w.config.Latency
	if call.At.Before(w.slowUntil) {
		latency = w.config.Slow
	}
	half := time.Duration(latency.Sample(c.random) / 2 * float64(time.Second))
	fault := election.Fault{Request: half, Response: half}
	if w.stalled(call.At.Add(half)) {
		// Not all at the stall's end: which comes first has to depend on the seed alone.
		fault.Request += w.stall.end.Sub(call.At)
	}
	if c.random.Float64() < w.config.Errors {
		fault.Err = errServer
	}
	return fault
}

// stalled tells whether the server does nothing at a time. Times must not go
// back by more than a call's latency.
func (w *world) stalled(at time.Time) bool {
	for w.config.SpikeEvery > 0 && !at.Before(w.stall.next) {
		w.stall.end = w.stall.next.Add(time.Duration(w.config.Spike.Sample(w.stall.random) * float64(time.Second)))
		w.stall.next = w.stall.end.Add(w.untilStall())
	}
	return at.Before(w.stall.end)
}

func (w *world) untilStall() time.Duration {
	return time.Duration(w.stall.random.ExpFloat64() * float64(w.config.SpikeEvery))
}

// A skewed clock runs at another rate than the true one.
type skewed struct {
	clock.RealClock
	origin time.Time
	rate   float64
}

func (c skewed) Now() time.Time {
	return c.origin.Add(time.Duration(float64(time.Since(c.origin)) * c.rate))
}

func (c skewed) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (c skewed) NewTimer(d time.Duration) clock.Timer {
	return c.RealClock.NewTimer(time.Duration(float64(d)/c.rate) + 1) // rounded up: never early
}
