package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/loadgen"
)

// readAll reads to the end; that the file was cut short is an error here.
func readAll(t *Trace) (events []loadgen.Event, err error) {
	for {
		event, err := t.Next()
		if err == io.EOF {
			return events, t.Cut()
		}
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
}

// readText reads a recording given as text, in single bytes, so that every
// value crosses a read.
func readText(t *testing.T, text string) ([]loadgen.Event, Stats, error) {
	t.Helper()
	trace, err := newTrace("x.json", iotest.OneByteReader(strings.NewReader(text)), nil, Part{})
	if err != nil {
		return nil, Stats{}, err
	}
	events, err := readAll(trace)
	if err != nil {
		_, again := trace.Next()
		require.Equal(t, err, again, "an error is for good")
	}
	return events, trace.Stats(), err
}

// brief writes events as "ADDED ns/name@version".
func brief(events []loadgen.Event) (all []string) {
	for _, e := range events {
		all = append(all, fmt.Sprintf("%s %s/%s@%s", e.Type, e.Object.GetNamespace(), e.Object.GetName(), e.Object.GetResourceVersion()))
	}
	return all
}

func podJSON(name string, version int) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"n","name":%q,"resourceVersion":"%d","labels":{"a{]":"\"[\\"}}}`, name, version)
}

func eventJSON(kind, object string) string {
	return fmt.Sprintf(`{"type":%q,"object":%s}`, kind, object)
}

func TestTraceForms(t *testing.T) {
	list := `{"apiVersion":"v1","items":[` + podJSON("a", 1) + `,` + podJSON("b", 2) + `],"kind":"PodList","metadata":{"resourceVersion":"2"}}`
	kindless := strings.ReplaceAll(podJSON("a", 1), `"apiVersion":"v1","kind":"Pod",`, "")
	rest := []string{eventJSON("MODIFIED", podJSON("a", 3)), eventJSON("DELETED", podJSON("b", 4))}
	want := []string{"ADDED n/a@1", "ADDED n/b@2", "MODIFIED n/a@3", "DELETED n/b@4"}
	lines := func(docs ...string) string { return strings.Join(docs, "\n") + "\n" }
	indent := func(text string) string {
		var out bytes.Buffer
		for line := range strings.Lines(text) {
			require.NoError(t, json.Indent(&out, []byte(line), "", "    "))
		}
		return out.String()
	}
	watched := lines(append([]string{eventJSON("ADDED", podJSON("a", 1)), eventJSON("ADDED", podJSON("b", 2))}, rest...)...)
	paged := lines(append([]string{eventJSON("ADDED", list)}, rest...)...)
	cases := []struct {
		name, text string
		want       []string
	}{
		{"one event a line", watched, want},
		{"indented, as older kubectl prints", indent(watched), want},
		{"a list page first", paged, want},
		{"a list page first, indented", indent(paged), want},
		{"keys sorted: the type comes last", strings.ReplaceAll(lines(`{"object":`+list+`,"type":"ADDED"}`, rest[0]), "\n", "\r\n"), want[:3]},
		{"an empty page", lines(eventJSON("ADDED", `{"kind":"PodList","apiVersion":"v1","items":[]}`), eventJSON("ADDED", `{"kind":"PodList","apiVersion":"v1","items":null}`), eventJSON("ADDED", podJSON("a", 1))), want[:1]},
		{"no white space between documents", strings.ReplaceAll(watched, "\n", ""), want},
		{"a plain list, indented", indent(strings.ReplaceAll(list, "PodList", "List")), want[:2]},
		{"the API server's own list, which names the kind once", `{"kind":"PodList","apiVersion":"v1","items":[` + kindless + `]}`, want[:1]},
		{"bare objects of a watch without --output-watch-events", lines(podJSON("a", 1), podJSON("b", 2), podJSON("a", 3)), want[:3]},
		{"a byte order mark", "\xef\xbb\xbf" + watched, want},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			events, stats, err := readText(t, c.text)
			require.NoError(t, err)
			require.Equal(t, c.want, brief(events))
			require.Equal(t, len(c.want), stats.Events())
			require.Equal(t, map[string]int{"Pod": len(c.want)}, stats.Kinds)
			require.False(t, stats.Timed)
			require.IsType(t, &corev1.Pod{}, events[0].Object)
			require.Equal(t, `"[\`, events[0].Object.GetLabels()["a{]"])

			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			_, err = io.WriteString(w, c.text)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			gzipped, _, err := readText(t, packed.String())
			require.NoError(t, err)
			require.Equal(t, events, gzipped)
		})
	}
}

func TestTraceUnknownKindIsUnstructured(t *testing.T) {
	events, stats, err := readText(t, eventJSON("ADDED", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","resourceVersion":"1"},"size":3}`))
	require.NoError(t, err)
	require.Equal(t, []string{"ADDED /w@1"}, brief(events))
	require.Equal(t, int64(3), events[0].Object.(*unstructured.Unstructured).Object["size"])
	require.Equal(t, map[string]int{"Widget.example.com": 1}, stats.Kinds)
}

// A recording may begin at any moment; a cache needs the first event of an
// object to add it.
func TestTraceKeepsCacheSemantics(t *testing.T) {
	bookmark := `{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"9"}}`
	text := eventJSON("MODIFIED", podJSON("a", 1)) + eventJSON("DELETED", podJSON("b", 2)) + eventJSON("ADDED", podJSON("a", 3)) +
		eventJSON("BOOKMARK", bookmark) + eventJSON("DELETED", podJSON("a", 4)) + eventJSON("ADDED", podJSON("a", 5)) + eventJSON("MODIFIED", podJSON("a", 5))
	events, stats, err := readText(t, text)
	require.NoError(t, err)
	require.Equal(t, []string{"ADDED n/a@1", "DELETED n/b@2", "MODIFIED n/a@3", "BOOKMARK /@9", "DELETED n/a@4", "ADDED n/a@5", "MODIFIED n/a@5"}, brief(events))
	require.Equal(t, Stats{
		Added: 2, Modified: 2, Deleted: 2, Bookmarks: 1,
		ImpliedAdds: 1, RepeatedAdds: 1, UnknownDeletes: 1, Repeated: 1, Kinds: map[string]int{"Pod": 6},
	}, stats)
}

func TestTraceTimes(t *testing.T) {
	line := func(ts string, version int) string {
		return fmt.Sprintf(`{"ts":%q,"resource":"pods","type":"MODIFIED","object":%s}`+"\n", ts, podJSON("a", version))
	}
	text := line("2026-01-01T00:00:00.5Z", 1) + line("2025-12-31T23:00:00Z", 2) + line("2026-01-01T00:00:02Z", 3) + line("2026-01-01T00:00:01Z", 4) + line("2026-01-01T01:00:02.000000001+01:00", 5)
	events, stats, err := readText(t, text)
	require.NoError(t, err)
	var at []time.Duration
	for _, e := range events {
		at = append(at, e.At)
	}
	require.Equal(t, []time.Duration{0, 0, 1500 * time.Millisecond, 1500 * time.Millisecond, 1500*time.Millisecond + 1}, at)
	require.Equal(t, 2, stats.Backwards)
	require.True(t, stats.Timed)
}

func TestTraceErrors(t *testing.T) {
	good := eventJSON("ADDED", podJSON("a", 1)) + "\n"
	cases := []struct{ name, text, want string }{
		{"empty", "", `x.json: no events: the file holds no object`},
		{"white space", " \n\n", `x.json: no events: the file holds no object`},
		{"not JSON", "NAME READY\nweb 1/1\n", `x.json:1: document 1: found 'N', expected a JSON document, which begins with '{'`},
		{"UTF-16", "\xff\xfe{\x00", `x.json: found UTF-16 text, as PowerShell writes it, expected UTF-8`},
		{"bzip2", "BZh9....", `x.json: found bzip2 data, expected a recording, plain or compressed by gzip or zstd`},
		{"file ends within a list", eventJSON("ADDED", `{"items":[`+podJSON("a", 1)+`,`)[:150], `x.json:1: document 1: the file ends within a JSON document: cut short`},
		{"line cut within a string", good + good[:55] + "\n" + good, `x.json:2: document 2: the JSON document is cut short: the line ends within a string`},
		{"line cut between values", good + good[:57] + "\n" + good, `x.json:2: document 2: the JSON document is cut short, another one begins on line 3`},
		{"line cut within the event", good + `{"type":"ADDED",` + "\n" + good, `x.json:2: document 2: the JSON document is cut short, another one begins on line 3`},
		{"invalid JSON", good + strings.Replace(good, `"n",`, `"n" `, 1), `x.json:2: document 2: invalid JSON: found '"', expected ','`},
		{"invalid JSON in an indented object", "{\n\"type\": \"ADDED\",\n \"object\": {\n  \"kind\": \"Pod\", \"apiVersion\": \"v1\",\n  \"metadata\": {\"name\" \"a\"}}}", `x.json:5: document 1: invalid JSON: found '"', expected ':'`},
		{"invalid JSON below the metadata", "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},\n\"spec\":{\"a\" 1}}}", `x.json:2: document 1: invalid JSON: invalid character '1' after object key`},
		{"invalid JSON above the object", good + `{"type":"ADDED" "object":{}}`, `x.json:2: document 2: invalid JSON: found '"', expected ','`},
		{"no name", good + strings.Replace(good, `"name":"a",`, "", 1), `x.json:2: document 2: Pod without metadata.name`},
		{"no name in a list", eventJSON("ADDED", `{"items":[`+podJSON("a", 1)+",\n"+podJSON("", 1)+`]}`), `x.json:2: document 1: Pod without metadata.name`},
		{"nothing but a watch error", eventJSON("ERROR", expired), `x.json: no events: the file holds no object; skipped 1 errors of the API server: too old resource version: 1 (9) (Expired)`},
		{"unknown type", good + eventJSON("UPDATED", podJSON("a", 1)), `x.json:2: document 2: type: unknown value "UPDATED", expected ADDED, MODIFIED, DELETED, BOOKMARK or ERROR`},
		{"type is no string", `{"type":7,"object":` + podJSON("a", 1) + `}`, `x.json:1: document 1: type: missing or no string, expected ADDED, MODIFIED, DELETED, BOOKMARK or ERROR`},
		{"object is no object", `{"type":"ADDED","object":null}`, `x.json:1: document 1: object: found 'n', expected an object`},
		{"no kind", eventJSON("ADDED", `{"metadata":{"name":"a"}}`), `x.json:1: document 1: an object without kind`},
		{"no apiVersion", eventJSON("ADDED", `{"kind":"Pod","metadata":{"name":"a"}}`), `x.json:1: document 1: Pod without apiVersion`},
		{"field of the wrong type", eventJSON("ADDED", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":5}}`),
			`x.json:1: document 1: not a Pod: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string`},
		{"neither event nor object", `{"a":1}`, `x.json:1: document 1: found a document with neither "object" nor "kind", expected a watch event or an object`},
		{"time that is a number", `{"ts":12345,"type":"ADDED","object":` + podJSON("a", 1) + `}`, `x.json:1: document 1: ts: found '1', expected a time in quotes`},
		{"a Table", `{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}`, `x.json:1: document 1: found a Table, which is made to be printed, expected objects as kubectl get -o json has them`},
		{"Tables of a watch", good + eventJSON("ADDED", `{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}`), `x.json:2: document 2: found a Table, which is made to be printed, expected objects as kubectl get -o json has them`},
		{"Latin-1", good + strings.Replace(good, `"name":"a"`, "\n\"name\":\"\xe9\"", 1), `x.json:3: document 2: found text that is not UTF-8`},
		{"a byte order mark between files that were joined", good + "\xef\xbb\xbf" + good, `x.json:2: document 2: found byte 0xef, expected a JSON document, which begins with '{'`},
		{"a Status alone", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"pods is forbidden","reason":"Forbidden"}`, `x.json:1: document 1: the API server ended the watch: pods is forbidden (Forbidden)`},
		{"time", `{"ts":"noon","type":"ADDED","object":` + podJSON("a", 1) + `}`, `x.json:1: document 1: ts: found "noon", expected a time such as 2006-01-02T15:04:05.999999999Z`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readText(t, c.text)
			require.EqualError(t, err, c.want)
		})
	}
}

// A file that was cut short ends a trace as a whole one does, and the trace tells
// of it; a part that asks for what comes only behind the cut fails as ever.
func TestTraceCut(t *testing.T) {
	good := eventJSON("ADDED", podJSON("a", 1)) + "\n"
	for name, c := range map[string]struct{ data, want string }{
		"x.gz":   {string(sample[:len(sample)/8]), "x.gz: the gzip data is cut short"},
		"x.json": {good + good[:60], "x.json:2: document 2: the file ends within a JSON document: cut short"},
	} {
		open := func(p Part) *Trace {
			trace, err := newTrace(name, strings.NewReader(c.data), nil, p)
			require.NoError(t, err)
			return trace
		}
		cut := open(Part{})
		require.NoError(t, cut.Cut(), "not read yet")
		events, err := readAll(cut)
		require.NotEmpty(t, events, "what came before the cut is delivered")
		require.EqualError(t, err, c.want)
		require.ErrorIs(t, err, ErrCut)
		_, err = cut.NextRecord()
		require.Equal(t, io.EOF, err, "again")

		_, err = readAll(open(Part{Resources: []string{"widgets"}}))
		require.EqualError(t, err, name+`: resource "widgets": found no events of it, but of pods`)
	}
	whole, err := Sample()
	require.NoError(t, err)
	_, err = readAll(whole)
	require.NoError(t, err)
}

func TestTraceGzipFaults(t *testing.T) {
	damaged := bytes.Clone(sample)
	damaged[len(damaged)/8] ^= 0xff
	trace, err := newTrace("x.gz", bytes.NewReader(damaged), nil, Part{})
	require.NoError(t, err)
	_, err = readAll(trace)
	require.Error(t, err)
	require.Contains(t, err.Error(), "x.gz:")

	_, err = newTrace("x.gz", bytes.NewReader(sample[:7]), nil, Part{})
	require.EqualError(t, err, "x.gz: the gzip data is cut short")
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pods.txt") // the name says nothing
	require.NoError(t, os.WriteFile(path, sample, 0o600))
	trace, err := Open(path)
	require.NoError(t, err)
	_, err = trace.Next()
	require.NoError(t, err)
	require.NoError(t, trace.Close())
	_, err = trace.Next()
	require.EqualError(t, err, path+": the trace was closed")

	_, err = Open(path + ".none")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(filepath.Dir(path))
	require.Error(t, err)
}

func TestSample(t *testing.T) {
	require.Less(t, len(sample), 300_000, "the embedded recording stays small")
	trace, err := Sample()
	require.NoError(t, err)
	events, err := readAll(trace)
	require.NoError(t, err)
	stats := trace.Stats()
	// As recorded: 321 added, 1,172 modified, 132 deleted (sample/README.md).
	require.Equal(t, 321, stats.Added-stats.ImpliedAdds)
	require.Equal(t, 1172, stats.Modified+stats.ImpliedAdds)
	require.Equal(t, 132, stats.Deleted)
	require.Zero(t, stats.UnknownDeletes+stats.RepeatedAdds+stats.Backwards)
	require.Equal(t, map[string]int{"Pod": 1625}, stats.Kinds)
	last := events[len(events)-1].At
	require.True(t, 12*time.Second < last && last < 13*time.Second, "ends at %v", last)

	contents := map[cache.ObjectName]bool{}
	for _, event := range events {
		if name := cache.MetaObjectToName(event.Object); event.Type == watch.Deleted {
			delete(contents, name)
		} else {
			contents[name] = true
		}
	}
	require.Len(t, contents, stats.Added-stats.Deleted)
}

// FuzzTrace: whatever the file holds, each event is complete and an error
// names the file.
func FuzzTrace(f *testing.F) {
	f.Add([]byte(eventJSON("ADDED", podJSON("a", 1)) + "\n" + eventJSON("DELETED", podJSON("a", 2))))
	f.Add([]byte(`{"type":"ADDED","object":{"apiVersion":"v1","items":[` + podJSON("a", 1) + `],"kind":"PodList"}}`))
	f.Add([]byte("{\n \"kind\": \"List\", \"items\": [\n]}"))
	f.Add([]byte(`{"ts":"2026-01-01T00:00:00Z","type":"BOOKMARK","object":{"kind":"Lease","apiVersion":"coordination.k8s.io/v1"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(r io.Reader) ([]loadgen.Event, error) {
			trace, err := newTrace("x.json", r, nil, Part{})
			if err != nil {
				return nil, err
			}
			return readAll(trace)
		}
		events, err := read(bytes.NewReader(data))
		for _, e := range events {
			require.True(t, e.Type == watch.Bookmark || e.Object.GetName() != "")
		}
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "x.json:"), "%v", err)
			require.NotContains(t, err.Error(), "\n")
		}
		slow, slowErr := read(iotest.OneByteReader(bytes.NewReader(data)))
		require.Equal(t, brief(events), brief(slow), "independent of how reads are cut")
		require.Equal(t, err == nil, slowErr == nil)
	})
}

// The trace holds one object at a time, however many documents it reads.
func TestTraceMemoryIsBounded(t *testing.T) {
	item := podJSON("a", 1)
	endless := &repeat{head: `{"apiVersion":"v1","kind":"List","items":[` + item, body: "," + item, n: 30_000, tail: "]}"}
	trace, err := newTrace("x.json", endless, nil, Part{})
	require.NoError(t, err)
	events := 0
	for err == nil {
		_, err = trace.Next()
		events++
	}
	require.True(t, errors.Is(err, io.EOF), "%v", err)
	require.Equal(t, 30_002, events)
	require.Less(t, trace.source.(*jsonSource).docs.Buffered(), 1<<20, "of a document of %d bytes", 30_000*len(item))
}

type repeat struct {
	head, body, tail string
	n                int
	left             string
	started, ended   bool
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.left == "" {
		switch {
		case !r.started:
			r.left, r.started = r.head, true
		case r.n > 0:
			r.left, r.n = r.body, r.n-1
		case !r.ended:
			r.left, r.ended = r.tail, true
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

const expired = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old resource version: 1 (9)","reason":"Expired","code":410}`

// A recorder that watches again after an error goes on in the same file.
func TestTraceGoesOnAfterWatchErrors(t *testing.T) {
	events, stats, err := readText(t, eventJSON("ADDED", podJSON("a", 1))+eventJSON("ERROR", expired)+eventJSON("ADDED", podJSON("a", 3)))
	require.NoError(t, err)
	require.Equal(t, []string{"ADDED n/a@1", "MODIFIED n/a@3"}, brief(events))
	require.Equal(t, map[string]int{"errors of the API server: too old resource version: 1 (9) (Expired)": 1}, stats.Skipped)
}

// However the JSON was spaced, a record is as long as on the wire.
func TestTraceRecordsAreOneLine(t *testing.T) {
	want := podJSON("a", 1)
	var value map[string]any
	require.NoError(t, json.Unmarshal([]byte(want), &value))
	indented, err := json.MarshalIndent(value, "", "  ")
	require.NoError(t, err)
	spaced := strings.ReplaceAll(string(indented), "\n", "")
	for name, object := range map[string]string{"compact": want, "indented": string(indented), "spaced": spaced} {
		path := filepath.Join(t.TempDir(), "x.json")
		require.NoError(t, os.WriteFile(path, []byte(eventJSON("ADDED", object)), 0o666))
		in, err := Open(path)
		require.NoError(t, err)
		record, err := in.NextRecord()
		require.NoError(t, err)
		require.NoError(t, in.Close())
		require.JSONEq(t, want, string(record.Object), name)
		require.Len(t, record.Object, len(want), name)
	}
}
