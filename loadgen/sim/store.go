package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
)

// Store is what the cache between the watch and the queue costs.
type Store struct {
	// Update is the time that the informer needs for one event, from the FIFO to
	// the handler's Add, when nobody reads.
	Update time.Duration
	// Item is how long a reader holds the store's lock for one object of a List
	// or of an index.
	Item time.Duration
	// Exclusive says that readers keep the writer out, as client-go's lock does.
	// The readers of a snapshot do not.
	Exclusive bool
	// Processors share the readers' work; more readers than these hold the lock
	// for longer.
	Processors int
}

// DefaultStore is client-go's on two processors: 10,000 pods are listed in 14 to
// 24 ns of CPU time each. The suite in the folder bench measures it on yours.
var DefaultStore = Store{Update: 2 * time.Microsecond, Item: 20 * time.Nanosecond, Exclusive: true, Processors: 2}

// A crowd is a group of readers as the writer meets it.
type crowd struct {
	hold    float64 // seconds of a read
	rate    float64 // reads a second; 0 is without pause
	readers float64
}

// crowds are the readers beside a load, of which a list reads all objects and an
// index those of one namespace.
func (s Store) crowds(spec *loadgen.Spec) []crowd {
	if !s.Exclusive {
		return nil
	}
	objects, namespaces := 0, 0
	for _, r := range spec.Resources {
		objects += r.Count
		namespaces += max(1, r.Namespaces)
	}
	var cs []crowd
	for _, r := range spec.Readers {
		items := 1
		switch r.Kind {
		case "list":
			items = objects
		case "by-index":
			items = objects / namespaces
		}
		crowding := max(1, float64(r.Goroutines)/float64(max(1, s.Processors)))
		cs = append(cs, crowd{
			hold:    float64(max(1, items)) * s.Item.Seconds() * crowding,
			rate:    r.Rate,
			readers: float64(r.Goroutines),
		})
	}
	return cs
}

// wait is how long the writer waits for the lock: until the last of the readers
// that are in it when it asks has left, since later ones queue behind it.
//
// Readers that come at random find the writer waiting t or less with the
// probability that none began within the last hold-t; of n readers without pause
// the last one leaves after the largest of n uniform remainders.
//
// Measured on a busy machine beside lists of 10,000 pods, whose mean time then
// was the hold: of 10 readers without pause the median is 4.2 ms where this says
// 4.2 ms, but the p99 185 ms, since the scheduler has its say too; of 10 that
// pause for 10 ms the mean is 70 µs where this says 120 µs.
func wait(cs []crowd, r *rand.Rand) time.Duration {
	longest := 0.0
	for _, c := range cs {
		u := 1 - randvar.Float64(r)
		if c.rate > 0 {
			longest = max(longest, c.hold+math.Log(u)/c.rate)
		} else if c.readers > 0 {
			longest = max(longest, c.hold*math.Pow(u, 1/c.readers))
		}
	}
	return seconds(longest)
}

// seconds rounds to nanoseconds.
func seconds(s float64) time.Duration {
	return time.Duration(math.Round(min(s*1e9, math.MaxInt64/2)))
}
