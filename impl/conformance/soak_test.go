package conformance

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/ratelimit"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

var (
	soakTime = flag.Duration("soak", 2*time.Second, "how long TestSoak and TestSoakInformer run, all variants of each together")
	soakSeed = flag.Uint64("soak.seed", 0, "seed of the soaks (default random, printed)")
)

// TestSoak runs every rate limiting queue, and so everything below it, under
// producers and failing workers, and ends with counts in balance: each key was
// processed after its last change, never by two workers, and the queue is empty
// and gives its memory back.
func TestSoak(t *testing.T) {
	seed := soakedSeed()
	variants := impl.RateLimitingQueues[string]()
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			t.Logf("-soak=%v -soak.seed=%d", *soakTime, seed)
			limiter := ratelimit.NewItemExponentialFailure[string](10*time.Microsecond, time.Millisecond)
			soak(t, v.New(limiter, workqueue.TypedRateLimitingQueueConfig[string]{}), seed, *soakTime/time.Duration(len(variants)))
		})
	}
}

func soakedSeed() uint64 {
	if *soakSeed != 0 {
		return *soakSeed
	}
	return rand.Uint64()
}

const (
	soakKeys      = 5000
	soakProducers = 4
	soakWorkers   = 16
)

// A soaked key counts its changes, and the change that its last reconcile saw.
type soaked struct {
	changed, seen atomic.Int64
	holders       atomic.Int32
}

func soak(t *testing.T, q workqueue.TypedRateLimitingInterface[string], seed uint64, duration time.Duration) {
	keys := make([]soaked, soakKeys)
	var doubled, gets atomic.Int64
	var calm atomic.Bool // nothing fails any more
	reconcile := func(r *rand.Rand, name string) {
		var i int
		fmt.Sscanf(name, "team/web-%d", &i)
		k := &keys[i]
		if k.holders.Add(1) > 1 {
			doubled.Add(1)
		}
		change := k.changed.Load()
		if r.IntN(10) == 0 {
			runtime.Gosched()
		}
		failed := r.IntN(5) == 0 && !calm.Load()
		if !failed {
			k.seen.Store(change)
			q.Forget(name)
		}
		k.holders.Add(-1)
		if failed {
			q.AddRateLimited(name)
		}
		q.Done(name)
		gets.Add(1)
	}

	var workers, producers sync.WaitGroup
	for w := range soakWorkers {
		workers.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for {
				name, shutdown := q.Get()
				if name != "" {
					reconcile(r, name)
				}
				if shutdown {
					return
				}
			}
		})
	}
	end := time.Now().Add(duration)
	for p := range soakProducers {
		producers.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(1000+p)))
			for n := 0; n%64 != 0 || time.Now().Before(end); n++ {
				i := r.IntN(soakKeys)
				if r.IntN(2) == 0 {
					i = r.IntN(10) // hot keys
				}
				name := fmt.Sprintf("team/web-%d", i)
				keys[i].changed.Add(1)
				if r.IntN(4) == 0 {
					q.AddAfter(name, time.Duration(r.IntN(int(2*time.Millisecond))))
				} else {
					q.Add(name)
				}
			}
		})
	}
	producers.Wait()
	calm.Store(true)

	// What is delayed, or failed and will be tried again, settles within moments,
	// on a machine that is busy with other things within minutes.
	settled := func() bool {
		for i := range keys {
			if keys[i].seen.Load() != keys[i].changed.Load() || q.NumRequeues(fmt.Sprintf("team/web-%d", i)) != 0 {
				return false
			}
		}
		return q.Len() == 0
	}
	require.Eventually(t, settled, 10*time.Minute, 10*time.Millisecond,
		"some key's last change no reconcile saw, or its failures were not forgotten")
	q.ShutDownWithDrain()
	workers.Wait()
	require.Zero(t, doubled.Load(), "keys held by two workers at a time")
	require.Zero(t, q.Len())
	require.Positive(t, gets.Load())
	t.Logf("%d reconciles", gets.Load())
}
