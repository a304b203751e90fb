package loadgen

import (
	"io"

	"k8s.io/apimachinery/pkg/watch"
)

// Stream yields the initial population as added events at time 0, then the
// load. A spec that is out of range shows as the first Next's error.
func (s *Spec) Stream() Stream {
	population, load, err := s.ListWatch()
	return &listThenWatch{population, load, err}
}

// ListWatch returns what an informer's first list finds (running pods, in
// order of creation) and the events that follow it.
func (s *Spec) ListWatch() ([]Object, Stream, error) {
	spec := *s
	if err := spec.validate(); err != nil {
		return nil, nil, err
	}
	g := newGenerator(&spec)
	population := make([]Object, len(g.live))
	for i, p := range g.live {
		population[i] = p.version
	}
	return population, g, nil
}

type listThenWatch struct {
	population []Object
	load       Stream
	err        error
}

func (s *listThenWatch) Next() (Event, error) {
	if s.err != nil {
		return Event{}, s.err
	}
	if len(s.population) == 0 {
		return s.load.Next()
	}
	object := s.population[0]
	s.population[0] = nil
	s.population = s.population[1:]
	return Event{Type: watch.Added, Object: object}, nil
}

// unpaced is the rate by which objects are stamped when a spec gives none.
const unpaced Rate = 1000

// A generator yields the events after the initial population.
type generator struct {
	maker
	picker picker
	sent   int
	length int

	deployments []*deployment
	live        []*pod // pattern mix: all pods, by rank
	starting    []*pod // pattern mix: those not yet running, and some that died meanwhile

	// Other patterns: a group is a deployment or a node.
	groups []group
	jobs   []*job
}

type deployment struct {
	revision int
	template *template
}

func newGenerator(spec *Spec) *generator {
	g := &generator{
		maker:  maker{spec: spec, random: newRandom(spec.Seed), nodes: newNodes(spec.Objects.Nodes)},
		picker: newPicker(spec.Objects.Skew),
		length: spec.Events.length(),
	}
	g.setTime(0)
	g.deployments = make([]*deployment, deployments(spec))
	for i := range g.deployments {
		g.deployments[i] = &deployment{}
		g.roll(i)
	}
	switch spec.Events.Pattern {
	case patternRollout:
		g.groups = make([]group, len(g.deployments))
	case patternNodeFailure:
		g.groups = make([]group, len(g.nodes))
	}
	for i := range spec.Objects.Count {
		d := i % len(g.deployments)
		p := g.create(g.deployments[d].template, d)
		p.node = g.random.below(len(g.nodes))
		g.enter(p, scheduled)
		g.enter(p, creating)
		g.enter(p, running)
		g.live = append(g.live, p)
		if g.groups != nil {
			g.settle(p)
		}
	}
	return g
}

// roll gives the deployment its next revision.
func (g *generator) roll(d int) {
	it := g.deployments[d]
	it.revision++
	it.template = newTemplate(g.random, d, it.revision, g.spec.Objects.Namespaces, g.now.Time, g.spec.Objects.ManagedFields)
}

// Next implements Stream.
func (g *generator) Next() (Event, error) {
	if g.sent == g.length {
		return Event{}, io.EOF
	}
	rate := g.spec.Events.Rate
	at := rate.Due(g.sent)
	if rate > 0 {
		g.setTime(at)
	} else {
		g.setTime(unpaced.Due(g.sent))
	}
	g.sent++
	var p *pod
	if g.groups != nil {
		p = g.replace()
	} else {
		p = g.mix()
	}
	kind := watch.Modified
	switch p.stage {
	case pending:
		kind = watch.Added
	case deleted:
		kind = watch.Deleted
	}
	return Event{At: at, Type: kind, Object: p.version}, nil
}

// advance moves a pod to a stage by a new version of it.
func (g *generator) advance(p *pod, s stage) *pod {
	if s == scheduled {
		p.node = g.healthyNode()
	}
	g.renew(p)
	g.enter(p, s)
	return p
}

// healthyNode returns a random node that has not failed; at least half of them have not.
func (g *generator) healthyNode() int {
	for {
		if n := g.random.below(len(g.nodes)); !g.nodes[n].failed {
			return n
		}
	}
}

// mix makes an event of a type drawn by weight. Updates bring up the pods that
// are starting, and beyond that go to the pods that the skew draws.
func (g *generator) mix() *pod {
	weights := g.spec.Events.Mix
	x := g.random.float() * (weights.Add + weights.Update + weights.Delete)
	switch {
	case x < weights.Add || len(g.live) == 0:
		d := g.random.below(len(g.deployments))
		p := g.create(g.deployments[d].template, d)
		g.live = append(g.live, p)
		g.starting = append(g.starting, p)
		return p
	case x < weights.Add+weights.Update:
		if p := g.nextStarting(); p != nil {
			return g.advance(p, p.stage+1)
		}
		return g.advance(g.live[g.picker.pick(g.random, len(g.live))], restarted)
	}
	i, last := g.random.below(len(g.live)), len(g.live)-1
	p := g.live[i]
	g.live[i] = g.live[last] // the youngest pod takes over the rank
	g.live[last] = nil
	g.live = g.live[:last]
	return g.advance(p, deleted)
}

// nextStarting draws a pod that is not yet running, nil if there is none. The
// last stage before running takes it off the list.
func (g *generator) nextStarting() *pod {
	for len(g.starting) > 0 {
		i, last := g.random.below(len(g.starting)), len(g.starting)-1
		p := g.starting[i]
		if p.stage < creating {
			return p
		}
		g.starting[i] = g.starting[last]
		g.starting[last] = nil
		g.starting = g.starting[:last]
		if p.stage == creating {
			return p
		}
	}
	return nil
}
