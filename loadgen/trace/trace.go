package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

// A Trace is a recorded [loadgen.Stream]. It reads as it goes and holds one
// object (or one block) at a time, beside the names of those that exist. It
// must be closed.
//
// It keeps what a cache needs, whatever moment the recording began at: the
// first event of an object is ADDED, those after it are MODIFIED until it is
// DELETED. Events that said otherwise are counted in the stats.
type Trace struct {
	name   string
	closer io.Closer
	source source
	decode decoder

	ahead *Record // read to see that there is something
	err   error   // what Next ended with
	cut   error   // where the file ends too soon

	selection selection
	window    window
	ledger    ledger
}

// Stats returns the counts up to the last event returned.
func (t *Trace) Stats() Stats { return t.ledger.snapshot(t.source.skipped()) }

// Cut tells, once the trace has ended, that the file was cut short and where;
// nil if it is whole. What came before the cut was delivered.
func (t *Trace) Cut() error { return t.cut }

// Warnings are what a user should know of the events up to the last one.
func (t *Trace) Warnings() []error {
	n := t.ledger.stats.Untyped
	if n == 0 {
		return nil
	}
	return []error{fmt.Errorf("%s: %d changes have no event type, so deletions count as modifications; "+
		"record with kubectl get RESOURCE --watch --output-watch-events -o json to tell them apart", t.name, n)}
}

// Name is what the recording is called in errors.
func (t *Trace) Name() string { return t.name }

// Close closes the file. The trace yields no further event.
func (t *Trace) Close() error {
	if t.err == nil {
		t.err = fmt.Errorf("%s: the trace was closed", t.name)
	}
	var errs []error
	if c, ok := t.source.(io.Closer); ok {
		errs = append(errs, c.Close())
	}
	if t.closer != nil {
		errs = append(errs, t.closer.Close())
	}
	return errors.Join(errs...)
}

// Next implements [loadgen.Stream]. Its errors name the file and the place.
func (t *Trace) Next() (loadgen.Event, error) {
	var event loadgen.Event
	record, err := t.next(func(record Record, info kindInfo) (err error) {
		event.Object, err = t.decode.object(record, info)
		return err
	})
	event.At, event.Type = record.At, record.Type
	return event, err
}

// NextRecord is Next without decoding: the object is checked to be JSON, not
// to fit its kind. An object whose list said its kind says it itself. Next and
// NextRecord may be called in turns.
func (t *Trace) NextRecord() (Record, error) {
	record, err := t.next(func(record Record, _ kindInfo) error {
		if json.Valid(record.Object) {
			return nil
		}
		problem, offset := syntaxProblem(record.Object)
		return record.fault(offset, "%s", problem)
	})
	record.Object = wireJSON(record.Object)
	if err == nil {
		record.Object = withType(record)
	}
	return record, err
}

// next reads the next selected record, has it checked and accounts for it.
func (t *Trace) next(check func(Record, kindInfo) error) (Record, error) {
	if t.err != nil {
		return Record{}, t.err
	}
	record, err := t.selected(check)
	err = t.located(err)
	if errors.Is(err, ErrCut) {
		t.cut = err
		err = t.located(t.ended())
	}
	if err != nil {
		t.err = err
		return Record{}, t.err
	}
	return record, nil
}

func (t *Trace) selected(check func(Record, kindInfo) error) (Record, error) {
	for {
		record, err := t.read()
		if err == io.EOF {
			return record, t.ended()
		}
		if err != nil {
			return record, err
		}
		if !t.window.has(record) {
			continue
		}
		if !utf8.Valid(record.Object) {
			return record, record.fault(invalidUTF8(record.Object), "found text that is not UTF-8")
		}
		info, err := t.decode.kind(record)
		if err != nil {
			if problem, offset := syntaxProblem(record.Object); problem != "" {
				return record, record.fault(offset, "%s", problem)
			}
			return record, record.fault(0, "%v", err)
		}
		if !t.selection.has(info) {
			t.ledger.stats.Unselected++
			continue
		}
		record.GroupResource, record.Of = info.resource, info.gvk
		if err := check(record, info); err != nil {
			return record, err
		}
		if record.Recorded == watch.Bookmark {
			t.ledger.stats.Bookmarks++
			record.Type = watch.Bookmark
			record.At = t.ledger.advance(record.Time)
			return record, nil
		}
		if err := record.checkNames(); err != nil {
			return record, record.fault(0, "%v", err)
		}
		record.At = t.ledger.advance(record.Time)
		record.Type = t.ledger.account(record.Recorded, objectName{info.gvk.GroupKind(), record.Namespace, record.Name}, record.ResourceVersion)
		if info.guessed {
			if t.ledger.stats.Guessed == nil {
				t.ledger.stats.Guessed = map[string]int{}
			}
			t.ledger.stats.Guessed[info.resource]++
		}
		return record, nil
	}
}

// ended is io.EOF, unless what was asked for never came.
func (t *Trace) ended() error {
	if _, ok := t.source.(*auditSource); ok && t.ledger.stats.Events()+t.ledger.stats.Unselected == 0 && t.window.begin.IsZero() {
		return t.empty()
	}
	if err := t.window.empty(); err != nil {
		return err
	}
	return t.selection.missing()
}

func (t *Trace) read() (Record, error) {
	if t.ahead != nil {
		record := *t.ahead
		t.ahead = nil
		return record, nil
	}
	return t.source.next()
}

// located puts the file's name, and the place where known, before an error.
func (t *Trace) located(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	name := t.name
	var in inputError
	if errors.As(err, &in) {
		name, err = in.name, in.error
	}
	var at *jsondoc.Error
	if !errors.As(err, &at) {
		return fmt.Errorf("%s: %w", name, err)
	}
	place := fmt.Sprintf("%s:%d: ", name, at.Line)
	if at.Document > 0 {
		place += fmt.Sprintf("document %d: ", at.Document)
	}
	if at.Ended {
		return fmt.Errorf("%s%s: %w", place, at.Problem, ErrCut)
	}
	return errors.New(place + at.Problem)
}

// A window is the part of the recording's time that is wanted.
type window struct {
	from, to time.Duration
	begin    time.Time
	at       time.Duration // of the latest record so far
	inside   bool
	met      bool // a record was inside
}

// has says whether a record is in the window. One without a time goes with its
// predecessor, and so does one whose clock went back.
func (w *window) has(record Record) bool {
	if w.begin.IsZero() {
		w.begin = record.Time
		w.inside = w.from == 0
	}
	if !record.Time.IsZero() {
		w.at = max(w.at, record.Time.Sub(w.begin))
		w.inside = w.at >= w.from && (w.to == 0 || w.at <= w.to)
	}
	w.met = w.met || w.inside
	return w.inside
}

// empty is an error if a window was wanted and nothing was in it.
func (w *window) empty() error {
	switch {
	case w.from == 0 && w.to == 0:
	case w.begin.IsZero():
		return errors.New("the events carry no times to choose a part by")
	case !w.met && w.to > 0:
		return fmt.Errorf("found no events from %v to %v after its start, the last comes at %v", w.from, w.to, w.at)
	case !w.met:
		return fmt.Errorf("found no events from %v after its start on, the last comes at %v", w.from, w.at)
	}
	return nil
}

// A selection is the resources that are wanted; none means all.
type selection struct {
	wanted []string
	found  map[string]bool // by wanted
	others map[string]bool // resources that were not wanted
}

func newSelection(wanted []string) selection {
	return selection{wanted: wanted, found: map[string]bool{}, others: map[string]bool{}}
}

func (s selection) has(info kindInfo) bool {
	if len(s.wanted) == 0 {
		return true
	}
	for _, w := range s.wanted {
		if slices.ContainsFunc(info.names(), func(name string) bool { return strings.EqualFold(name, w) }) {
			s.found[w] = true
			return true
		}
	}
	if len(s.others) < 100 {
		s.others[info.resource] = true
	}
	return false
}

// missing is io.EOF, or an error if a wanted resource was never seen.
func (s selection) missing() error {
	for _, w := range s.wanted {
		if !s.found[w] {
			others := slices.AppendSeq(slices.Collect(maps.Keys(s.others)), maps.Keys(s.found))
			slices.Sort(others)
			if len(others) == 0 {
				return fmt.Errorf("resource %q: found no events of it", w)
			}
			return fmt.Errorf("resource %q: found no events of it, but of %s", w, strings.Join(others, ", "))
		}
	}
	return io.EOF
}
