package loadgen

import (
	"math"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// A Draw says which object changes when, and how.
type Draw struct {
	At       time.Duration // from the start; never before its predecessor's
	Resource int           // index in Spec.Resources
	Key      uint32        // of the object within its resource: 0 to Count-1 exist at the start; those of deleted objects are used again
	Type     watch.EventType
}

// A Schedule yields what happens in a workload, in order, without making the
// objects. A [Generator] of the same spec yields the same draws as events.
type Schedule struct {
	spec        *Spec
	populations []*population
	sources     []source
	following   []int // by resource of pods: that of the endpoint slices, or -1
	leading     draw  // the pod's draw that a slice's follows
	leads       bool
	unpaced     bool
}

// A source makes the changes of one population.
type source interface {
	// peek returns when the next change is due; math.MaxInt64 if there is none.
	peek() time.Duration
	next() change
}

// A change moves an object to a stage.
type change struct {
	key   uint32
	stage stage
}

// A draw is a Draw as a generator needs it.
type draw struct {
	at       time.Duration // even where events are as fast as possible
	resource int
	change
}

// Schedule returns what happens after the initial population.
func (s *Spec) Schedule() (*Schedule, error) {
	spec, err := s.Complete()
	if err != nil {
		return nil, err
	}
	it := &Schedule{spec: spec}
	for i := range spec.Resources {
		r := &spec.Resources[i]
		p := newPopulation(r, newRandom(spec.Seed, uint64(2*i)))
		it.populations = append(it.populations, p)
		it.sources = append(it.sources, p.source(spec.Duration, newArrivals(r.Events.Arrivals, newRandom(spec.Seed, uint64(2*i+1)))))
		it.following = append(it.following, -1)
		switch r.Events.Pattern {
		case patternNone:
		case patternFollow:
			for j := range i {
				if spec.Resources[j].pods() {
					it.following[j] = i
					break
				}
			}
		default:
			it.unpaced = r.Events.Arrivals.unpaced()
		}
	}
	return it, nil
}

// Next returns the next draw; false at the end.
func (s *Schedule) Next() (Draw, bool) {
	d, ok := s.next()
	if !ok {
		return Draw{}, false
	}
	if s.unpaced {
		d.at = 0
	}
	return Draw{At: d.at, Resource: d.resource, Key: d.key, Type: eventType(d.stage)}, true
}

func (s *Schedule) next() (draw, bool) {
	if s.leads {
		s.leads = false
		d := s.leading
		slice := s.populations[d.resource].slice(d.key)
		return draw{at: d.at, resource: s.following[d.resource], change: change{slice, running}}, true
	}
	first, at := -1, time.Duration(math.MaxInt64)
	for i, source := range s.sources {
		if due := source.peek(); due < at {
			first, at = i, due
		}
	}
	if first < 0 {
		return draw{}, false
	}
	d := draw{at: at, resource: first, change: s.sources[first].next()}
	if s.following[first] >= 0 && movesEndpoint(d.stage) {
		s.leading, s.leads = d, true
	}
	return d, true
}

// movesEndpoint reports whether a pod that enters the stage changes its
// service's endpoint slice. A pod that is replaced changes it three times, as
// recorded: 1.5 times for each pod that comes or goes.
func movesEndpoint(s stage) bool {
	return s == running || s == unready || s == terminating || s == deleted
}

func eventType(s stage) watch.EventType {
	switch s {
	case pending:
		return watch.Added
	case deleted:
		return watch.Deleted
	}
	return watch.Modified
}
