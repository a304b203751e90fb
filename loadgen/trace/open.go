package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

// Open opens a recording, plain or gzipped; its contents decide, not its
// name. It may hold
//
//   - what kubectl get --watch --output-watch-events -o json prints: documents
//     {"type", "object"}, one a line or indented, with the list pages at the
//     begin (their items are added one by one);
//   - lines {"ts", "resource", "type", "object"}, ts in RFC 3339, from which
//     the events get their times;
//   - what kubectl get -o json prints, with --watch or without: objects, or a
//     list of objects.
//
// Kinds that client-go knows become its types, others are unstructured.
// Without "ts" all events are due at 0.
func Open(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t, err := newTrace(path, f, f)
	if err != nil {
		_ = f.Close() // it was only read
		return nil, err
	}
	return t, nil
}

//go:embed sample/rolling-update-pods.jsonl.gz
var sample []byte

// Sample opens the embedded recording: the pod events of the first seconds of
// a real roll-out (sample/README.md).
func Sample() (*Trace, error) {
	return newTrace("sample/rolling-update-pods.jsonl.gz", bytes.NewReader(sample), nil)
}

func newTrace(name string, r io.Reader, closer io.Closer) (*Trace, error) {
	content, err := unpack(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &Trace{
		name:   name,
		closer: closer,
		docs:   jsondoc.NewReader(content),
		decode: decoder{kinds: map[kindName]kindInfo{}},
		known:  map[objectName]struct{}{},
		stats:  Stats{Kinds: map[string]int{}},
	}
	first, err := t.docs.Next()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: no events: the file holds no object", name)
	}
	if err != nil {
		return nil, t.located(err)
	}
	t.ahead = &first
	return t, nil
}

// magics are the first bytes of what a recording is not.
var magics = []struct{ prefix, problem string }{
	{"\x28\xb5\x2f\xfd", "found zstd data, expected JSON, plain or gzipped"},
	{"BZh", "found bzip2 data, expected JSON, plain or gzipped"},
	{"PK\x03\x04", "found a zip archive, expected JSON, plain or gzipped"},
	{"\xff\xfe", "found UTF-16 text, as PowerShell writes it, expected UTF-8"},
	{"\xfe\xff", "found UTF-16 text, expected UTF-8"},
}

// unpack returns the text of a recording.
func unpack(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		text, err := gzip.NewReader(in)
		if err != nil {
			return nil, gzipError(err)
		}
		in = bufio.NewReader(gzipText{text})
		if head, err = in.Peek(4); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.prefix)) {
			return nil, errors.New(m.problem)
		}
	}
	if bom := "\xef\xbb\xbf"; bytes.HasPrefix(head, []byte(bom)) {
		_, err = in.Discard(len(bom))
		return in, err
	}
	return in, nil
}

// gzipText gives the errors of gzip data the words of a user.
type gzipText struct{ *gzip.Reader }

func (g gzipText) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = gzipError(err)
	}
	return n, err
}

func gzipError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("the gzip data is cut short")
	}
	return fmt.Errorf("the gzip data is damaged: %w", err)
}
