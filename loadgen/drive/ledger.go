package drive

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A name is an object's place in the ledger.
type name struct {
	resource        *resource
	namespace, name string
}

func (n name) String() string {
	if n.namespace == "" {
		return n.resource.name + " " + n.name
	}
	return n.resource.name + " " + n.namespace + "/" + n.name
}

// A ledger follows every event from the time it is due until a reconcile that
// saw it, or a newer one of its object, has succeeded.
type ledger struct {
	now     func() time.Duration // since the time of the first event
	warmup  time.Duration        // events due before it leave no latencies
	repeats bool                 // the watch sends old versions again, on purpose
	// firstList takes how long the objects of the first list took to be settled.
	firstList *meter
	// handlerWait takes how long events wait for their handler, and backlog is how
	// many do now.
	handlerWait *meter
	backlog     atomic.Int64
	seed        maphash.Seed
	shards      [64]shard

	sent, delivered, coalesced, backwards, together, open atomic.Int64

	mu     sync.Mutex
	bad    []string
	recent [2]change // newest last
}

// A change is where and when an object changes.
type change struct {
	name
	due time.Duration
}

type shard struct {
	mu       sync.Mutex
	accounts map[name]*account
	free     *entry
	_        [40]byte // keeps two locks off one cache line
}

func newLedger(now func() time.Duration, warmup time.Duration) *ledger {
	l := &ledger{now: now, warmup: warmup, seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].accounts = map[name]*account{}
	}
	return l
}

// lock returns the shard of an object, locked.
func (l *ledger) lock(n name) *shard {
	s := &l.shards[maphash.String(l.seed, n.name)%uint64(len(l.shards))]
	s.mu.Lock()
	return s
}

// initial opens the account of an object that was there, and reconciled, before
// the load begins.
func (l *ledger) initial(n name, rv string) {
	s := l.lock(n)
	defer s.mu.Unlock()
	s.accounts[n] = &account{settled: version{rv: rv}}
}

// send enters an event, at the latest when it becomes due.
func (l *ledger) send(n name, v version, due time.Duration) { l.enter(n, entry{version: v, due: due}) }

func (l *ledger) enter(n name, what entry) {
	s := l.lock(n)
	defer s.mu.Unlock()
	a := s.accounts[n]
	if a == nil {
		a = &account{settled: gone}
		s.accounts[n] = a
	}
	e := s.free
	if e == nil {
		e = new(entry)
	} else {
		s.free = e.next
	}
	*e = what
	a.enter(e)
	l.sent.Add(1)
	l.open.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent[0], l.recent[1] = l.recent[1], change{n, what.due}
}

// lastChange returns the object that changed last, as far as is due.
func (l *ledger) lastChange() (name, bool) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range [...]change{l.recent[1], l.recent[0]} {
		if c.resource != nil && c.due <= now {
			return c.name, true
		}
	}
	return name{}, false
}

// mark notes that a stage has come to the state v of an object.
func (l *ledger) mark(n name, v version, at stage, m *meter) {
	s := l.lock(n)
	defer s.mu.Unlock()
	a := s.accounts[n]
	if a == nil {
		return
	}
	now := l.now()
	if to := a.find(at, v, now); to != nil {
		a.reach(at, to, func(e *entry) {
			l.record(m, e, now)
			switch {
			case at == stored:
				e.waits, e.stored = true, now
				l.backlog.Add(1)
			case at == enqueued && e.waits:
				e.waits = false
				l.backlog.Add(-1)
				if l.handlerWait != nil && e.due >= l.warmup {
					l.handlerWait.record(now - e.stored)
				}
			}
		})
	}
}

func (l *ledger) record(m *meter, e *entry, now time.Duration) {
	if e.due >= l.warmup {
		m.record(now - e.due)
	}
}

// take notes that a worker has taken an object's key, and at which state v it
// then found the object in the cache. It returns what end is to be called with:
// the place of the newest event that v shows, 0 if it shows none; and whether v
// shows one that no worker has seen before.
func (l *ledger) take(n name, v version, picked time.Duration, m *meter) (upTo uint64, news bool) {
	s := l.lock(n)
	defer s.mu.Unlock()
	a := s.accounts[n]
	if a == nil {
		if !v.gone {
			l.stepBack("%s was seen at %s after it was deleted", n, v)
		}
		return 0, false
	}
	if a.held {
		l.fault(&l.together, "%s was held by two workers at once", n)
	}
	a.held = true
	if newest := a.find(seen, v, l.now()); newest != nil {
		news = true
		a.reach(seen, newest, func(e *entry) {
			l.record(m, e, max(picked, e.due))
			if e == newest {
				l.delivered.Add(1)
			} else {
				l.coalesced.Add(1)
			}
		})
	} else if before := a.stateAt(seen); !v.same(before) {
		l.stepBack("%s was seen at %s, expected %s or newer", n, v, before)
		return 0, false
	}
	if newest := a.newestAt(seen); newest != nil {
		return newest.seq, news
	}
	return 0, news
}

// An outcome is how a reconcile ended: well, to be tried again, or for good.
type outcome int

const (
	settled outcome = iota
	retried
	givenUp
)

// end notes that the reconcile which saw the events up to a place has ended.
// They are closed unless it is to be tried again.
func (l *ledger) end(n name, upTo uint64, result outcome, reconciles, settles *meter) {
	s := l.lock(n)
	defer s.mu.Unlock()
	a := s.accounts[n]
	if a == nil {
		return
	}
	a.held = false
	now := l.now()
	for e := a.next[reconciled]; e != nil && e.seq <= upTo; e = e.next {
		l.record(reconciles, e, now)
		a.next[reconciled] = e.next
	}
	if result == retried {
		return
	}
	for a.oldest != nil && a.oldest.seq <= upTo {
		e := a.settle()
		if e.waits {
			l.backlog.Add(-1)
		}
		if result == settled {
			l.record(settles, e, now)
		}
		if result == settled && e.initial && l.firstList != nil {
			l.record(l.firstList, e, now)
		}
		*e = entry{next: s.free}
		s.free = e
		l.open.Add(-1)
	}
	if a.oldest == nil && a.settled.gone {
		delete(s.accounts, n)
	}
}

// staleness is the age of what a reader sees that finds an object in state v:
// the time since its first due change that v does not show.
func (l *ledger) staleness(n name, v version) time.Duration {
	s := l.lock(n)
	defer s.mu.Unlock()
	a := s.accounts[n]
	if a == nil {
		return 0
	}
	now := l.now()
	if first := a.unshown(v, now); first != nil && first.due < now {
		return now - first.due
	}
	return 0
}

// badKeys is how many keys a failed drive names.
const badKeys = 5

func (l *ledger) fault(count *atomic.Int64, format string, args ...any) {
	count.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.bad) < badKeys {
		l.bad = append(l.bad, fmt.Sprintf(format, args...))
	}
}

// stepBack is a fault, unless the watch itself goes back.
func (l *ledger) stepBack(format string, args ...any) {
	if !l.repeats {
		l.fault(&l.backwards, format, args...)
	}
}

// unseen is how many events no reconcile has seen, or seen overtaken.
func (l *ledger) unseen() int64 {
	return l.sent.Load() - l.delivered.Load() - l.coalesced.Load()
}

// balance closes the ledger. Events that were never seen, of an object whose last
// state was seen, were overtaken: an object that came and went while the watch
// was cut off leaves no trace.
func (l *ledger) balance(into *Accounting) {
	var bad []string
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		for n, a := range s.accounts {
			for e := a.oldest; e != nil && e != a.next[seen]; e = e.next {
				into.Unsettled++
			}
			unseen := 0
			for e := a.next[seen]; e != nil; e = e.next {
				unseen++
			}
			switch state, last := a.stateAt(seen), a.last(); {
			case unseen == 0:
			case state.same(last):
				l.coalesced.Add(int64(unseen))
			default:
				into.Stale++
				into.Lost += unseen
				bad = append(bad, fmt.Sprintf("%s was last seen at %s, expected %s; events that nobody saw: %d", n, state, last, unseen))
			}
		}
		s.mu.Unlock()
	}
	slices.Sort(bad)
	into.Bad = append(l.bad, bad[:min(len(bad), max(0, badKeys-len(l.bad)))]...)
	into.Sent, into.Delivered, into.Coalesced = int(l.sent.Load()), int(l.delivered.Load()), int(l.coalesced.Load())
	into.Backwards, into.Together = int(l.backwards.Load()), int(l.together.Load())
}
