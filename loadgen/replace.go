package loadgen

import "time"

// A replacer replaces the pods of one group after the other: those of a
// deployment that rolls, or of a node that fails.
type replacer struct {
	*population
	groups []group
	jobs   []*job
	byNode bool
}

type group struct {
	pods []uint32
	busy bool
}

// A job replaces every pod of a group. Each pod has its successor and runs
// through the script on its own; which one moves next is drawn, so their
// events interleave as those of a real cluster do.
type job struct {
	group   int
	script  []step
	waiting []uint32
	active  []replacement
	window  int // how many are replaced at the same time
}

type replacement struct {
	old, new uint32
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

func newReplacer(p *population) *replacer {
	r := &replacer{population: p, byNode: p.spec.Events.Pattern == patternNodeFailure}
	r.groups = make([]group, len(p.revision))
	if r.byNode {
		r.groups = make([]group, len(p.nodes))
	}
	for key := range p.entities {
		r.settle(uint32(key))
	}
	return r
}

// settle puts a pod that is not being replaced into its group.
func (r *replacer) settle(key uint32) {
	at := r.entities[key].group
	if r.byNode {
		at = r.entities[key].node
	}
	r.groups[at].pods = append(r.groups[at].pods, key)
}

// change makes the next step of one of the jobs under way.
func (r *replacer) change(at time.Duration) change {
	for len(r.jobs) < r.spec.Events.Parallel && r.startJob(at) {
	}
	i := r.random.below(len(r.jobs))
	j := r.jobs[i]
	c := r.work(j)
	if len(j.waiting)+len(j.active) == 0 {
		r.endJob(i)
	}
	return c
}

// startJob begins to replace the group that the skew draws, or the next one
// after it that has pods and is not being replaced. It is false if there is none.
func (r *replacer) startJob(at time.Duration) bool {
	first := r.picker.pick(r.random, len(r.groups), at)
	for i := range r.groups {
		id := (first + i) % len(r.groups)
		chosen := &r.groups[id]
		if chosen.busy || len(chosen.pods) == 0 {
			continue
		}
		j := &job{group: id, waiting: chosen.pods}
		chosen.busy, chosen.pods = true, nil
		if r.byNode {
			r.nodes[id].failed = true
			j.script, j.window = nodeFailureScript, len(j.waiting)
		} else {
			r.revision[id]++
			j.script = rolloutScript
			j.window = (len(j.waiting) + 3) / 4 // maxSurge's default, 25% rounded up
		}
		r.jobs = append(r.jobs, j)
		return true
	}
	return false
}

func (r *replacer) endJob(i int) {
	id, last := r.jobs[i].group, len(r.jobs)-1
	r.groups[id].busy = false
	if r.byNode {
		r.nodes[id].failed = false
	}
	r.jobs[i] = r.jobs[last]
	r.jobs[last] = nil
	r.jobs = r.jobs[:last]
}

// work makes one step of the job.
func (r *replacer) work(j *job) change {
	i := len(j.active)
	if last := len(j.waiting) - 1; last >= 0 && i < j.window {
		j.active = append(j.active, replacement{old: j.waiting[last]})
		j.waiting = j.waiting[:last]
	} else {
		i = r.random.below(len(j.active))
	}
	it := &j.active[i]
	s := j.script[it.done]
	it.done++
	if it.done == len(j.script) { // its last step is about the old pod
		old := it.old
		r.settle(it.new)
		last := len(j.active) - 1
		j.active[i] = j.active[last]
		j.active = j.active[:last]
		return r.advance(old, s.stage)
	}
	switch {
	case !s.successor:
		return r.advance(it.old, s.stage)
	case s.stage == pending:
		c := r.create(int(r.entities[it.old].group))
		it.new = c.key
		return c
	}
	return r.advance(it.new, s.stage)
}
