package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen/trace/internal/block"
	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

// A Writer writes records. Of a record it takes Time, Recorded, Resource and
// Object, which it copies.
type Writer interface {
	Write(Record) error
	// Flush makes what was written readable, whatever happens next.
	Flush() error
	// Close flushes and ends the recording.
	Close() error
}

// Create begins a file in the compact format, which must not exist. What was
// flushed stays readable if the writer is never closed.
func Create(path string) (Writer, error) {
	w, err := block.Create(path)
	if err != nil {
		return nil, err
	}
	return &compactWriter{path: path, Writer: w}, nil
}

// Resume goes on with a file in the compact format behind its last whole
// block, and returns how many bytes of a cut block it threw away.
func Resume(path string) (Writer, int64, error) {
	w, dropped, err := block.Resume(path)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	return &compactWriter{path: path, Writer: w}, dropped, nil
}

type compactWriter struct {
	path string
	line []byte
	*block.Writer
}

// recorded are the types that events may have; "" is an object without one.
var recorded = []watch.EventType{"", watch.Added, watch.Modified, watch.Deleted, watch.Bookmark}

func (w *compactWriter) Write(r Record) error {
	if !slices.Contains(recorded, r.Recorded) {
		return fmt.Errorf("%s: found an event of type %q, expected one of %q", w.path, r.Recorded, recorded[1:])
	}
	at := int64(block.None)
	if !r.Time.IsZero() {
		ts, err := inRange(r.Time)
		if err != nil {
			return fmt.Errorf("%s: %w", w.path, err)
		}
		at = ts.UnixNano()
	}
	w.line = appendLine(w.line[:0], r)
	return w.Writer.Write(w.line, at)
}

// NewJSON writes lines {"ts", "resource", "type", "object"}, and objects that
// came without an event as they are.
func NewJSON(w io.Writer) Writer { return &jsonWriter{w: bufio.NewWriterSize(w, 64<<10)} }

type jsonWriter struct {
	w    *bufio.Writer
	line []byte
}

func (j *jsonWriter) Write(r Record) error {
	j.line = appendLine(j.line[:0], r)
	_, err := j.w.Write(j.line)
	return err
}

// appendLine adds a record as a line.
func appendLine(line []byte, r Record) []byte {
	if r.Recorded == "" {
		return append(append(line, wireJSON(r.Object)...), '\n')
	}
	line = append(line, '{')
	if !r.Time.IsZero() {
		line = r.Time.UTC().AppendFormat(append(line, `"ts":"`...), time.RFC3339Nano)
		line = append(line, `",`...)
	}
	if r.Resource != "" {
		line = append(appendJSON(append(line, `"resource":`...), r.Resource), ',')
	}
	line = append(append(append(line, `"type":"`...), r.Recorded...), `","object":`...)
	return append(append(line, wireJSON(r.Object)...), "}\n"...)
}

func (j *jsonWriter) Flush() error { return j.w.Flush() }

func (j *jsonWriter) Close() error { return j.w.Flush() }

// wireJSON removes the white space of JSON that was indented or spaced:
// recordings hold one line a record, and sizes are those of the wire. Writers
// that space put a blank behind the first colon too.
func wireJSON(object []byte) []byte {
	colon := bytes.IndexByte(object, ':')
	if spaced := colon >= 0 && bytes.HasPrefix(object[colon+1:], []byte(" ")); !spaced && bytes.IndexByte(object, '\n') < 0 {
		return object
	}
	var out bytes.Buffer
	if json.Compact(&out, object) != nil {
		return object // the check of the record names the fault
	}
	return out.Bytes()
}

// withType is a record's object, with the kind and version that the API server
// leaves to the list that an object comes in: what is copied is without it.
func withType(r Record) []byte {
	if begins(r.Object, "kind", r.Kind, "apiVersion", r.APIVersion) || begins(r.Object, "apiVersion", r.APIVersion, "kind", r.Kind) {
		return r.Object // as nearly all that is recorded
	}
	own, err := jsondoc.NewReader(nil).Describe(r.Object)
	object := r.Object
	if err == nil && own.APIVersion == "" {
		object = withMember(object, "apiVersion", r.APIVersion)
	}
	if err == nil && own.Kind == "" {
		object = withMember(object, "kind", r.Kind)
	}
	return object
}

// begins reports whether an object's first two members are these.
func begins(object []byte, key, value, key2, value2 string) bool {
	at := 0
	for _, part := range [...]string{`{"`, key, `":"`, value, `","`, key2, `":"`, value2, `"`} {
		if end := at + len(part); end > len(object) || string(object[at:end]) != part {
			return false
		}
		at += len(part)
	}
	return true
}

// withMember puts a member at the start of an object.
func withMember(object []byte, key, value string) []byte {
	longer := append(appendJSON(append(appendJSON([]byte("{"), key), ':'), value), ',')
	rest := bytes.TrimLeft(object[bytes.IndexByte(object, '{')+1:], " \t\r\n")
	if rest[0] == '}' {
		longer = longer[:len(longer)-1]
	}
	return append(longer, rest...)
}
