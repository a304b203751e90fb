package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
)

// An entry of a log says what happened to a key, and when.
type entry struct {
	step byte
	key  key
	at   time.Duration
}

func (e entry) String() string { return fmt.Sprintf("%c %d at %v", e.step, e.key, e.at) }

// The simulation is held against a controller of goroutines, on client-go's
// queue, limiters and client-side rate limit, in a bubble where time jumps as
// well. Both draw the same random numbers in the same order; then every key is
// handed out and done in the same order and, but for the rounding of upstream's
// floating point token buckets, at the same times.
func TestSameAsGoroutinesOnUpstreamsQueue(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			c := randomConfig(rand.New(rand.NewPCG(seed, 0)))
			require.NoError(t, c.prepare())
			simulated := simulatedLog(t, c)
			real := realLog(t, c)
			require.NotEmpty(t, simulated)
			require.Len(t, simulated, len(real), "%+v", c.Spec.Reconcile)
			for i, want := range real {
				got := simulated[i]
				if want.step != got.step || want.key != got.key || (want.at-got.at).Abs() > time.Microsecond {
					require.Failf(t, "logs differ", "entry %d: real %v, simulated %v, of %+v", i, want, got, c.Spec.Reconcile)
				}
			}
		})
	}
}

// randomConfig is of a controller that is busy but finishes: everything in it
// comes at random nanoseconds, so that nothing happens at the same time.
func randomConfig(r *rand.Rand) Config {
	text := func(format string, args ...any) randvar.Dist {
		d, err := randvar.Parse(fmt.Sprintf(format, args...))
		if err != nil {
			panic(err)
		}
		return d
	}
	spec := &loadgen.Spec{
		Seed: r.Uint64(), Duration: 10 * time.Second,
		Resources: []loadgen.Resource{{Count: 1 + r.IntN(200), Events: loadgen.Events{
			Mix: loadgen.Mix{Update: 1}, Arrivals: loadgen.Arrivals{Rate: 50}}}},
		Reconcile: loadgen.Reconcile{
			Workers: 1 + r.IntN(5), Service: text("exp(%dms)", 1+r.IntN(40)),
			Failure: 0.3 * r.Float64(), Retries: r.IntN(4),
			Limiter: loadgen.Limiter{BaseDelay: 7 * time.Millisecond, MaxDelay: time.Second, Rate: 20, Burst: 1 + r.IntN(20)},
		},
	}
	if r.IntN(2) == 0 {
		spec.Reconcile.Calls, spec.Reconcile.CallLatency = text("%d", 1+r.IntN(3)), text("exp(3ms)")
		if r.IntN(2) == 0 {
			spec.Reconcile.QPS, spec.Reconcile.Burst = 40+100*r.Float64(), 1+r.IntN(50)
		}
	}
	if r.IntN(2) == 0 {
		spec.Reconcile.RequeueShare, spec.Reconcile.RequeueAfter = 0.3, text("exp(500ms)")
	}
	return Config{Spec: spec, Until: 15 * time.Second, Store: Store{Processors: 1}}
}

func simulatedLog(t *testing.T, c Config) (log []entry) {
	schedule, err := c.Spec.Schedule()
	require.NoError(t, err)
	e := newEngine(&c, schedule)
	e.watched = func(step byte, k key) { log = append(log, entry{step, k, e.clock.now}) }
	require.NoError(t, e.run(t.Context()))
	return log
}

func realLog(t *testing.T, c Config) (log []entry) {
	synctest.Test(t, func(t *testing.T) {
		r := c.Spec.Reconcile
		q := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedMaxOfRateLimiter(
			workqueue.NewTypedItemExponentialFailureRateLimiter[key](r.Limiter.BaseDelay, r.Limiter.MaxDelay),
			&workqueue.TypedBucketRateLimiter[key]{Limiter: rate.NewLimiter(rate.Limit(r.Limiter.Rate), r.Limiter.Burst)},
		))
		var api flowcontrol.RateLimiter
		if r.QPS > 0 {
			api = flowcontrol.NewTokenBucketRateLimiter(float32(r.QPS), r.Burst)
		}
		begin := time.Now()
		schedule, err := c.Spec.Schedule()
		require.NoError(t, err)
		picks := uint64(0)
		var mu sync.Mutex
		over := false
		locked := func(f func()) {
			mu.Lock()
			defer mu.Unlock()
			f()
		}
		record := func(step byte, k key) {
			if !over {
				log = append(log, entry{step, k, time.Since(begin)})
			}
		}
		var wg sync.WaitGroup
		for range r.Workers {
			wg.Go(func() {
				for {
					k, shutdown := q.Get()
					if shutdown {
						return
					}
					var random *rand.Rand
					locked(func() {
						record('g', k)
						picks++
						random = rand.New(rand.NewPCG(c.Seed, picks))
					})
					<-time.After(seconds(r.Service.Sample(random)))
					for range int(math.Round(r.Calls.Sample(random))) {
						latency := seconds(r.CallLatency.Sample(random))
						if api != nil {
							assert.NoError(t, api.Wait(t.Context()))
						}
						<-time.After(latency)
					}
					again := time.Duration(0)
					failed := r.Failure > 0 && randvar.Float64(random) < r.Failure
					if !failed && r.RequeueShare > 0 && randvar.Float64(random) < r.RequeueShare {
						again = seconds(r.RequeueAfter.Sample(random))
					}
					locked(func() { record('d', k) })
					switch {
					case failed && (r.Retries == 0 || q.NumRequeues(k) < r.Retries):
						q.AddRateLimited(k)
					default:
						q.Forget(k)
						if again > 0 {
							q.AddAfter(k, again)
						}
					}
					q.Done(k)
				}
			})
		}
		for d, ok := schedule.Next(); ok; d, ok = schedule.Next() {
			<-time.After(d.At - time.Since(begin))
			q.Add(keyOf(d.Resource, d.Key))
		}
		<-time.After(c.Until - time.Since(begin))
		locked(func() { over = true })
		q.ShutDown()
		wg.Wait()
	})
	return log
}
