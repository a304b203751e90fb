// Package jsondoc finds the API objects in a stream of JSON documents without
// holding more than one of them.
//
//  1. read.go keeps a window of the input that begins at the object under way.
//  2. scan.go finds where a value ends and counts lines.
//  3. reader.go walks the upper levels of a document: a watch event {"type",
//     "object"}, an object, or a list of objects, whose items come out one by
//     one. Below that, values are skipped and not checked: who decodes them does.
package jsondoc

import (
	"cmp"
	"fmt"
	"io"
)

// An Entry is one object and what its document says about it.
type Entry struct {
	Document   int    // from 1
	Line       int    // where the object begins, from 1
	Event      bool   // it comes from a watch event, not from a bare object or list
	Type       string // of the watch event; ADDED for the items of a list
	Time       string // "ts", "" if absent
	Resource   string // "resource", "" if absent
	APIVersion string
	Kind       string
	Namespace  string // of the object's metadata, as are the next two
	Name       string
	Version    string // the resource version
	Raw        []byte // the object's JSON, valid until the next call

	// Wrapping says that the document, which Raw is, is no object and has none
	// where a watch event has it: others may be within.
	Wrapping bool
}

// Neither is what is wrong with a document that wraps nothing.
const Neither = `found a document with neither "object" nor "kind", expected a watch event or an object`

// An Error is a fault of the input.
type Error struct {
	Document int // 0: before the first
	Line     int
	Problem  string
	Ended    bool // the input ends within the document
}

func (e *Error) Error() string {
	if e.Document == 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
	}
	return fmt.Sprintf("document %d, line %d: %s", e.Document, e.Line, e.Problem)
}

// A Reader yields the entries of its input in order.
type Reader struct {
	window
	documents int
	array     bool              // the documents are the items of one
	names     map[string]string // the few strings that repeat in every document

	list struct { // the list that is being read
		open, event, first bool
		envelope           header
		apiVersion, kind   string
	}
}

// A header is what a document's top level says.
type header struct{ eventType, time, resource string }

// NewReader returns a Reader of r, which it reads in large blocks.
func NewReader(r io.Reader) *Reader {
	return &Reader{window: newWindow(r), names: map[string]string{}}
}

// Next returns the next entry, io.EOF after the last, *Error for a fault of
// the JSON, or the input's own error.
func (r *Reader) Next() (Entry, error) {
	for {
		var entry Entry
		var found bool
		var err error
		if r.list.open {
			entry, found, err = r.item()
		} else {
			entry, found, err = r.document()
		}
		if err != nil || found {
			return entry, err
		}
	}
}

func (r *Reader) fault(format string, args ...any) error {
	return &Error{Document: r.documents, Line: r.line, Problem: fmt.Sprintf(format, args...)}
}

// document reads the next document up to its end, or up to the items of a list.
func (r *Reader) document() (Entry, bool, error) {
	r.release()
	c, err := r.between()
	if err != nil {
		return Entry{}, false, err // io.EOF between documents is the end
	}
	r.documents++
	if c != '{' {
		return Entry{}, false, r.fault("found %s, expected a JSON document, which begins with '{'", show(c))
	}
	r.hold()
	entry := Entry{Document: r.documents, Line: r.line}
	var top header
	var bare Entry // what the document says if it is an object itself
	length := -1   // of the event's object, once seen
	isList := false
	err = r.members(func(key string, c byte) (bool, error) {
		switch key {
		case "kind", "apiVersion", "metadata":
			return false, r.describe(key, c, &bare)
		case "type":
			return false, r.text(c, &top.eventType)
		case "ts":
			if c != '"' && c != 'n' {
				return false, r.fault("ts: found %s, expected a time in quotes", show(c))
			}
			return false, r.freshText(c, &top.time)
		case "resource":
			return false, r.text(c, &top.resource)
		case "items":
			if c != '[' && c != 'n' || length >= 0 {
				break
			}
			isList = true
			r.openList(c, false, top, bare.APIVersion, bare.Kind)
			return r.list.open, r.skipUnless(r.list.open, c)
		case "object":
			if c != '{' {
				return false, r.fault("object: found %s, expected an object", show(c))
			}
			if length >= 0 {
				return false, r.fault("object: given twice in one document")
			}
			r.hold()
			entry.Line = r.line
			listOpen, list, err := r.object(&entry, top)
			isList = list
			length = r.held()
			return listOpen, err
		}
		return false, r.skip(c)
	})
	switch {
	case err != nil || isList:
		return Entry{}, false, err
	case length >= 0:
		entry.Event = true
		entry.Raw = r.bytes(length)
	case bare.Kind != "":
		bare.Document, bare.Line = entry.Document, entry.Line
		entry = bare
		entry.Raw = r.bytes(r.held())
	default:
		entry.Wrapping, entry.Raw = true, r.bytes(r.held())
	}
	entry.Type, entry.Time, entry.Resource = top.eventType, top.time, top.resource
	return entry, true, nil
}

// between is next between documents, which an array may hold.
func (r *Reader) between() (byte, error) {
	for {
		c, err := r.next()
		switch {
		case err != nil && r.array:
			return 0, r.ended(err)
		case err != nil:
			return 0, err
		case c == '[' && !r.array, c == ']' && r.array:
			r.array = !r.array
		case c != ',' || !r.array:
			return c, nil
		}
		r.pos++
	}
}

// object reads the object of a watch event up to its end or, if it is a list,
// to its items.
func (r *Reader) object(entry *Entry, envelope header) (listOpen, isList bool, err error) {
	err = r.members(func(key string, c byte) (bool, error) {
		switch key {
		case "kind", "apiVersion", "metadata":
			return false, r.describe(key, c, entry)
		case "items":
			if c != '[' && c != 'n' {
				break
			}
			isList = true
			r.openList(c, true, envelope, entry.APIVersion, entry.Kind)
			listOpen = r.list.open
			return listOpen, r.skipUnless(listOpen, c)
		}
		return false, r.skip(c)
	})
	return listOpen, isList, err
}

// describe takes a member of an object and keeps what an entry says about it.
func (r *Reader) describe(key string, c byte, entry *Entry) error {
	switch {
	case key == "kind":
		return r.text(c, &entry.Kind)
	case key == "apiVersion":
		return r.text(c, &entry.APIVersion)
	case key != "metadata" || c != '{':
		return r.skip(c)
	}
	return r.members(func(key string, c byte) (bool, error) {
		switch key {
		case "namespace":
			return false, r.text(c, &entry.Namespace)
		case "name":
			return false, r.freshText(c, &entry.Name)
		case "resourceVersion":
			return false, r.freshText(c, &entry.Version)
		}
		return false, r.skip(c)
	})
}

// Describe returns what an entry says about an object that is in memory. The
// reader must not be reading anything else.
func (r *Reader) Describe(object []byte) (Entry, error) {
	r.documents = 0
	r.window = window{buf: object, err: io.EOF, from: -1, line: 1, last: 1}
	entry := Entry{Raw: object, Line: 1}
	c, err := r.next()
	switch {
	case err == io.EOF:
		return entry, r.fault("the object is empty")
	case c != '{':
		return entry, r.fault("found %s, expected a JSON document, which begins with '{'", show(c))
	}
	err = r.members(func(key string, c byte) (bool, error) { return false, r.describe(key, c, &entry) })
	if err != nil {
		return entry, err
	}
	if c, err = r.next(); err == nil {
		return entry, r.fault("found %s after the object", show(c))
	}
	return entry, nil
}

// openList begins to read items one by one; null stands for none.
func (r *Reader) openList(c byte, event bool, envelope header, apiVersion, kind string) {
	if c == 'n' {
		return
	}
	r.pos++ // the bracket
	r.release()
	r.list.open, r.list.event, r.list.first = true, event, true
	r.list.envelope, r.list.apiVersion, r.list.kind = envelope, apiVersion, kind
}

func (r *Reader) skipUnless(open bool, c byte) error {
	if open {
		return nil
	}
	return r.skip(c)
}

// item reads the list's next item, or the rest of the list's document.
func (r *Reader) item() (Entry, bool, error) {
	r.release()
	c, err := r.must()
	if err != nil {
		return Entry{}, false, err
	}
	if c == ']' {
		r.pos++
		r.list.open = false
		return Entry{}, false, r.closeList()
	}
	if !r.list.first {
		if err := r.expect(c, ','); err != nil {
			return Entry{}, false, err
		}
		if c, err = r.must(); err != nil {
			return Entry{}, false, err
		}
	}
	r.list.first = false
	if c != '{' {
		return Entry{}, false, r.fault("items: found %s, expected an object", show(c))
	}
	r.hold()
	entry := Entry{
		Document: r.documents, Line: r.line,
		Event: r.list.event, Type: cmp.Or(r.list.envelope.eventType, "ADDED"), Time: r.list.envelope.time, Resource: r.list.envelope.resource,
	}
	err = r.members(func(key string, c byte) (bool, error) { return false, r.describe(key, c, &entry) })
	if err != nil {
		return Entry{}, false, err
	}
	// The API server leaves kind and version to the list, kubectl repeats them.
	if n := len(r.list.kind) - len("List"); entry.Kind == "" && n > 0 && r.list.kind[n:] == "List" {
		entry.Kind = r.list.kind[:n]
	}
	entry.APIVersion = cmp.Or(entry.APIVersion, r.list.apiVersion)
	entry.Raw = r.bytes(r.held())
	return entry, true, nil
}

// closeList reads what follows the items.
func (r *Reader) closeList() error {
	levels := 1
	if r.list.event {
		levels = 2 // the list, and the watch event around it
	}
	var eventType string
	for level := range levels {
		err := r.moreMembers(func(key string, c byte) (bool, error) {
			r.release()
			if level == 1 && key == "type" {
				return false, r.text(c, &eventType)
			}
			return false, r.skip(c)
		})
		if err != nil {
			return err
		}
	}
	if eventType != "" && eventType != "ADDED" {
		return r.fault("type: found %s after the items of a list, expected ADDED", eventType)
	}
	return nil
}
