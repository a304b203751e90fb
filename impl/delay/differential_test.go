package delay

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
)

// retries counts a queue's retries metric, the only one that delaying adds.
type retries struct {
	workqueue.MetricsProvider
	n int
}

type counter struct{ n *int }

func (c counter) Inc()                                                    { *c.n++ }
func (c counter) Dec()                                                    {}
func (c counter) Set(float64)                                             {}
func (c counter) Observe(float64)                                         {}
func (r *retries) ignored() counter                                       { return counter{new(int)} }
func (r *retries) NewRetriesMetric(string) workqueue.CounterMetric        { return counter{&r.n} }
func (r *retries) NewDepthMetric(string) workqueue.GaugeMetric            { return r.ignored() }
func (r *retries) NewAddsMetric(string) workqueue.CounterMetric           { return r.ignored() }
func (r *retries) NewLatencyMetric(string) workqueue.HistogramMetric      { return r.ignored() }
func (r *retries) NewWorkDurationMetric(string) workqueue.HistogramMetric { return r.ignored() }
func (r *retries) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return r.ignored()
}
func (r *retries) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return r.ignored()
}

// replay runs operations on a variant and on client-go's queue under one fake
// clock and compares after each what is ready, in which order, and the retries.
// Two bytes are an operation. Every ready time is distinct, because client-go
// leaves the order of equal ones open.
func replay(t *testing.T, new newQueue, ops []byte) {
	synctest.Test(t, func(t *testing.T) {
		fake := clocktesting.NewFakeClock(time.Unix(0, 0))
		var ourRetries, theirRetries retries
		ours := new(workqueue.TypedDelayingQueueConfig[string]{Name: "ours", MetricsProvider: &ourRetries, Clock: fake})
		theirs := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Name: "theirs", MetricsProvider: &theirRetries, Clock: fake})
		defer ours.ShutDown()
		defer theirs.ShutDown()
		for i := 0; i+1 < len(ops); i += 2 {
			op, arg := ops[i]%8, ops[i+1]
			key := fmt.Sprint("key", arg%13)
			switch op {
			case 0, 1, 2, 3:
				d := time.Duration(arg)*time.Duration(arg)*time.Duration(arg)*time.Microsecond + time.Duration(i)
				ours.AddAfter(key, d)
				theirs.AddAfter(key, d)
			case 4:
				ours.Add(key)
				theirs.Add(key)
			case 5, 6:
				fake.Step(time.Duration(arg) * time.Duration(arg) * 10 * time.Microsecond)
			case 7:
				synctest.Wait()
				require.Equal(t, take(theirs), take(ours), "operation %d", i/2)
			}
			synctest.Wait()
			require.Equal(t, theirs.Len(), ours.Len(), "operation %d: %d(%d)", i/2, op, arg)
			require.Equal(t, theirRetries.n, ourRetries.n, "retries after operation %d", i/2)
		}
		fake.Step(time.Hour)
		synctest.Wait()
		require.Equal(t, take(theirs), take(ours), "at the end")
	})
}

func TestMatchesClientGo(t *testing.T) {
	for name, new := range variants {
		t.Run(name, func(t *testing.T) {
			for range 30 {
				seed := rand.Uint64()
				t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(seed, 0))
					ops := make([]byte, 600)
					for i := range ops {
						ops[i] = byte(rng.Uint32())
					}
					replay(t, new, ops)
				})
			}
		})
	}
}

func FuzzMatchesClientGo(f *testing.F) {
	f.Add([]byte{0, 200, 0, 100, 5, 255, 7, 0, 0, 3, 5, 10, 7, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		for name, new := range variants {
			t.Run(name, func(t *testing.T) { replay(t, new, ops[:min(len(ops), 400)]) })
		}
	})
}
