package loadgen

import (
	"io"
	"iter"
	"slices"
	"strconv"
	"time"
)

// epoch is when every generated stream begins.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// A Generator makes the objects of a workload. Its Next yields the events
// after the initial population.
//
// An object is made when its first event is due, so that a large population of
// which little changes costs little.
type Generator struct {
	stamp
	schedule *Schedule
	makers   []maker
	first    []uint64 // by resource, the resource version of its first object
}

// A maker makes the objects of one resource.
type maker interface {
	// initial makes an object as the first list finds it.
	initial(key uint32) Object
	// change makes the version that the draw leads to.
	change(d draw) Object
}

// A stamp holds what all objects of a moment share.
type stamp struct {
	now     *moment
	version uint64 // resource version last given out
	moments moments
}

// Generator returns a generator at the start of the workload.
func (s *Spec) Generator() (*Generator, error) {
	schedule, err := s.Schedule()
	if err != nil {
		return nil, err
	}
	g := &Generator{schedule: schedule}
	g.setTime(0)
	for i := range schedule.spec.Resources {
		r := &schedule.spec.Resources[i]
		g.first = append(g.first, g.version+1)
		g.version += uint64(r.Count)
		m, err := g.newMaker(i)
		if err != nil {
			return nil, err
		}
		g.makers = append(g.makers, m)
	}
	return g, nil
}

// newMaker makes that of resource i; those before it are there.
func (g *Generator) newMaker(i int) (maker, error) {
	spec := g.schedule.spec
	r, p, id := &spec.Resources[i], g.schedule.populations[i], identity{spec.Seed, uint64(i)}
	if r.pods() {
		m := newPodMaker(&g.stamp, p, id, g.first[i])
		return m, m.measure(r, m)
	}
	m := &objectMaker{stamp: &g.stamp, population: p, identity: id, first: g.first[i], objects: make([]Object, r.Count)}
	switch r.Kind {
	case kindNode:
		m.model = newNodeModel(&g.stamp, r.ManagedFields)
	case kindLease:
		m.model = &leaseModel{&g.stamp, id, r.ManagedFields}
	case kindEndpointSlice:
		model := &sliceModel{stamp: &g.stamp, population: p, identity: id}
		if r.Events.Pattern == patternFollow {
			model.pods = g.makers[slices.Index(g.schedule.following, i)].(*podMaker)
		}
		m.model = model
	case kindCustom:
		m.model = &customModel{&g.stamp, p}
	}
	return m, m.measure(r, m)
}

// Spec returns the workload with its defaults filled in.
func (g *Generator) Spec() *Spec { return g.schedule.spec }

// Population yields what the first list of each resource finds, in order of
// creation, with the index of the resource. It may be read at any time, and
// makes its objects anew each time.
func (g *Generator) Population() iter.Seq2[int, Object] {
	return func(yield func(int, Object) bool) {
		for i := range g.makers {
			for object := range g.First(i) {
				if !yield(i, object) {
					return
				}
			}
		}
	}
}

// Next implements Stream.
func (g *Generator) Next() (Event, error) {
	d, ok := g.schedule.next()
	if !ok {
		return Event{}, io.EOF
	}
	g.setTime(d.at)
	g.version++
	if g.schedule.unpaced {
		d.at = 0
	}
	return Event{At: d.at, Resource: d.resource, Type: eventType(d.stage), Object: g.makers[d.resource].change(d)}, nil
}

// setTime moves the clock that objects are stamped with.
func (s *stamp) setTime(at time.Duration) {
	if now := second(at / time.Second); s.now == nil || now != s.now.second {
		s.now = s.moments.at(now)
	}
}

func (s *stamp) resourceVersion() string { return strconv.FormatUint(s.version, 10) }

// ListWatch returns what an informer's first list finds (running pods, in
// order of creation) and the events that follow it.
func (s *Spec) ListWatch() ([]Object, Stream, error) {
	g, err := s.Generator()
	if err != nil {
		return nil, nil, err
	}
	var population []Object
	for _, object := range g.Population() {
		population = append(population, object)
	}
	return population, g, nil
}

// Types returns an empty object of each resource's type.
func (g *Generator) Types() []Object {
	var types []Object
	for _, r := range g.schedule.spec.Resources {
		types = append(types, emptyObject(r.Kind))
	}
	return types
}

// First yields the initial population of one resource, in order of creation,
// as Population does.
func (g *Generator) First(resource int) iter.Seq[Object] {
	return func(yield func(Object) bool) {
		for key := range g.schedule.spec.Resources[resource].Count {
			if !yield(g.makers[resource].initial(uint32(key))) {
				return
			}
		}
	}
}
