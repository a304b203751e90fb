package drive

import "time"

// A version is one state of an object: its resource version, or that it is
// gone, where the resource version is that of its deletion or not known.
type version struct {
	rv   string
	gone bool
}

var gone = version{gone: true}

// same compares states: without an object there is nothing to compare.
func (v version) same(w version) bool {
	return v.gone == w.gone && (v.gone || v.rv == w.rv)
}

func (v version) String() string {
	if v.gone {
		return "deleted"
	}
	return "version " + v.rv
}

// A stage is a place on the way of an event. An event that a later one of its
// object has overtaken reaches it together with that.
type stage int

const (
	watched stage = iota
	stored
	enqueued
	seen       // by a worker, in the cache
	reconciled // that worker is done, well or not
	stages
)

// An entry is one event on its way.
type entry struct {
	version
	due        time.Duration
	initial    bool // of the first list
	waits      bool // for its handler, since stored
	stored     time.Duration
	seq        uint64 // rising within an account, from 1
	prev, next *entry // of the same object: older, newer
}

// An account is one object's page in the ledger: the state that is settled, then
// the events that are not, in the order in which they became due.
type account struct {
	settled        version
	seq            uint64 // of the newest event
	oldest, newest *entry
	next           [stages]*entry // the oldest event that is not there yet
	held           bool           // by a worker
}

// enter puts a new event at the end.
func (a *account) enter(e *entry) {
	a.seq++
	e.seq, e.prev = a.seq, a.newest
	if a.newest == nil {
		a.oldest = e
	} else {
		a.newest.next = e
	}
	a.newest = e
	for s := range a.next {
		if a.next[s] == nil {
			a.next[s] = e
		}
	}
}

// settle takes the oldest event off.
func (a *account) settle() *entry {
	e := a.oldest
	a.settled, a.oldest = e.version, e.next
	if a.oldest == nil {
		a.newest = nil
	} else {
		a.oldest.prev = nil
	}
	for s := range a.next {
		if a.next[s] == e {
			a.next[s] = e.next
		}
	}
	return e
}

// newestAt is the newest event that is there already and not settled; nil if
// there is none.
func (a *account) newestAt(s stage) *entry {
	if e := a.next[s]; e != nil {
		return e.prev
	}
	return a.newest
}

// stateAt is the state that a stage has reached.
func (a *account) stateAt(s stage) version {
	if e := a.newestAt(s); e != nil {
		return e.version
	}
	return a.settled
}

// last is the newest state that was sent.
func (a *account) last() version {
	if a.newest != nil {
		return a.newest.version
	}
	return a.settled
}

// find returns the newest event, not yet at a stage, that left the object in
// state v; nil if v shows nothing new there. Without a resource version that is
// the newest deletion that is due: a cache without the object shows nothing else.
func (a *account) find(s stage, v version, now time.Duration) *entry {
	e := a.next[s]
	if v.rv == "" {
		var found *entry
		for ; e != nil && e.due <= now; e = e.next {
			if e.gone {
				found = e
			}
		}
		return found
	}
	if e == nil || e.rv != v.rv && a.stateAt(s).rv == v.rv {
		return nil // the common case of nothing new, found without a search
	}
	for e != nil && e.rv != v.rv {
		e = e.next
	}
	for e != nil && e.next != nil && e.next.rv == v.rv {
		e = e.next // a recording may repeat a version
	}
	return e
}

// reach moves a stage on to an event and calls each for what gets there.
func (a *account) reach(s stage, to *entry, each func(*entry)) {
	e := a.next[s]
	for ; e != to.next; e = e.next {
		each(e)
	}
	a.next[s] = e
}

// unshown is the oldest event that an object in state v does not show; nil if it
// shows them all.
func (a *account) unshown(v version, now time.Duration) *entry {
	first := a.oldest
	for e := a.oldest; e != nil && e.due <= now; e = e.next {
		if e.version.same(v) {
			first = e.next
		}
	}
	return first
}
