package trace

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

// auditSource reads audit logs. Those of several API servers are one log with
// one state, in whatever order they come: all entries that matter are put in
// the order of time before the first becomes an event.
type auditSource struct {
	inputs []*auditInput
	sorter auditSorter
	log    auditLog
	decode decoder // learns the kinds of resources
	loaded bool
	cut    error // where the first input ends too soon
}

// An auditInput is one file, or what stands for one.
type auditInput struct {
	name  string
	docs  *jsondoc.Reader
	first *jsondoc.Entry // read ahead, valid until the next one is
	inner wrapped
}

func newAuditSource(name string, docs *jsondoc.Reader, first jsondoc.Entry, decode decoder) *auditSource {
	return &auditSource{decode: decode, inputs: []*auditInput{{name: name, docs: docs, first: &first}}, log: auditLog{
		objects: map[auditKey]*auditObject{}, unnamed: map[auditKey][]*auditObject{},
	}}
}

func isAudit(entry jsondoc.Entry) bool {
	return strings.HasPrefix(entry.APIVersion, auditGroup) && !entry.Event
}

func (s *auditSource) skipped() map[string]int { return s.log.skips }

func (s *auditSource) Close() error { return s.sorter.close() }

// join takes over the inputs of another audit log of the same cluster.
func (s *auditSource) join(other *auditSource) {
	s.inputs = append(s.inputs, other.inputs...)
}

func (s *auditSource) next() (Record, error) {
	if !s.loaded {
		s.loaded = true
		for i, in := range s.inputs {
			if err := s.load(i, in); err != nil {
				return Record{}, err
			}
		}
		if err := s.sorter.sort(); err != nil {
			return Record{}, err
		}
	}
	for {
		if record, ok := s.log.pop(); ok {
			return record, nil
		}
		if s.log.ended {
			if s.cut != nil {
				return Record{}, s.cut
			}
			return Record{}, io.EOF
		}
		e, err := s.sorter.next()
		switch {
		case err == io.EOF:
			s.log.ended = true
		case err != nil:
			return Record{}, err
		case e.again:
			s.log.skips.add("entries given twice")
		default:
			s.log.push(e.auditEvent)
		}
	}
}

// load puts what matters of an input into the sorter.
func (s *auditSource) load(number int, in *auditInput) error {
	for {
		entry, err := in.next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, ErrCut) || isEnded(err):
			if s.cut == nil {
				s.cut = inputError{in.name, err}
			}
			return nil
		case err != nil:
			return inputError{in.name, err}
		}
		if !isAudit(entry) {
			return inputError{in.name, faultAt(entry, "found a %s among the entries of an audit log, expected one recording a file", entry.Kind)}
		}
		e, err := parseAudit(entry)
		reason := ""
		if err == nil {
			reason = e.reasonToSkip()
		}
		if err == nil && reason == "" {
			err = e.check()
		}
		switch {
		case err != nil:
			return inputError{in.name, faultAt(entry, "%v", err)}
		case reason != "":
			s.log.skips.add(reason)
			continue
		}
		e.Input = number
		s.learn(&e)
		if err := s.sorter.add(e); err != nil {
			return err
		}
	}
}

// learn takes the kind of a resource from the first response that has it. Of a custom
// resource the name alone does not tell: "foobars" may be of Foobar or FooBar.
func (s *auditSource) learn(e *auditEvent) {
	name, _ := parseResource(e.resource())
	if _, ok := s.decode.first[name]; ok || len(e.Response) == 0 {
		return
	}
	if body, ok := e.body(); ok {
		if gv, err := schema.ParseGroupVersion(body.APIVersion); err == nil {
			s.decode.firstKind(e.resource(), gv.WithKind(body.Kind))
		}
	}
}

func isEnded(err error) bool {
	var at *jsondoc.Error
	return errors.As(err, &at) && at.Ended
}

// next returns the next entry, out of its wrapping.
func (in *auditInput) next() (jsondoc.Entry, error) {
	for {
		entry, ok, err := in.inner.next()
		if ok || err != nil {
			return entry, err
		}
		if in.first != nil {
			entry, in.first = *in.first, nil
		} else if entry, err = in.docs.Next(); err != nil {
			return entry, in.inner.ended(err)
		}
		if !entry.Wrapping {
			return entry, nil
		}
		in.inner.open(entry)
	}
}

// An inputError names the file of an error.
type inputError struct {
	name string
	error
}

func (e inputError) Unwrap() error { return e.error }

// A wrapped is what is inside of a document that is no API object but has audit
// events in it.
type wrapped struct {
	entries []jsondoc.Entry
	partial map[string][]byte // what a container's lines were split into, by stream
	found   bool
	refused error // of the first document that has none
}

// next returns the next entry that was inside.
func (w *wrapped) next() (jsondoc.Entry, bool, error) {
	if len(w.entries) == 0 {
		return jsondoc.Entry{}, false, nil
	}
	entry := w.entries[0]
	w.entries = w.entries[1:]
	if entry.Raw == nil {
		return entry, false, w.refused
	}
	return entry, true, nil
}

// ended is io.EOF, or why no document had anything in it.
func (w *wrapped) ended(err error) error {
	if err == io.EOF && !w.found && w.refused != nil {
		return w.refused
	}
	return err
}

// open takes a document apart.
func (w *wrapped) open(outer jsondoc.Entry) {
	texts, refusal := unwrap(outer.Raw, &w.partial)
	if refusal == "" && len(texts) == 0 && !w.found && w.refused == nil {
		w.refused = faultAt(outer, "%s", jsondoc.Neither)
	}
	if refusal != "" {
		w.refused = faultAt(outer, "%s", refusal)
		w.entries = append(w.entries, jsondoc.Entry{})
		return
	}
	for _, text := range texts {
		docs := jsondoc.NewReader(strings.NewReader(text))
		for {
			entry, err := docs.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				w.refused = faultAt(outer, "within its wrapping: %v", err)
				w.entries = append(w.entries, jsondoc.Entry{})
				return
			}
			entry.Raw = bytes.Clone(entry.Raw)
			entry.Document, entry.Line = outer.Document, outer.Line
			w.entries = append(w.entries, entry)
			w.found = true
		}
	}
}
