package drive

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"k8s.io/client-go/tools/cache"
)

// probes is how often a second the cache is asked for the object that changed
// last, to see how stale it is.
const probes = 250

// probe records the staleness of the caches until ctx ends: of the object that
// changed last, as that is where a reader may see something old.
func (d *drive) probe(ctx context.Context) {
	m := d.meters.add(Staleness)
	ticker := time.NewTicker(time.Second / probes)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if n, ok := d.ledger.lastChange(); ok {
			m.record(d.ledger.staleness(n, n.resource.read(cache.NewObjectName(n.namespace, n.name).String())))
		}
	}
}

// read returns the state in which the cache holds an object.
func (r *resource) read(key string) version {
	obj, exists, _ := r.store.GetByKey(key) // never fails
	if !exists {
		return gone
	}
	return version{rv: obj.(loadgen.Object).GetResourceVersion()}
}

// startReaders runs the readers beside the load, on the first resource's cache.
func (d *drive) startReaders(ctx context.Context) {
	for i, readers := range d.spec.Readers {
		for j := range readers.Goroutines {
			random := rand.New(rand.NewPCG(d.config.Seed, uint64(i)<<32|uint64(j)))
			d.background.Go(func() { d.read(ctx, readers, random) })
		}
	}
}

// refresh is after how many reads a reader learns the keys anew.
const refresh = 10_000

func (d *drive) read(ctx context.Context, readers loadgen.Readers, random *rand.Rand) {
	m := d.meters.add(Read)
	store := d.resources[0].store
	var pause time.Duration
	if readers.Rate > 0 {
		pause = seconds(float64(readers.Goroutines) / readers.Rate)
	}
	var keys []string
	due := time.Now().Add(time.Duration(random.Int64N(int64(pause) + 1)))
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	for n := 0; ; n++ {
		if pause > 0 {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			due = due.Add(pause)
			timer.Reset(time.Until(due))
		} else if ctx.Err() != nil {
			return
		}
		if n%refresh == 0 && readers.Kind != "list" {
			keys = store.ListKeys()
			if readers.Kind == "by-index" {
				keys = store.ListIndexFuncValues(namespaceIndex)
			}
		}
		begin := time.Now()
		switch {
		case readers.Kind == "list":
			store.List()
		case len(keys) == 0:
		case readers.Kind == "by-index":
			_, _ = store.ByIndex(namespaceIndex, keys[random.IntN(len(keys))])
		default:
			_, _, _ = store.GetByKey(keys[random.IntN(len(keys))])
		}
		m.record(time.Since(begin))
	}
}
