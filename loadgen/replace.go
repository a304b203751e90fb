package loadgen

// A group is the pods that are replaced together: those of a deployment that
// rolls, or of a node that fails.
type group struct {
	pods []*pod
	busy bool
}

// A job replaces every pod of a group. Each pod has its successor and runs
// through the script on its own; which one moves next is drawn, so their
// events interleave as those of a real cluster do.
type job struct {
	group     int
	script    []step
	successor *template // nil: the pod's own
	waiting   []*pod
	active    []*replacement
	window    int // how many are replaced at the same time
}

type replacement struct {
	old, new *pod
	done     int // steps of the script
}

// A step moves the old pod or its successor to a stage.
type step struct {
	successor bool
	stage     stage
}

// A deployment brings up the new pod before it takes down the old one.
var rolloutScript = []step{
	{true, pending}, {true, scheduled}, {true, creating}, {true, running},
	{false, terminating}, {false, finished}, {false, deleted},
}

// A failed node's pods all turn unready, are evicted, and are replaced by
// their replica sets. The kubelet's last words come when it is back.
var nodeFailureScript = []step{
	{false, unready}, {false, terminating},
	{true, pending}, {true, scheduled}, {true, creating}, {true, running},
	{false, finished}, {false, deleted},
}

// settle puts a pod that is not being replaced into its group.
func (g *generator) settle(p *pod) {
	if g.spec.Events.Pattern == patternNodeFailure {
		p.group = p.node
	}
	at := &g.groups[p.group]
	at.pods = append(at.pods, p)
}

// replace makes the next event of one of the jobs under way.
func (g *generator) replace() *pod {
	for len(g.jobs) < g.spec.Events.Parallel && g.startJob() {
	}
	i := g.random.below(len(g.jobs))
	j := g.jobs[i]
	p := g.work(j)
	if len(j.waiting)+len(j.active) == 0 {
		g.endJob(i)
	}
	return p
}

// startJob begins to replace the group that the skew draws, or the next one
// after it that has pods and is not being replaced. It is false if there is none.
func (g *generator) startJob() bool {
	first := g.picker.pick(g.random, len(g.groups))
	for i := range g.groups {
		id := (first + i) % len(g.groups)
		chosen := &g.groups[id]
		if chosen.busy || len(chosen.pods) == 0 {
			continue
		}
		j := &job{group: id, waiting: chosen.pods}
		chosen.busy, chosen.pods = true, nil
		if g.spec.Events.Pattern == patternNodeFailure {
			g.nodes[id].failed = true
			j.script, j.window = nodeFailureScript, len(j.waiting)
		} else {
			g.roll(id)
			j.script, j.successor = rolloutScript, g.deployments[id].template
			j.window = (len(j.waiting) + 3) / 4 // maxSurge's default, 25 % rounded up
		}
		g.jobs = append(g.jobs, j)
		return true
	}
	return false
}

func (g *generator) endJob(i int) {
	id, last := g.jobs[i].group, len(g.jobs)-1
	g.groups[id].busy = false
	if g.spec.Events.Pattern == patternNodeFailure {
		g.nodes[id].failed = false
	}
	g.jobs[i] = g.jobs[last]
	g.jobs[last] = nil
	g.jobs = g.jobs[:last]
}

// work makes one step of the job.
func (g *generator) work(j *job) *pod {
	i := len(j.active)
	if last := len(j.waiting) - 1; last >= 0 && i < j.window {
		j.active = append(j.active, &replacement{old: j.waiting[last]})
		j.waiting = j.waiting[:last]
	} else {
		i = g.random.below(len(j.active))
	}
	r := j.active[i]
	s := j.script[r.done]
	r.done++
	if r.done == len(j.script) {
		g.settle(r.new)
		last := len(j.active) - 1
		j.active[i] = j.active[last]
		j.active[last] = nil
		j.active = j.active[:last]
	}
	switch {
	case !s.successor:
		return g.advance(r.old, s.stage)
	case s.stage == pending:
		t := j.successor
		if t == nil {
			t = r.old.template
		}
		r.new = g.create(t, r.old.group)
		return r.new
	}
	return g.advance(r.new, s.stage)
}
