// Package explain says beforehand what a workload amounts to. Its steps, in order:
//
//  1. [Explain] works out, without running anything, how many events of which
//     type each resource is expected to have, and how large its objects are.
//  2. It offers the controller that load: keys a second, how busy the workers
//     are, API calls a second against their limit, retries against theirs.
//  3. Whatever can't last is a warning.
//
// Counts are expectations over all seeds. Those of one seed scatter about them,
// as Poisson counts do.
package explain

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/informerbench/informerbench/loadgen"
)

// An Explanation is what a workload amounts to.
type Explanation struct {
	Name      string     `json:"name"`
	Seconds   float64    `json:"seconds"` // until the last resource has ended; 0: as fast as possible
	Resources []Resource `json:"resources"`
	Total     Events     `json:"total"`
	Reconcile Reconcile  `json:"reconcile"`
	Warnings  []string   `json:"warnings"`
}

// A Resource is what is expected of one population.
type Resource struct {
	Name       string  `json:"name"`
	Kind       string  `json:"kind"`
	Pattern    string  `json:"pattern"`
	Population int     `json:"population"` // at the start
	End        float64 `json:"end"`        // objects at the end
	Events     Events  `json:"events"`
	Life       *Life   `json:"life,omitempty"` // pattern lifecycle

	Bytes       int     `json:"bytes"`       // of an object of the initial population, as JSON
	BytesSecond float64 `json:"bytesSecond"` // sent by watch, as JSON
	Heap        int64   `json:"heap"`        // bytes of the initial population's objects, which share what they have in common
}

// Events counts events after the initial population.
type Events struct {
	Added    float64 `json:"added"`
	Modified float64 `json:"modified"`
	Deleted  float64 `json:"deleted"`
	Rate     float64 `json:"rate"` // a second, on average; 0: as fast as possible
	Peak     float64 `json:"peak"` // a second, expected while the load is highest
}

// All is the number of events of all types.
func (e Events) All() float64 { return e.Added + e.Modified + e.Deleted }

// A Life is the average life of an object.
type Life struct {
	Modifications float64 `json:"modifications"`
	Seconds       float64 `json:"seconds"` // from its add to its delete; 0: it lives on
}

// Explain works out what the workload amounts to.
func Explain(s *loadgen.Spec) (*Explanation, error) {
	g, err := s.Generator()
	if err != nil {
		return nil, err
	}
	spec := g.Spec()
	e := &Explanation{Name: spec.Name, Warnings: []string{}}
	var end time.Duration
	for i := range spec.Resources {
		r, length := forecast(spec, i)
		e.Resources = append(e.Resources, r)
		end = max(end, length)
	}
	e.Seconds = end.Seconds()
	e.follow(spec)
	if err := e.measure(g); err != nil {
		return nil, err
	}
	for _, r := range e.Resources {
		e.Total.Added += r.Events.Added
		e.Total.Modified += r.Events.Modified
		e.Total.Deleted += r.Events.Deleted
		e.Total.Rate += r.Events.Rate
		e.Total.Peak += r.Events.Peak
	}
	if e.Seconds > 0 {
		e.Total.Rate = e.Total.All() / e.Seconds
	}
	e.offer(spec)
	return e, nil
}

// sampled is how many objects of a population are made to see how large they are.
const sampled = 1000

// measure makes objects of each resource and weighs them: once with what the
// pods of a deployment share, once without.
func (e *Explanation) measure(g *loadgen.Generator) error {
	for i := range e.Resources {
		r, spec := &e.Resources[i], g.Spec().Resources[i]
		objects, all := weigh(g, i)
		_, own := weigh(g, i)
		n := int64(len(objects))
		r.Heap = own * int64(r.Population) / n
		if spec.Replicas > 0 {
			deployments := int64((r.Population + spec.Replicas - 1) / spec.Replicas)
			r.Heap += max(0, all-own) * deployments / min(n, deployments)
		}
		total, weighed := 0, 0
		for k := 0; k < len(objects); k += max(1, len(objects)/100) {
			b, err := json.Marshal(objects[k])
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name, err)
			}
			total += len(b)
			weighed++
		}
		r.Bytes = total / weighed
		r.BytesSecond = r.Events.Rate * float64(r.Bytes)
	}
	return nil
}

// weigh makes the first objects of a resource and sees by how much the heap grows.
func weigh(g *loadgen.Generator, resource int) (objects []loadgen.Object, grown int64) {
	objects = make([]loadgen.Object, 0, sampled)
	before := heap()
	for object := range g.First(resource) {
		if objects = append(objects, object); len(objects) == sampled {
			break
		}
	}
	grown = max(0, heap()-before)
	runtime.KeepAlive(objects)
	return objects, grown
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// warn adds a sentence to the warnings.
func (e *Explanation) warn(format string, args ...any) {
	e.Warnings = append(e.Warnings, fmt.Sprintf(format, args...))
}

// perSecond divides a count by a length, 0 where time does not matter.
func perSecond(count float64, length time.Duration) float64 {
	if length <= 0 || math.IsInf(count, 0) {
		return 0
	}
	return count / length.Seconds()
}
