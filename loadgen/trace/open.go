package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/loadgen/trace/internal/block"
	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

// ErrCut is wrapped by the error of opening a recording whose file was cut
// short before its first event. Of a later cut, [Trace.Cut] tells.
var ErrCut = block.ErrCut

// A Part says which part of a recording is wanted. The zero value is all.
type Part struct {
	// Resources, by any of their names: "pods", "Pod", "deployments.apps". One
	// that does not occur is an error at the end.
	Resources []string
	// From and To are counted from the recording's start; 0 is its start and
	// its end. In the compact format what comes before From is not unpacked. An
	// object that existed before appears with its next event.
	From, To time.Duration
}

func (p Part) check(name string) error {
	if p.From < 0 || p.To < 0 || p.To > 0 && p.To <= p.From {
		return fmt.Errorf("%s: the part from %v to %v is empty, expected an end after its start", name, p.From, p.To)
	}
	return nil
}

// Open opens a recording, plain or compressed by gzip or zstd; its contents
// decide, not its name. It may hold
//
//   - the compact format of this package (format.md);
//   - what kubectl get --watch --output-watch-events -o json prints: documents
//     {"type", "object"}, one a line or indented, with the list pages at the
//     begin (their items are added one by one);
//   - lines {"ts", "resource", "type", "object"}, ts in RFC 3339, from which
//     the events get their times;
//   - what kubectl get -o json prints, with --watch or without: objects, or a
//     list of objects;
//   - audit logs of a cluster's API servers, one after the other in any order,
//     as they write them or as a log service or container runtime wraps them:
//     requests that changed an object become events, of the metadata alone
//     unless the log has the object;
//   - a SimKube trace, version 2.
//
// Kinds that client-go knows become its types, others are unstructured.
// Without times all events are due at 0. A recording whose file was cut short, as
// of a recorder that died, or is still being written, ends where the cut is.
func Open(path string) (*Trace, error) { return OpenPart(path, Part{}) }

// OpenPart is [Open] for a part of the recording.
func OpenPart(path string, part Part) (*Trace, error) {
	if err := part.check(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t, err := newTrace(path, f, f, part)
	if err != nil {
		_ = f.Close() // it was only read
		return nil, err
	}
	return t, nil
}

// OpenReader is [OpenPart] for a recording that is not a file, as what another
// program writes; the name is for errors. Closing the trace leaves r open.
func OpenReader(name string, r io.Reader, part Part) (*Trace, error) {
	if err := part.check(name); err != nil {
		return nil, err
	}
	return newTrace(name, r, nil, part)
}

//go:embed sample/rolling-update-pods.jsonl.gz
var sample []byte

// Sample opens the embedded recording: the pod events of the first seconds of
// a real roll-out (sample/README.md).
func Sample() (*Trace, error) {
	return newTrace("sample/rolling-update-pods.jsonl.gz", bytes.NewReader(sample), nil, Part{})
}

func newTrace(name string, r io.Reader, closer io.Closer, part Part) (*Trace, error) {
	t := &Trace{
		name:      name,
		closer:    closer,
		decode:    decoder{map[kindName]kindInfo{}, map[schema.GroupResource]schema.GroupVersionKind{}},
		selection: newSelection(part.Resources),
		window:    window{from: part.From, to: part.To},
		ledger:    newLedger(),
	}
	in := bufio.NewReaderSize(r, 64<<10)
	content, err := unpack(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if bytes.HasPrefix(start(content), []byte(block.Magic)) {
		content = t.blocks(content)
	}
	if t.source, err = pick(content); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if lines, ok := t.source.(*jsonSource); ok {
		entry, err := lines.docs.Next()
		switch {
		case err == io.EOF:
			return nil, t.located(t.empty())
		case err != nil:
			return nil, t.located(err)
		case isAudit(entry) || entry.Wrapping:
			t.source = newAuditSource(name, lines.docs, entry, t.decode)
			return t, nil // others may join it
		}
		lines.first = &entry
	}
	first, err := t.source.next()
	if err == io.EOF {
		return nil, t.located(t.empty())
	}
	if err != nil {
		return nil, t.located(err)
	}
	t.ahead = &first
	return t, nil
}

// empty says that a file has nothing in it, and what was left out.
func (t *Trace) empty() error {
	if !t.window.begin.IsZero() {
		return t.window.empty()
	}
	return fmt.Errorf("no events: the file holds no object%s", reasons(t.source.skipped()))
}

// start is the first bytes, as far as there are any.
func start(in *bufio.Reader) []byte {
	head, _ := in.Peek(len(block.Magic)) // who reads them says what is wrong
	return head
}

// blocks is the lines of the compact format, from the wanted begin on.
func (t *Trace) blocks(in *bufio.Reader) *bufio.Reader {
	r := block.NewReader(in)
	if first := r.First(); t.window.from > 0 && first != block.None {
		t.window.begin = time.Unix(0, first).UTC()
		if last := r.SkipBefore(t.window.begin.Add(t.window.from).UnixNano()); last != block.None {
			t.window.at = time.Duration(last - first)
		}
	}
	return bufio.NewReaderSize(r, 64<<10)
}

// pick chooses the source by the first bytes.
func pick(in *bufio.Reader) (source, error) {
	head := start(in)
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.prefix)) {
			return nil, errors.New(m.problem)
		}
	}
	if len(head) > 0 && isMsgpackMap(head[0]) {
		return newSimKube(in)
	}
	if bom := "\xef\xbb\xbf"; bytes.HasPrefix(head, []byte(bom)) {
		if _, err := in.Discard(len(bom)); err != nil {
			return nil, err
		}
	}
	if hasPrefixes(peek(in)) {
		return &jsonSource{docs: jsondoc.NewReader(&prefixed{in: in})}, nil
	}
	return &jsonSource{docs: jsondoc.NewReader(in)}, nil
}

// peek is the begin of a file that begins with something else than JSON, as far
// as there is memory for it, or else nothing: who writes JSON may be waited for.
func peek(in *bufio.Reader) []byte {
	head, _ := in.Peek(1)
	if len(head) == 0 || head[0] == '{' || head[0] == '[' {
		return nil
	}
	head, _ = in.Peek(in.Size()) // its end is no error here
	return head
}

// magics are the first bytes of what a recording is not.
var magics = []struct{ prefix, problem string }{
	{block.Old, "found version 1 of the compact format, expected version 2: the benchrun that wrote it makes lines of it, which this one reads: benchrun trace convert FILE --format jsonl"},
	{"BZh", "found bzip2 data, expected a recording, plain or compressed by gzip or zstd"},
	{"PK\x03\x04", "found a zip archive, expected a recording, plain or compressed by gzip or zstd"},
	{"\x94", "found a SimKube trace of a version before 2, expected version 2"},
	{"---", yamlProblem}, {"apiVersion:", yamlProblem}, {"kind:", yamlProblem}, {"items:", yamlProblem},
	{"\xff\xfe", "found UTF-16 text, as PowerShell writes it, expected UTF-8"},
	{"\xfe\xff", "found UTF-16 text, expected UTF-8"},
}

const yamlProblem = "found YAML, expected JSON, as kubectl -o json prints it"

// unpack returns the contents of a file that may be compressed.
func unpack(in *bufio.Reader) (*bufio.Reader, error) {
	head, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		text, err := gzip.NewReader(in)
		if err != nil {
			return nil, unpackError("gzip", err)
		}
		return bufio.NewReaderSize(unpacked{"gzip", text}, 64<<10), nil
	case string(head) == "\x28\xb5\x2f\xfd":
		text, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, unpackError("zstd", err)
		}
		return bufio.NewReaderSize(unpacked{"zstd", text}, 64<<10), nil
	}
	return in, nil
}

// unpacked gives the errors of compressed data the words of a user.
type unpacked struct {
	format string
	io.Reader
}

func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = unpackError(u.format, err)
	}
	return n, err
}

func unpackError(format string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the %s data is %w", format, ErrCut)
	}
	return fmt.Errorf("the %s data is damaged: %w", format, err)
}

// reasons lists what a source skipped, for an error.
func reasons(skipped map[string]int) string {
	if len(skipped) == 0 {
		return ""
	}
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		all = append(all, fmt.Sprintf("%d %s", skipped[reason], reason))
	}
	return "; skipped " + strings.Join(all, ", ")
}
