package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/loadgen"
)

// A Config says what is simulated. Only Spec is required.
type Config struct {
	// Spec is the load and the controller: resources and their events, faults of
	// the watch, readers, and what a reconcile does. It is not changed.
	Spec *loadgen.Spec
	// Arrivals replaces the events that the spec's schedule would draw, by a
	// recording for example. One Arrivals serves one Run.
	Arrivals Arrivals
	// Seed is of everything random, the schedule included; 0 is the spec's own.
	Seed uint64
	// Warmup is how long nothing is counted, from the start.
	Warmup time.Duration
	// Until ends the simulation. At 0 it ends when the arrivals have ended and
	// all of them are settled; requeues that are asked for after the last arrival
	// are then not made.
	Until time.Duration
	// MaxEvents ends, with an error, a simulation that does not come to its end;
	// 0 is a thousand million.
	MaxEvents int64

	// Queues splits the work; none is one queue of Spec.Reconcile.Workers for
	// all resources. The client's rate limit is shared by all.
	Queues []Queue
	// Priority makes the queues priority queues in which objects of lists and
	// resyncs stand behind those that changed, as in controller-runtime.
	Priority bool
	// OldestEvery is that of priority.Config: how often a priority queue hands out what
	// is ready for longest, so that no list starves; 0 is never.
	OldestEvery int
	// Cold begins with the initial list of all objects still to be reconciled.
	Cold bool
	// Handover is how long an idle worker takes to wake up for an item. Some
	// microseconds on a machine with nothing else to do, it only shows where few
	// items wait for a worker.
	Handover time.Duration
	// Background is how many API calls a second others make that share the
	// client's rate limit: reconciles at random, of as many calls as the spec's.
	Background float64
	// Store is what the cache costs; the zero Store is DefaultStore.
	Store Store
}

// A Queue is a work queue with workers of its own.
type Queue struct {
	Name      string
	Resources []string // by name; one queue may name none and takes the rest
	Workers   int
}

// Arrivals is a source of events in the order of their times, as
// [loadgen.Schedule] is.
type Arrivals interface {
	Next() (loadgen.Draw, bool)
}

const defaultMaxEvents = 1_000_000_000

// prepare checks the configuration and fills in what is left out.
func (c *Config) prepare() error {
	if c.Spec == nil {
		return errors.New("no spec, expected a workload")
	}
	c.Seed = cmp.Or(c.Seed, c.Spec.Seed)
	spec, err := c.Spec.Complete()
	if err != nil {
		return err
	}
	spec.Seed = c.Seed
	c.Spec = spec
	c.MaxEvents = cmp.Or(c.MaxEvents, defaultMaxEvents)
	c.Store = cmp.Or(c.Store, DefaultStore)
	if c.Warmup < 0 || c.Until < 0 || c.Handover < 0 {
		return fmt.Errorf("warmup: found %v, until %v, handover %v, expected at least 0", c.Warmup, c.Until, c.Handover)
	}
	if !(c.Background >= 0) || math.IsInf(c.Background, 0) {
		return fmt.Errorf("background: found %v calls a second, expected 0 or more", c.Background)
	}
	if c.Until > 0 && c.Warmup >= c.Until {
		return fmt.Errorf("warmup: found %v, expected less than the %v that are simulated", c.Warmup, c.Until)
	}
	if spec.Faults.NoListEnd {
		return errors.New("faults.noListEnd: found true: no cache would ever be synced; drive shows that")
	}
	if c.Until == 0 && spec.Reconcile.Failure >= 1 && spec.Reconcile.Retries == 0 {
		return errors.New("reconcile.failure: found 1 without a limit of retries: no key would ever be settled; expected less than 1, such a limit, or a time at which the simulation ends")
	}
	return c.prepareQueues()
}

// prepareQueues gives every resource a queue.
func (c *Config) prepareQueues() error {
	if len(c.Queues) == 0 {
		c.Queues = []Queue{{Workers: c.Spec.Reconcile.Workers}}
		return nil
	}
	c.Queues = slices.Clone(c.Queues)
	names := make([]string, len(c.Spec.Resources))
	for i, r := range c.Spec.Resources {
		names[i] = r.Name
	}
	rest := -1
	taken := map[string]bool{}
	for i, q := range c.Queues {
		if q.Workers < 1 {
			return fmt.Errorf("queue %d: found %d workers, expected at least 1", i+1, q.Workers)
		}
		if len(q.Resources) == 0 {
			if rest >= 0 {
				return fmt.Errorf("queue %d: names no resources and neither does queue %d, expected one such queue", i+1, rest+1)
			}
			rest = i
		}
		for _, name := range q.Resources {
			if !slices.Contains(names, name) {
				return fmt.Errorf("queue %d: unknown resource %q, expected one of %s", i+1, name, strings.Join(names, ", "))
			}
			if taken[name] {
				return fmt.Errorf("queue %d: resource %q is in another queue already", i+1, name)
			}
			taken[name] = true
		}
	}
	if len(taken) < len(names) && rest < 0 {
		return errors.New("queues: not every resource has one, expected a queue that names none for the rest")
	}
	return nil
}

// queueOf is the queue of each resource.
func (c *Config) queueOf() []int {
	of := make([]int, len(c.Spec.Resources))
	for i, r := range c.Spec.Resources {
		of[i] = slices.IndexFunc(c.Queues, func(q Queue) bool { return len(q.Resources) == 0 })
		for n, q := range c.Queues {
			if slices.Contains(q.Resources, r.Name) {
				of[i] = n
			}
		}
	}
	return of
}
