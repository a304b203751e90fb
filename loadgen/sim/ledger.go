package sim

import (
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"k8s.io/apimachinery/pkg/watch"
)

// A ledger knows of each object whether it exists and which of its events are
// not settled: seen by a successful reconcile. Its memory grows with the objects
// and with the events that wait at one time, not with the length of a run.
//
// A schedule uses the number of a deleted object again at once, where real
// objects have names of their own, so the ledger numbers objects anew: a number
// is free when its object is deleted and settled.
type ledger struct {
	numbers [][]uint32 // by resource and the draw's number, plus 1; 0 is unknown
	free    [][]uint32 // by resource
	objects [][]object // by resource and number
	nodes   []node     // events; 0 ends a list
	unused  uint32     // list of free nodes
	open    int64      // events that are not settled
}

// An object has two lists of events, in the order of their times: those that a
// reconcile has seen, and those that came since the last one began.
type object struct {
	seen, fresh events
	state       state
}

type state uint8

const (
	vacant state = iota
	alive
	deleted
)

type events struct{ first, last uint32 }

// A node is count events at the mean time at.
type node struct {
	at    time.Duration
	count int64
	next  uint32
}

// grain bounds a list: an event joins the last node when that is nearer than
// the grain-th part of the time that the list spans. So a key that fails for
// hours while its events go on does not fill the memory, and no event's time is
// off by more than that part.
const grain = 64

func newLedger(resources []loadgen.Resource) *ledger {
	n := len(resources)
	l := &ledger{numbers: make([][]uint32, n), free: make([][]uint32, n), objects: make([][]object, n), nodes: make([]node, 1)}
	for i, r := range resources {
		l.numbers[i], l.objects[i] = make([]uint32, 0, r.Count), make([]object, 0, r.Count)
		for k := range r.Count {
			l.identify(loadgen.Draw{Resource: i, Key: uint32(k), Type: watch.Added})
		}
	}
	return l
}

// identify finds or makes the object of an event, and notes whether it exists.
func (l *ledger) identify(d loadgen.Draw) key {
	numbers := &l.numbers[d.Resource]
	for int(d.Key) >= len(*numbers) {
		*numbers = append(*numbers, 0)
	}
	number := &(*numbers)[d.Key]
	objects := &l.objects[d.Resource]
	if *number == 0 || (*objects)[*number-1].state == vacant || d.Type == watch.Added && (*objects)[*number-1].state != alive {
		if free := &l.free[d.Resource]; len(*free) > 0 {
			*number = (*free)[len(*free)-1] + 1
			*free = (*free)[:len(*free)-1]
		} else {
			*objects = append(*objects, object{})
			*number = uint32(len(*objects))
		}
	}
	o := &(*objects)[*number-1]
	o.state = alive
	if d.Type == watch.Deleted {
		o.state = deleted
	}
	return keyOf(d.Resource, *number-1)
}

// at is an object. The pointer is valid until the next one is made.
func (l *ledger) at(k key) *object { return &l.objects[k.resource()][k.object()] }

// arrived adds an event of the object.
func (l *ledger) arrived(k key, at time.Duration) {
	o := l.at(k)
	l.open++
	list := &o.fresh
	if list.first != 0 {
		last := &l.nodes[list.last]
		if at-last.at < (last.at-l.nodes[list.first].at)/grain {
			last.count++
			last.at += (at - last.at) / time.Duration(last.count)
			return
		}
	}
	n := l.unused
	if n == 0 {
		n = uint32(len(l.nodes))
		l.nodes = append(l.nodes, node{})
	} else {
		l.unused = l.nodes[n].next
	}
	l.nodes[n] = node{at: at, count: 1}
	l.append(list, events{n, n})
}

func (l *ledger) append(list *events, more events) {
	switch {
	case more.first == 0:
	case list.first == 0:
		*list = more
	default:
		l.nodes[list.last].next = more.first
		list.last = more.last
	}
}

// begins marks what there is as seen by the reconcile that begins.
func (l *ledger) begins(k key) {
	o := l.at(k)
	l.append(&o.seen, o.fresh)
	o.fresh = events{}
}

// settled takes out what the reconcile that ended saw, and tells each.
func (l *ledger) settled(k key, tell func(at time.Duration, count int64)) {
	o := l.at(k)
	for n := o.seen.first; n != 0; n = l.nodes[n].next {
		l.open -= l.nodes[n].count
		tell(l.nodes[n].at, l.nodes[n].count)
	}
	l.release(k)
}

// release drops what was seen, and an object that is deleted and has nothing
// more to settle. Of a key that was given up, the events stay open.
func (l *ledger) release(k key) {
	o := l.at(k)
	if o.seen.first != 0 {
		l.nodes[o.seen.last].next = l.unused
		l.unused = o.seen.first
		o.seen = events{}
	}
	if o.state == deleted && o.fresh.first == 0 {
		o.state = vacant
		l.free[k.resource()] = append(l.free[k.resource()], k.object())
	}
}
