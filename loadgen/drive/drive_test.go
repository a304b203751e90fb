package drive

import (
	"context"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/pace"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	klog.LogToStderr(false) // reflectors tell of each fault
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// virtually runs a drive in virtual time, in which nothing is late. No goroutine
// is left behind, or the bubble would say so.
func virtually(t *testing.T, c Config) Result {
	t.Helper()
	var result Result
	synctest.Test(t, func(t *testing.T) {
		var err error
		result, err = inBubble(t.Context(), t, c)
		require.NoError(t, err)
	})
	return result
}

func inBubble(ctx context.Context, t *testing.T, c Config) (Result, error) {
	d, err := newDrive(c)
	require.NoError(t, err)
	d.pacer = pace.NewTimer()
	d.until = func(deadline time.Time) time.Duration {
		time.Sleep(time.Until(deadline))
		return 0
	}
	return d.run(ctx)
}

func dist(t *testing.T, text string) randvar.Dist {
	t.Helper()
	d, err := randvar.Parse(text)
	require.NoError(t, err)
	return d
}

// updates is a load of pods that change one after the other.
func updates(t *testing.T, pods, events int, rate float64, arrivals string) *loadgen.Spec {
	return &loadgen.Spec{
		Name: "updates", Seed: 3,
		Resources: []loadgen.Resource{{Kind: "metadata", Count: pods, Namespaces: 2, Events: loadgen.Events{
			Mix: loadgen.Mix{Update: 1}, Count: events, Arrivals: loadgen.Arrivals{Kind: arrivals, Rate: rate},
		}}},
		Reconcile: loadgen.Reconcile{Workers: 1, Service: dist(t, "5ms")},
	}
}

// requireBalance checks what holds of every sound drive.
func requireBalance(t *testing.T, r Result) {
	t.Helper()
	a := r.Accounting
	require.True(t, a.Sound(), "%+v", a)
	require.Equal(t, a.Sent, a.Delivered+a.Coalesced)
	require.Empty(t, a.Bad)
	require.EqualValues(t, a.Sent, r.Latency(PickedUp).Count)
}

// The server keeps back the end of the list (kubernetes/kubernetes#135895): a drive
// says so in virtual seconds, where informers would wait for ever.
func TestListWithoutEnd(t *testing.T) {
	for _, informer := range []string{"client-go", "snapshot"} {
		synctest.Test(t, func(t *testing.T) {
			spec := updates(t, 10, 100, 10, "constant")
			spec.Faults.NoListEnd = true
			_, err := inBubble(t.Context(), t, Config{Workload: "x", Spec: spec, Speed: 1, Parts: Parts{Informer: informer}})
			require.ErrorIs(t, err, ErrNeverSynced)
			assert.ErrorContains(t, err, "pods: never synced")
			stopped, stop := context.WithCancel(t.Context())
			stop()
			_, err = inBubble(stopped, t, Config{Workload: "x", Spec: spec, Parts: Parts{Informer: informer}})
			assert.ErrorIs(t, err, errSync)
		})
	}
}

func TestStagesOfOneEventAtATime(t *testing.T) {
	r := virtually(t, Config{Workload: "x", Spec: updates(t, 10, 100, 10, "constant"), Speed: 1})
	requireBalance(t, r)
	assert.Equal(t, 10, r.Accounting.Initial)
	assert.Equal(t, 100, r.Accounting.Sent)
	assert.Equal(t, 100, r.Accounting.Delivered)
	assert.Equal(t, 100, r.Accounting.Reconciles)
	for _, name := range []string{Watch, Store, Enqueued, PickedUp, QueueWait} {
		assert.EqualValues(t, 100, r.Latency(name).Count, name)
		assert.Zero(t, r.Latency(name).At(0.99), name)
	}
	for _, name := range []string{Reconciled, Settled, Work} {
		assert.InEpsilon(t, 5*time.Millisecond, r.Latency(name).At(0.99), 0.002, name)
	}
	assert.Zero(t, r.Latency(Staleness).Max)
	assert.Equal(t, "end", r.Stopped)
	ticks := 0
	for _, tick := range r.Timeline {
		ticks += tick.Sent
	}
	assert.Equal(t, 100, ticks, "the timeline holds every event")
	assert.GreaterOrEqual(t, len(r.Timeline), 10)
}

// In virtual time the real queue and workers are an M/M/5 queue, whose mean wait
// is known: Erlang's C.
func TestQueueWaitIsThatOfTheory(t *testing.T) {
	const workers, rate, service = 5, 800.0, 0.005 // utilisation 0.8
	spec := updates(t, 20_000, 60_000, rate, "poisson")
	spec.Reconcile = loadgen.Reconcile{Workers: workers, Service: dist(t, "exp(5ms)")}
	r := virtually(t, Config{Workload: "x", Spec: spec, Speed: 1, Seed: 1})
	requireBalance(t, r)
	offered := rate * service
	sum, term := 0.0, 1.0
	for k := range workers {
		sum += term
		term *= offered / float64(k+1)
	}
	term *= workers / (workers - offered)
	busy := term / (sum + term)
	want := busy * service / (workers - offered) * float64(time.Second)
	// Repeated changes of a waiting pod coalesce: about 1 in 2,000 here.
	assert.InEpsilon(t, want, r.Latency(QueueWait).Mean, 0.1)
	// P(wait > t) = C·exp(-(c-a)t/s)
	p99 := math.Log(busy/0.01) * service / (workers - offered) * float64(time.Second)
	assert.InEpsilon(t, p99, r.Latency(QueueWait).At(0.99), 0.1)
}

func TestFailuresAreRetriedUntilTheLimit(t *testing.T) {
	spec := updates(t, 10, 10, 1, "constant")
	spec.Reconcile.Failure, spec.Reconcile.Retries = 1, 3
	r := virtually(t, Config{Spec: spec, Speed: 1})
	requireBalance(t, r)
	a := r.Accounting
	assert.Equal(t, a.Reconciles, a.Failures)
	assert.Positive(t, a.GivenUp)
	assert.Equal(t, 4*a.GivenUp, a.Reconciles, "one attempt and three retries each")
	assert.Zero(t, r.Latency(Settled).Count)
	assert.EqualValues(t, 10, r.Latency(Reconciled).Count)
	assert.Zero(t, a.Unsettled, "given up is an end")
}

func TestRetriesSettle(t *testing.T) {
	spec := updates(t, 500, 500, 20, "constant")
	spec.Reconcile.Failure = 0.3
	r := virtually(t, Config{Spec: spec, Speed: 1, Seed: 5})
	requireBalance(t, r)
	assert.InDelta(t, 500*0.3/0.7, r.Accounting.Failures, 60)
	assert.EqualValues(t, 500, r.Latency(Settled).Count)
	assert.Greater(t, r.Latency(Settled).Max, r.Latency(Reconciled).Max, "a retry waits for its back-off")
}

func TestClientLimitThrottlesCalls(t *testing.T) {
	spec := updates(t, 100, 100, 100, "constant")
	spec.Reconcile = loadgen.Reconcile{Workers: 10, Calls: dist(t, "2"), CallLatency: dist(t, "1ms"), QPS: 20, Burst: 5}
	r := virtually(t, Config{Spec: spec, Speed: 1})
	requireBalance(t, r)
	assert.Equal(t, 2*r.Accounting.Reconciles, r.Accounting.APICalls)
	calls := float64(r.Accounting.APICalls)
	assert.InEpsilon(t, (calls-5)/20, (r.Load + r.Drain).Seconds(), 0.05, "20 calls a second after the burst")
	assert.EqualValues(t, calls, r.Latency(Throttle).Count)
}

func TestRequeueAfterComesBackUntilTheLoadEnds(t *testing.T) {
	spec := updates(t, 1, 2, 0.1, "constant")
	spec.Reconcile.RequeueShare, spec.Reconcile.RequeueAfter = 1, dist(t, "1s")
	r := virtually(t, Config{Spec: spec, Speed: 1})
	requireBalance(t, r)
	assert.InDelta(t, 10, r.Accounting.Requeued, 2, "once a second between two events 10 s apart")
}

func TestColdStartReconcilesTheFirstList(t *testing.T) {
	r := virtually(t, Config{Spec: updates(t, 50, 10, 10, "constant"), Speed: 1, ColdStart: true})
	requireBalance(t, r)
	assert.Equal(t, 60, r.Accounting.Sent)
	assert.GreaterOrEqual(t, r.Accounting.Reconciles, 50)
}

func TestSpeedAndDuration(t *testing.T) {
	r := virtually(t, Config{Spec: updates(t, 100, 1000, 10, "constant"), Speed: 10, Duration: 5 * time.Second})
	requireBalance(t, r)
	assert.Equal(t, "duration", r.Stopped)
	assert.InDelta(t, 500, r.Accounting.Sent, 1)
	assert.LessOrEqual(t, r.Load, 5*time.Second)
}

// An interrupted drive accounts for what was sent until then.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3050*time.Millisecond)
		defer cancel()
		spec := updates(t, 1000, 100_000, 1000, "constant")
		spec.Reconcile.Service = dist(t, "20ms") // far behind
		r, err := inBubble(ctx, t, Config{Spec: spec, Speed: 1})
		require.NoError(t, err)
		requireBalance(t, r)
		assert.Equal(t, Interrupted, r.Stopped)
		assert.InDelta(t, 3050, r.Accounting.Sent, 2)
		assert.Positive(t, r.Accounting.Hurried)
		assert.Contains(t, r.Warnings, "interrupted: what was seen until then is shown")
		assert.Contains(t, strings.Join(r.Warnings, "\n"), "the drive was interrupted: ")
		assert.NotContains(t, strings.Join(r.Warnings, "\n"), "still behind")
		assert.Less(t, r.Drain, time.Second)
	})
}

func TestOverloadIsCutShortAfterTheDrainTime(t *testing.T) {
	spec := updates(t, 1000, 2000, 1000, "constant")
	spec.Reconcile.Service = dist(t, "100ms")
	r := virtually(t, Config{Spec: spec, Speed: 1, Drain: 2 * time.Second})
	requireBalance(t, r)
	assert.Positive(t, r.Accounting.Hurried)
	assert.Contains(t, strings.Join(r.Warnings, "\n"), "still behind 2s after the load: ")
	assert.InDelta(t, 2, r.Drain.Seconds(), 0.2)
}

// Reconciles that take longer than a drive waits when nothing moves are awaited
// as long as others, and cut short after the drain time as others.
func TestSlowReconcilesAreCutShortAfterTheDrainTime(t *testing.T) {
	spec := updates(t, 100, 20, 20, "constant")
	spec.Reconcile.Service = dist(t, "5s")
	r := virtually(t, Config{Spec: spec, Speed: 1, Drain: 12 * time.Second})
	requireBalance(t, r)
	assert.Contains(t, strings.Join(r.Warnings, "\n"), "still behind 12s after the load: ")
	assert.InDelta(t, 12, r.Drain.Seconds(), 0.2)

	r = virtually(t, Config{Spec: updates(t, 100, 2, 20, "constant"), Speed: 1})
	requireBalance(t, r)
	assert.Less(t, r.Drain, time.Second, "what has nothing left to do does not wait")
}

// What a resync queues is no event, but its reconciles take time too.
func TestResyncIsCutShortAfterTheDrainTime(t *testing.T) {
	spec := updates(t, 100, 2, 10, "constant")
	spec.Reconcile.Resync = 3 * time.Second
	spec.Reconcile.Workers, spec.Reconcile.Service = 10, dist(t, "4s")
	r := virtually(t, Config{Spec: spec, Speed: 1, Drain: 10 * time.Second})
	requireBalance(t, r)
	assert.InDelta(t, 10, r.Drain.Seconds(), 0.2)
}

// A drive that is interrupted after its load does not wait for slow reconciles.
func TestInterruptWhileReconcilesAreSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		spec := updates(t, 100, 20, 20, "constant")
		spec.Reconcile.Service = dist(t, "5s")
		r, err := inBubble(ctx, t, Config{Spec: spec, Speed: 1})
		require.NoError(t, err)
		requireBalance(t, r)
		assert.Less(t, r.Load+r.Drain, 11*time.Second)
	})
}

func TestTwoQueues(t *testing.T) {
	spec := updates(t, 100, 200, 100, "constant")
	spec.Resources = append(spec.Resources, loadgen.Resource{Kind: "node", Count: 20, Events: loadgen.Events{
		Pattern: "heartbeat", Count: 50, Arrivals: loadgen.Arrivals{Kind: "constant", Rate: 25},
	}})
	spec.Reconcile.Failure, spec.Reconcile.Retries = 1, 1
	r := virtually(t, Config{Spec: spec, Speed: 1, TwoQueues: true})
	requireBalance(t, r)
	assert.Equal(t, 250, r.Accounting.Sent)
	assert.Positive(t, r.Latency(Settled).Count, "nodes don't fail")
	assert.LessOrEqual(t, r.Latency(Settled).Count, int64(50))

	d, err := newDrive(Config{Spec: updates(t, 10, 10, 10, "constant"), TwoQueues: true, Speed: 1})
	require.NoError(t, err)
	_, err = d.run(t.Context())
	require.ErrorContains(t, err, "no nodes")
}

// Every variant of every part carries the load to the end.
func TestEveryVariant(t *testing.T) {
	var all []Parts
	for _, v := range impl.Informers() {
		all = append(all, Parts{Informer: v.Name})
	}
	for _, v := range impl.Indexers() {
		all = append(all, Parts{Indexer: v.Name})
	}
	for _, name := range FIFOs() {
		all = append(all, Parts{FIFO: name})
	}
	for _, v := range impl.RateLimitingQueues[string]() {
		all = append(all, Parts{RateLimitingQueue: v.Name})
	}
	for _, v := range impl.DelayingQueues[string]() {
		all = append(all, Parts{DelayingQueue: v.Name})
	}
	for _, v := range impl.Queues[string]() {
		all = append(all, Parts{Queue: v.Name})
	}
	for _, v := range impl.RateLimiters[string]() {
		all = append(all, Parts{RateLimiter: v.Name})
	}
	for _, parts := range all {
		if isPlanted(parts) {
			continue
		}
		t.Run(nameOfParts(parts), func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			spec := updates(t, 50, 300, 0, "")
			spec.Resources[0].Events.Mix = loadgen.Mix{Add: 1, Update: 3, Delete: 1}
			spec.Reconcile = loadgen.Reconcile{Workers: 3, Failure: 0.05, Retries: 3}
			r, err := Run(t.Context(), Config{Spec: spec, Speed: 0, Parts: parts})
			require.NoError(t, err)
			requireBalance(t, r)
			assert.Equal(t, 300, r.Accounting.Sent)
		})
	}
}

// A wait never ends early, and both ways of passing the time are counted.
func TestPastime(t *testing.T) {
	hurry, hasten := context.WithCancel(t.Context())
	p := &pastime{hurry: hurry, until: exactly}
	begin := time.Now()
	p.spend(0.0005)
	require.GreaterOrEqual(t, time.Since(begin), 500*time.Microsecond)
	p.cpu = true
	before := p.burnt.Load()
	p.spend(0.002)
	require.EqualValues(t, 2*time.Millisecond, p.burnt.Load()-before)
	hasten()
	p.spend(3600)
	p.wait(3600) // returns at once, or the test never ends
	require.EqualValues(t, 2*time.Millisecond, p.burnt.Load()-before)
}
