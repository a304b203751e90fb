package trace

import (
	"hash/maphash"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Stats counts what a Trace has delivered so far.
type Stats struct {
	Added, Modified, Deleted, Bookmarks int // as delivered

	ImpliedAdds    int            // MODIFIED of an unknown object, delivered as ADDED
	RepeatedAdds   int            // ADDED of a known object, delivered as MODIFIED
	UnknownDeletes int            // DELETED of an unknown object, delivered as it is
	Repeated       int            // changes with the resource version that the object had, delivered as they are
	Untyped        int            // changes of which it is not recorded whether they were deletions, delivered as MODIFIED
	Backwards      int            // times before their predecessor's, raised to it
	Untimed        int            // events without a time among events with one, due with their predecessor
	Timed          bool           // the events carry times; else all are due at 0
	Begin          time.Time      // of the first event that carries one
	Kinds          map[string]int // events that are not bookmarks: "Pod", "Lease.coordination.k8s.io"
	Guessed        map[string]int // events by the resources whose names were guessed from the kind

	Unselected int            // records of other resources than the selected
	Skipped    map[string]int // entries of an audit log or a SimKube trace that are no events, by reason
}

// Events returns the number of events that are not bookmarks.
func (s Stats) Events() int { return s.Added + s.Modified + s.Deleted }

// A ledger knows which objects exist and counts what happens to them.
type ledger struct {
	known map[objectName]uint64 // the hash of its resource version
	seed  maphash.Seed
	at    time.Duration
	stats Stats
}

type objectName struct {
	kind            schema.GroupKind
	namespace, name string
}

func newLedger() ledger {
	return ledger{known: map[objectName]uint64{}, seed: maphash.MakeSeed(), stats: Stats{Kinds: map[string]int{}}}
}

// snapshot returns the counts; skipped are the source's.
func (l *ledger) snapshot(skipped map[string]int) Stats {
	stats := l.stats
	stats.Kinds = maps.Clone(stats.Kinds)
	stats.Guessed = maps.Clone(stats.Guessed)
	stats.Skipped = maps.Clone(skipped)
	return stats
}

// advance moves the clock to a recorded time and returns it; none leaves it.
func (l *ledger) advance(ts time.Time) time.Duration {
	if ts.IsZero() {
		if l.stats.Timed {
			l.stats.Untimed++
		}
		return l.at
	}
	if !l.stats.Timed {
		l.stats.Timed, l.stats.Begin = true, ts
	}
	if at := ts.Sub(l.stats.Begin); at >= l.at {
		l.at = at
	} else {
		l.stats.Backwards++
	}
	return l.at
}

// account counts an event and returns its type in terms of what came before.
func (l *ledger) account(recorded watch.EventType, name objectName, version string) watch.EventType {
	now := maphash.String(l.seed, version)
	before, known := l.known[name]
	if known && version != "" && now == before {
		l.stats.Repeated++
	}
	kind := recorded
	switch {
	case kind == watch.Deleted:
		if !known {
			l.stats.UnknownDeletes++
		}
		delete(l.known, name)
	case !known:
		if kind == watch.Modified {
			l.stats.ImpliedAdds++
		}
		kind = watch.Added
	case kind == watch.Added:
		l.stats.RepeatedAdds++
		kind = watch.Modified
	default:
		if kind == "" {
			l.stats.Untyped++
		}
		kind = watch.Modified
	}
	if kind != watch.Deleted {
		l.known[name] = now
	}
	switch kind {
	case watch.Added:
		l.stats.Added++
	case watch.Modified:
		l.stats.Modified++
	case watch.Deleted:
		l.stats.Deleted++
	}
	l.stats.Kinds[name.kind.String()]++
	return kind
}
