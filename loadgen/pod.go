package loadgen

// A pod is what the maker keeps of one: any version is made from it, and from
// what pods share. It has no pointers, so that many pods cost the garbage
// collector nothing.
type pod struct {
	birth    uint32
	group    uint32 // its deployment
	revision uint32 // of the deployment
	node     uint32 // from scheduled on
	restarts int32

	created, scheduled, started, readiness, reported, terminated second

	up        second // when the container's state was entered
	container containerState
	stage     stage
	known     bool // else the pod is as at the start
	ready     bool
	bound     bool // to a node
	leaving   bool // deletion was asked for
}

// A containerState is that of a pod's container. The pod's phase, and what the
// kubelet has reported, follow from it.
type containerState uint8

const (
	absent containerState = iota // no kubelet has seen the pod
	waiting
	up
	ended
)

// enter changes the pod as it enters the stage, and the stages before running
// that it has left out.
func (p *pod) enter(s stage, node uint32, now second) {
	if s == running {
		for between := p.stage + 1; between < running; between++ {
			p.enter(between, node, now)
		}
	}
	p.stage = s
	switch s {
	case scheduled:
		p.bound, p.node, p.scheduled = true, node, now
	case creating:
		p.started, p.container = now, waiting
		p.report(false, now)
	case running:
		p.container, p.up = up, now
		p.report(true, now)
	case restarted:
		p.stage = running
		p.container, p.up, p.reported = up, now, now
		p.restarts++
	case unready:
		p.report(false, now)
	case finished:
		p.container, p.up = ended, now
		p.report(false, now)
	case terminating:
		p.leaving, p.terminated = true, now
	case deleted:
		if !p.leaving {
			p.leaving, p.terminated = true, now
		}
	}
}

// report is what a kubelet does when the pod's readiness changes.
func (p *pod) report(ready bool, now second) {
	p.ready, p.readiness, p.reported = ready, now, now
}

// A podMaker makes versions of pods.
type podMaker struct {
	*stamp
	*population
	identity
	payload
	first     uint64 // resource version of the first pod
	nodes     []node
	revisions []revisions // by deployment
	pods      []pod       // by key
	shared    [1024]conditionsEntry
	last      pod      // that changed
	lastNames podNames // its texts
}

// revisions are those of a deployment that pods may have: a roll-out is over
// before the next one begins. The first one is that of the initial population,
// which may be asked for at any time.
type revisions struct{ first, previous, current *template }

func newPodMaker(s *stamp, p *population, id identity, first uint64) *podMaker {
	m := &podMaker{
		stamp: s, population: p, identity: id, first: first,
		nodes:     make([]node, len(p.nodes)),
		revisions: make([]revisions, p.groups),
		pods:      make([]pod, len(p.entities), cap(p.entities)),
	}
	for i := range m.nodes {
		m.nodes[i] = newNode(uint32(i))
	}
	return m
}

// initial implements maker: a pod that runs since the start.
func (m *podMaker) initial(key uint32) Object {
	p := m.atBegin(key)
	t := m.template(&p)
	return m.object(&p, t, m.names(key, t, m.first+uint64(key)))
}

// atBegin is a pod of the initial population.
func (m *podMaker) atBegin(key uint32) pod {
	p := pod{birth: key, group: key % uint32(m.groups), known: true}
	p.enter(running, m.initialNode(key), 0)
	return p
}

// change implements maker.
func (m *podMaker) change(d draw) Object {
	e := &m.entities[d.key]
	for int(d.key) >= len(m.pods) {
		m.pods = append(m.pods, pod{})
	}
	p := &m.pods[d.key]
	switch {
	case d.stage == pending:
		*p = pod{birth: e.birth, group: e.group, revision: m.revision[e.group], created: m.now.second, known: true}
	case !p.known:
		*p = m.atBegin(d.key)
		fallthrough
	default:
		p.enter(d.stage, e.node, m.now.second)
	}
	m.last = *p
	if d.stage == deleted {
		*p = pod{}
	}
	t := m.template(&m.last)
	m.lastNames = m.names(m.last.birth, t, m.version)
	return m.object(&m.last, t, m.lastNames)
}

// template returns that of the pod's revision.
func (m *podMaker) template(p *pod) *template {
	r := &m.revisions[p.group]
	switch {
	case p.revision == 0:
		if r.first == nil {
			r.first = m.newTemplate(int(p.group), 0, m.moments.at(0))
		}
		return r.first
	case r.current != nil && r.current.revision == p.revision:
		return r.current
	case r.previous != nil && r.previous.revision == p.revision:
		return r.previous
	}
	r.previous, r.current = r.current, m.newTemplate(int(p.group), p.revision, m.now)
	return r.current
}
