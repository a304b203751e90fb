package sim

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"
)

func dist(text string) randvar.Dist {
	d, err := randvar.Parse(text)
	if err != nil {
		panic(err)
	}
	return d
}

// steady is 100 events/s on 1,000 pods for a minute, and five workers that are
// busy for a tenth of the time.
func steady(change ...func(*loadgen.Spec)) *loadgen.Spec {
	spec := &loadgen.Spec{
		Seed: 7, Duration: time.Minute,
		Resources: []loadgen.Resource{{Count: 1000, Events: loadgen.Events{
			Mix: loadgen.Mix{Update: 1}, Arrivals: loadgen.Arrivals{Rate: 100}}}},
		Reconcile: loadgen.Reconcile{Workers: 5, Service: dist("exp(5ms)")},
	}
	for _, c := range change {
		c(spec)
	}
	return spec
}

func run(t *testing.T, c Config) Result {
	r, err := Run(t.Context(), c)
	require.NoError(t, err)
	return r
}

func at(d time.Duration, key uint32) loadgen.Draw {
	return loadgen.Draw{At: d, Key: key, Type: watch.Modified}
}

func arrive(draws ...loadgen.Draw) Arrivals { return &playback{draws} }

// exact is a store that costs nothing.
var exact = Store{Processors: 1}

func TestEverythingIsAccountedFor(t *testing.T) {
	for name, change := range map[string]func(*loadgen.Spec){
		"plain":    func(*loadgen.Spec) {},
		"failures": func(s *loadgen.Spec) { s.Reconcile.Failure = 0.2; s.Reconcile.Retries = 3 },
		"requeues": func(s *loadgen.Spec) { s.Reconcile.RequeueShare = 1; s.Reconcile.RequeueAfter = dist("10s") },
		"faults": func(s *loadgen.Spec) {
			s.Faults = loadgen.Faults{Gone: 500, Disconnect: 7 * time.Second, SlowList: time.Second, Duplicate: 0.1, Stale: 0.1, Throttle: 150}
		},
		"resync":   func(s *loadgen.Spec) { s.Reconcile.Resync = 10 * time.Second },
		"overload": func(s *loadgen.Spec) { s.Reconcile.Service = dist("80ms") },
		"readers":  func(s *loadgen.Spec) { s.Readers = []loadgen.Readers{{Kind: "list", Goroutines: 10}} },
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, Config{Spec: steady(change)})
			assert.InDelta(t, 6000, r.Arrivals, 400)
			assert.EqualValues(t, r.Reconciles, r.QueueWait.Count(), "every item got was reconciled")
			assert.EqualValues(t, r.Reconciles, r.Adds, "every item added was reconciled")
			assert.EqualValues(t, r.Arrivals, r.Settle.Count()+r.Unsettled, "every event was settled or its key given up")
			if name != "failures" {
				assert.Zero(t, r.Unsettled)
			}
		})
	}
}

func TestTimesAreTheContracts(t *testing.T) {
	spec := steady(func(s *loadgen.Spec) {
		s.Reconcile.Workers = 1
		s.Reconcile.Service = dist("10ms")
	})
	const ms = time.Millisecond
	t.Run("an item waits for the one before it", func(t *testing.T) {
		r := run(t, Config{Spec: spec, Store: exact, Arrivals: arrive(at(0, 1), at(4*ms, 2))})
		assert.InDelta(t, 6*ms, r.QueueWait.Max(), float64(ms)/100)
		assert.Equal(t, 3*ms, r.QueueWait.Mean())
		assert.Equal(t, 13*ms, r.Settle.Mean())
		assert.Equal(t, 10*ms, r.Work.Mean())
	})
	t.Run("events of a queued key coalesce, and each is settled", func(t *testing.T) {
		r := run(t, Config{Spec: spec, Store: exact, Arrivals: arrive(at(0, 1), at(1*ms, 2), at(2*ms, 2), at(3*ms, 2))})
		assert.EqualValues(t, 2, r.Coalesced)
		assert.EqualValues(t, 2, r.Reconciles)
		assert.EqualValues(t, 4, r.Settle.Count())
		assert.Equal(t, (10+19+18+17)*ms/4, r.Settle.Mean())
	})
	t.Run("an event of a key in processing is a second reconcile", func(t *testing.T) {
		r := run(t, Config{Spec: spec, Store: exact, Arrivals: arrive(at(0, 1), at(4*ms, 1))})
		assert.EqualValues(t, 2, r.Reconciles)
		assert.Equal(t, 3*ms, r.QueueWait.Mean(), "from its Add, not from the Done that queued it")
	})
	t.Run("an idle worker wakes up first, a busy one need not", func(t *testing.T) {
		r := run(t, Config{Spec: spec, Store: exact, Handover: ms, Arrivals: arrive(at(0, 1), at(5*ms, 2), at(50*ms, 3))})
		assert.Equal(t, (1+6+1)*ms/3, r.QueueWait.Mean())
	})
	t.Run("a batch is delivered when all of it is stored", func(t *testing.T) {
		r := run(t, Config{Spec: spec, Store: Store{Update: ms}, Arrivals: arrive(at(0, 1), at(ms/2, 2), at(ms/2, 3))})
		assert.Equal(t, 28*ms, r.Drain, "stored at 1 ms, the others at 3 ms")
		assert.Equal(t, (11*2+21*2+31*2-1-1)*ms/2/3, r.Settle.Mean())
	})
	t.Run("a slow list keeps back what comes meanwhile", func(t *testing.T) {
		spec := *spec
		spec.Faults = loadgen.Faults{Gone: 2, SlowList: 100 * ms}
		r := run(t, Config{Spec: &spec, Store: exact, Arrivals: arrive(at(0, 1), at(20*ms, 2), at(40*ms, 3))})
		assert.EqualValues(t, 1000, r.Listed)
		assert.InDelta(t, 100*ms, r.Settle.Quantile(0.67)-10*ms, float64(ms), "the second comes with the list")
	})
}

func TestPriorityLetsChangesPassLists(t *testing.T) {
	spec := steady(func(s *loadgen.Spec) { s.Reconcile.Service = dist("40ms") })
	plain := run(t, Config{Spec: spec, Cold: true})
	priority := run(t, Config{Spec: spec, Cold: true, Priority: true})
	assert.EqualValues(t, 1000, plain.Listed)
	assert.EqualValues(t, 1000, priority.Listed)
	assert.Greater(t, plain.Settle.Mean(), 10*priority.Settle.Mean())
}

// In this preset a first list gets its turn in seconds, or not before the load ends.
func TestRestartUnderSteadyLoadStarvesTheList(t *testing.T) {
	spec, err := loadgen.Preset("restart-under-steady-load")
	require.NoError(t, err)
	plain := run(t, Config{Spec: spec, Cold: true})
	priority := run(t, Config{Spec: spec, Cold: true, Priority: true})
	assert.Greater(t, priority.Depth, 0.8*2700, "the objects that do not change wait all the time")
	assert.Less(t, plain.Depth, priority.Depth/2)
	oldest := run(t, Config{Spec: spec, Cold: true, Priority: true, OldestEvery: 4})
	assert.Less(t, oldest.Depth, priority.Depth/2, "one Get of four is of the list")
}

func TestTwoQueuesKeepOutOfEachOthersWay(t *testing.T) {
	spec := steady(func(s *loadgen.Spec) {
		s.Resources[0].Name = "pods"
		s.Resources = append(s.Resources, loadgen.Resource{Kind: "node", Name: "nodes", Count: 100, Events: loadgen.Events{
			Mix: loadgen.Mix{Update: 1}, Arrivals: loadgen.Arrivals{Rate: 10}}})
		s.Reconcile.Service = dist("100ms")
	})
	r := run(t, Config{Spec: spec, Until: time.Minute, Queues: []Queue{
		{Name: "nodes", Resources: []string{"nodes"}, Workers: 5}, {Name: "rest", Workers: 5}}})
	require.Len(t, r.Queues, 2)
	assert.Less(t, r.Queues[0].QueueWait.Quantile(0.5), time.Millisecond)
	assert.Greater(t, r.Queues[1].QueueWait.Quantile(0.5), time.Second)
	assert.Equal(t, r.QueueWait.Count(), r.Queues[0].QueueWait.Count()+r.Queues[1].QueueWait.Count())
	assert.False(t, r.Demand.Stable(), "the second queue is overloaded, though the mean utilisation is not 1")
	assert.Less(t, r.Utilisation, 0.7)
}

func TestUnstableSystemsAreNamed(t *testing.T) {
	for _, tt := range []struct {
		name, bottleneck, advice string
		load                     float64
		change                   func(*loadgen.Spec)
	}{
		{"workers", "workers", "8 would be stable", 1.5, func(s *loadgen.Spec) {
			s.Resources[0].Count, s.Reconcile.Service = 20_000, dist("75ms")
		}},
		{"client limit", "client QPS", "queries a second would be stable", 2, func(s *loadgen.Spec) {
			s.Resources[0].Count = 20_000
			s.Reconcile.Calls, s.Reconcile.QPS, s.Reconcile.Burst = dist("2"), 100, 10
		}},
		{"retries", "retry bucket", "retries a second would be stable", 10, func(s *loadgen.Spec) {
			s.Resources[0].Count, s.Reconcile.Failure = 20_000, 0.5
			s.Resources[0].Events.Arrivals.Kind = "constant"
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, Config{Spec: steady(tt.change), Until: time.Minute})
			assert.False(t, r.Demand.Stable())
			assert.Equal(t, tt.bottleneck, r.Demand.Bottleneck)
			assert.InEpsilon(t, tt.load, r.Demand.Load, 0.1)
			assert.Contains(t, r.Demand.Advice(), tt.advice)
		})
	}
	r := run(t, Config{Spec: steady()})
	assert.True(t, r.Demand.Stable())
	assert.Empty(t, r.Demand.Advice())
	assert.InDelta(t, 0.1, r.Demand.Load, 0.02)
}

func TestSameSeedSameResult(t *testing.T) {
	spec := steady(func(s *loadgen.Spec) { s.Reconcile.Failure = 0.1 })
	text := func(seed uint64) string {
		data, err := json.Marshal(run(t, Config{Spec: spec, Seed: seed}))
		require.NoError(t, err)
		return string(data)
	}
	assert.Equal(t, text(1), text(1))
	assert.NotEqual(t, text(1), text(2))
}

func TestReplicasGiveIntervals(t *testing.T) {
	spec := steady(func(s *loadgen.Spec) { s.Reconcile.Workers, s.Reconcile.Service = 1, dist("exp(5ms)") })
	replicas, err := Replicate(t.Context(), Config{Spec: spec, Until: time.Minute}, 10)
	require.NoError(t, err)
	again, err := Replicate(t.Context(), Config{Spec: spec, Until: time.Minute}, 10)
	require.NoError(t, err)
	utilisation := func(r Result) float64 { return r.Utilisation }
	i := replicas.Interval(utilisation)
	assert.Equal(t, i, again.Interval(utilisation))
	assert.Less(t, i.Low, 0.5)
	assert.Greater(t, i.High, 0.5)
	assert.Less(t, i.High-i.Low, 0.05)
	one := Replicas{Results: replicas.Results[:1]}.Interval(utilisation)
	assert.Equal(t, one.Mean, one.Low)
}

func TestInterruptedReplicasAreKept(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	made := 0
	var mu sync.Mutex
	replicas, err := ReplicateFunc(ctx, Config{Spec: steady()}, 100, func(uint64) Arrivals {
		mu.Lock()
		defer mu.Unlock()
		if made++; made == 50 {
			cancel()
		}
		return nil
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.GreaterOrEqual(t, len(replicas.Results), 50-runtime.GOMAXPROCS(0))
	assert.Less(t, len(replicas.Results), 100)
	for _, r := range replicas.Results {
		assert.Positive(t, r.Arrivals)
	}
}

func TestStudent(t *testing.T) {
	for freedom, want := range map[int]float64{1: 12.706, 2: 4.303, 3: 3.182, 5: 2.571, 10: 2.228, 30: 2.042, 1000: 1.962} {
		assert.InEpsilon(t, want, student(freedom), 0.012, "%d degrees of freedom", freedom)
	}
}

func TestRecordingsTakeThePlaceOfTheSchedule(t *testing.T) {
	spec, err := loadgen.Preset("rolling-update")
	require.NoError(t, err)
	spec.Seed = 3
	_, stream, err := spec.ListWatch()
	require.NoError(t, err)
	recording, err := Record(stream)
	require.NoError(t, err)
	drawn := run(t, Config{Spec: spec})
	played := run(t, Config{Spec: spec, Arrivals: recording.Arrivals()})
	assert.EqualValues(t, recording.Len(), played.Arrivals)
	assert.Equal(t, drawn.Arrivals, played.Arrivals)
	assert.Positive(t, recording.Objects(0))
	assert.Zero(t, recording.Objects(99))
	assert.InEpsilon(t, drawn.Settle.Mean(), played.Settle.Mean(), 0.05)
	again := run(t, Config{Spec: spec, Arrivals: recording.Arrivals()})
	assert.Equal(t, played.Settle.Mean(), again.Settle.Mean())
}

// Ten times as many events need no more memory.
func TestMemoryIsFlat(t *testing.T) {
	allocated := func(d time.Duration) uint64 {
		spec := steady(func(s *loadgen.Spec) { s.Duration, s.Reconcile.Failure = d, 0.05 })
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run(t, Config{Spec: spec})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	short, long := allocated(2*time.Minute), allocated(20*time.Minute)
	assert.Less(t, long, short+100_000, "allocated bytes, for 108,000 events more")
}

func TestWrongConfigurations(t *testing.T) {
	fails := func(s *loadgen.Spec) { s.Reconcile.Failure = 1 }
	endless := func(s *loadgen.Spec) { s.Faults.NoListEnd = true }
	for _, tt := range []struct {
		config Config
		want   string
	}{
		{Config{}, "no spec"},
		{Config{Spec: &loadgen.Spec{}}, "resources"},
		{Config{Spec: steady(), Warmup: time.Hour, Until: time.Minute}, "warmup: found 1h0m0s, expected less than the 1m0s"},
		{Config{Spec: steady(), Warmup: time.Hour}, "warmup: found 1h0m0s, but the simulation ended at"},
		{Config{Spec: steady(), Until: -1}, "expected at least 0"},
		{Config{Spec: steady(fails)}, "no key would ever be settled"},
		{Config{Spec: steady(endless)}, "faults.noListEnd: found true"},
		{Config{Spec: steady(), MaxEvents: 100}, "did not end within 100 events"},
		{Config{Spec: steady(), Queues: []Queue{{}}}, "queue 1: found 0 workers"},
		{Config{Spec: steady(), Queues: []Queue{{Workers: 1, Resources: []string{"nodes"}}}}, `unknown resource "nodes", expected one of pods`},
		{Config{Spec: steady(), Queues: []Queue{{Workers: 1}, {Workers: 1}}}, "queue 2: names no resources and neither does queue 1"},
		{Config{Spec: steady(), Queues: []Queue{{Workers: 1, Resources: []string{"pods"}}, {Workers: 1, Resources: []string{"pods"}}}}, "in another queue already"},
	} {
		_, err := Run(t.Context(), tt.config)
		assert.ErrorContains(t, err, tt.want)
		_, err = Replicate(t.Context(), tt.config, 2)
		assert.ErrorContains(t, err, tt.want)
	}
	_, err := Replicate(t.Context(), Config{Spec: steady()}, 0)
	assert.ErrorContains(t, err, "replicas: found 0, expected 1 to 10000")
}
