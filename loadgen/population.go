package loadgen

import (
	"cmp"
	"math"
	"math/bits"
	"strconv"
	"time"
)

// A stage of an object's life, entered by one event. Only pods know them all;
// the others are added, changed and deleted.
type stage uint8

const (
	pending     stage = iota // ADDED: created by its replica set
	scheduled                // bound to a node
	creating                 // the kubelet has seen it
	running                  // its containers are up and ready; any change of what is no pod
	restarted                // a container died and came back before a probe saw it
	unready                  // its node no longer answers
	terminating              // deletion asked for
	finished                 // its containers have ended
	deleted                  // DELETED
)

// A population is what a schedule knows of the objects of a resource.
type population struct {
	spec     *Resource
	random   random
	picker   picker
	entities []entity // by key
	free     []uint32 // keys of deleted objects, the last one freed last
	born     uint32   // objects so far
	groups   int      // deployments
	slices   int      // endpoint slices a deployment
	nodes    []nodeState
	revision []uint32 // by deployment
}

// An entity is an object as far as the schedule goes.
type entity struct {
	birth uint32 // number among those ever born; its name and UID come from it
	group uint32 // its deployment
	node  uint32 // from scheduled on
	stage stage
}

type nodeState struct{ failed bool }

// sliceEndpoints is how many endpoints the controller puts into one slice.
const sliceEndpoints = 100

func newPopulation(r *Resource, random random) *population {
	p := &population{spec: r, random: random, picker: newPicker(r.Skew), groups: r.groups(), slices: r.slices()}
	p.revision = make([]uint32, p.groups)
	p.nodes = make([]nodeState, r.Nodes)
	p.entities = make([]entity, r.Count, r.Count+r.Count/8)
	for i := range p.entities {
		p.entities[i] = entity{birth: uint32(i), group: uint32(i % p.groups), stage: running}
		if r.pods() {
			p.entities[i].node = p.initialNode(uint32(i))
		}
	}
	p.born = uint32(r.Count)
	return p
}

// initialNode is where a pod of the initial population runs.
func (p *population) initialNode(key uint32) uint32 {
	high, _ := bits.Mul64(mix64(uint64(key)+0x9e3779b97f4a7c15), uint64(p.spec.Nodes))
	return uint32(high)
}

// source returns what makes the population's changes until the deadline, 0 for none.
func (p *population) source(deadline time.Duration, a *arrivals) source {
	e := p.spec.Events
	deadline, limit := cmp.Or(deadline, math.MaxInt64), cmp.Or(e.Count, math.MaxInt)
	var c changer
	switch e.Pattern {
	case patternLifecycle:
		return newLifecycle(p, a, limit, deadline)
	case patternMix:
		c = newMixer(p)
	case patternHeartbeat:
		c = &heartbeat{population: p}
	case patternRollout, patternNodeFailure:
		c = newReplacer(p)
	default:
		return never{}
	}
	return &paced{arrivals: a, due: a.next(), left: limit, deadline: deadline, changer: c}
}

type never struct{}

func (never) peek() time.Duration { return math.MaxInt64 }
func (never) next() change        { return change{} }

// A changer makes the next change, due at that time.
type changer interface {
	change(at time.Duration) change
}

// paced makes a change at each arrival.
type paced struct {
	arrivals *arrivals
	due      time.Duration
	left     int
	deadline time.Duration
	changer  changer
}

func (p *paced) peek() time.Duration {
	if p.left == 0 || p.due >= p.deadline {
		return math.MaxInt64
	}
	return p.due
}

func (p *paced) next() change {
	at := p.due
	p.due = p.arrivals.next()
	p.left--
	return p.changer.change(at)
}

// create adds an object of the deployment.
func (p *population) create(group int) change {
	var key uint32
	if last := len(p.free) - 1; last >= 0 {
		key, p.free = p.free[last], p.free[:last]
	} else {
		key = uint32(len(p.entities))
		p.entities = append(p.entities, entity{})
	}
	p.entities[key] = entity{birth: p.born, group: uint32(group)}
	p.born++
	return change{key, pending}
}

// advance moves an object to the stage.
func (p *population) advance(key uint32, s stage) change {
	e := &p.entities[key]
	if p.spec.pods() && e.stage < scheduled && s < deleted {
		e.node = uint32(p.healthyNode())
	}
	e.stage = s
	switch s {
	case restarted:
		e.stage = running
	case deleted:
		p.free = append(p.free, key)
	}
	return change{key, s}
}

// healthyNode returns a random node that has not failed; at least half of them have not.
func (p *population) healthyNode() int {
	for {
		if n := p.random.below(len(p.nodes)); !p.nodes[n].failed {
			return n
		}
	}
}

// slice is the endpoint slice that a pod belongs to.
func (p *population) slice(key uint32) uint32 {
	e := p.entities[key]
	return e.group*uint32(p.slices) + e.birth%uint32(p.slices)
}

// heartbeat changes every object in turn.
type heartbeat struct {
	*population
	turn uint32
}

func (h *heartbeat) change(time.Duration) change {
	key := h.turn
	if h.turn++; int(h.turn) == len(h.entities) {
		h.turn = 0
	}
	return h.advance(key, restarted)
}

// namespace returns the name of the resource's n-th namespace. Resources of
// the same kind have other names and so share none.
func (p *population) namespace(n int) string {
	if p.spec.Name == plurals[p.spec.Kind] {
		return "team-" + strconv.Itoa(n)
	}
	return p.spec.Name + "-" + strconv.Itoa(n)
}
