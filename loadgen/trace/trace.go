package trace

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

// A Trace is a recorded Stream. It reads as it goes and holds one object at a
// time, beside the names of those that exist. It must be closed.
//
// It keeps what a cache needs, whatever moment the recording began at: the
// first event of an object is ADDED, those after it are MODIFIED until it is
// DELETED. Events that said otherwise are counted in the stats.
type Trace struct {
	name   string
	closer io.Closer
	docs   *jsondoc.Reader
	decode decoder

	ahead *jsondoc.Entry // read to see that there is something
	err   error          // what Next ended with

	begin time.Time // of the first event
	at    time.Duration
	known map[objectName]struct{}
	stats Stats
}

type objectName struct {
	kind            schema.GroupKind
	namespace, name string
}

// Stats counts what a Trace has delivered so far.
type Stats struct {
	Added, Modified, Deleted, Bookmarks int // as delivered

	ImpliedAdds    int            // MODIFIED of an unknown object, delivered as ADDED
	RepeatedAdds   int            // ADDED of a known object, delivered as MODIFIED
	UnknownDeletes int            // DELETED of an unknown object, delivered as it is
	Backwards      int            // times before their predecessor's, raised to it
	Timed          bool           // the events carry times; else all are due at 0
	Kinds          map[string]int // events that are not bookmarks: "Pod", "Lease.coordination.k8s.io"
}

// Events returns the number of events that are not bookmarks.
func (s Stats) Events() int { return s.Added + s.Modified + s.Deleted }

// Stats returns the counts up to the last event returned.
func (t *Trace) Stats() Stats {
	stats := t.stats
	stats.Kinds = maps.Clone(stats.Kinds)
	return stats
}

// Close closes the file. The trace yields no further event.
func (t *Trace) Close() error {
	if t.err == nil {
		t.err = fmt.Errorf("%s: the trace was closed", t.name)
	}
	if t.closer == nil {
		return nil
	}
	return t.closer.Close()
}

// Next implements Stream. Its errors name the file, the line and the document.
func (t *Trace) Next() (loadgen.Event, error) {
	if t.err != nil {
		return loadgen.Event{}, t.err
	}
	entry, err := t.entry()
	if err != nil {
		t.err = t.located(err)
		return loadgen.Event{}, t.err
	}
	event, err := t.event(entry)
	if err != nil {
		t.err = t.located(err)
	}
	return event, t.err
}

func (t *Trace) entry() (jsondoc.Entry, error) {
	if t.ahead != nil {
		entry := *t.ahead
		t.ahead = nil
		return entry, nil
	}
	return t.docs.Next()
}

// located puts the file's name, and the line where known, before an error.
func (t *Trace) located(err error) error {
	if err == io.EOF {
		return err
	}
	var at *jsondoc.Error
	if !errors.As(err, &at) {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	if at.Document == 0 {
		return fmt.Errorf("%s:%d: %s", t.name, at.Line, at.Problem)
	}
	return fmt.Errorf("%s:%d: document %d: %s", t.name, at.Line, at.Document, at.Problem)
}

func (t *Trace) event(entry jsondoc.Entry) (loadgen.Event, error) {
	fault := func(format string, args ...any) (loadgen.Event, error) {
		return loadgen.Event{}, &jsondoc.Error{Document: entry.Document, Line: entry.Line, Problem: fmt.Sprintf(format, args...)}
	}
	kind := watch.EventType(entry.Type)
	switch {
	case kind == watch.Error || entry.Kind == "Status" && entry.APIVersion == "v1":
		return fault("the API server ended the watch: %s", statusMessage(entry.Raw))
	case !entry.Event:
		kind = watch.Modified // a bare object says only that it exists
	case kind != watch.Added && kind != watch.Modified && kind != watch.Deleted && kind != watch.Bookmark:
		if entry.Type == "" {
			return fault("type: missing or no string, expected ADDED, MODIFIED, DELETED, BOOKMARK or ERROR")
		}
		return fault("type: unknown value %q, expected ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", entry.Type)
	}
	object, gvk, err := t.decode.object(entry)
	if err != nil {
		return loadgen.Event{}, err
	}
	if err := t.advance(entry.Time); err != nil {
		return fault("%v", err)
	}
	if kind == watch.Bookmark {
		t.stats.Bookmarks++
		return loadgen.Event{At: t.at, Type: kind, Object: object}, nil
	}
	if object.GetName() == "" {
		return fault("%s without metadata.name", gvk.Kind)
	}
	kind = t.account(kind, entry.Event, objectName{gvk.GroupKind(), object.GetNamespace(), object.GetName()})
	return loadgen.Event{At: t.at, Type: kind, Object: object}, nil
}

// advance moves the trace's clock to a recorded time; none leaves it.
func (t *Trace) advance(recorded string) error {
	if recorded == "" {
		return nil
	}
	ts, err := time.Parse(time.RFC3339Nano, recorded)
	if err != nil {
		return fmt.Errorf("ts: found %q, expected a time such as 2006-01-02T15:04:05.999999999Z", recorded)
	}
	if !t.stats.Timed {
		t.stats.Timed, t.begin = true, ts
	}
	if at := ts.Sub(t.begin); at >= t.at {
		t.at = at
	} else {
		t.stats.Backwards++
	}
	return nil
}

// account counts an event and returns its type in terms of what came before.
func (t *Trace) account(kind watch.EventType, isEvent bool, name objectName) watch.EventType {
	_, known := t.known[name]
	switch {
	case kind == watch.Deleted:
		if !known {
			t.stats.UnknownDeletes++
		}
		delete(t.known, name)
	case !known:
		if kind == watch.Modified && isEvent {
			t.stats.ImpliedAdds++
		}
		t.known[name] = struct{}{}
		kind = watch.Added
	case kind == watch.Added:
		t.stats.RepeatedAdds++
		kind = watch.Modified
	}
	switch kind {
	case watch.Added:
		t.stats.Added++
	case watch.Modified:
		t.stats.Modified++
	case watch.Deleted:
		t.stats.Deleted++
	}
	t.stats.Kinds[name.kind.String()]++
	return kind
}
