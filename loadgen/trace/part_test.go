package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/loadgen/pace"
)

// writeLines writes a recording of one pod, node or lease a second.
func writeLines(t *testing.T, n int) string {
	t.Helper()
	var text strings.Builder
	for i := range n {
		kind := [][2]string{{"Pod", "v1"}, {"Node", "v1"}, {"Lease", "coordination.k8s.io/v1"}}[i%3]
		fmt.Fprintf(&text, `{"ts":"2026-01-01T00:%02d:%02dZ","resource":"%ss","type":"MODIFIED","object":{"kind":%q,"apiVersion":%q,"metadata":{"namespace":"n","name":"x","resourceVersion":"%d"}}}`+"\n",
			i/60, i%60, strings.ToLower(kind[0]), kind[0], kind[1], i)
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	return path
}

func versions(t *testing.T, path string, part Part) (all []string, stats Stats, err error) {
	t.Helper()
	trace, err := OpenPart(path, part)
	if err != nil {
		return nil, Stats{}, err
	}
	defer trace.Close()
	events, err := readAll(trace)
	for _, e := range events {
		all = append(all, e.Object.GetResourceVersion())
	}
	return all, trace.Stats(), err
}

func TestPart(t *testing.T) {
	path := writeLines(t, 100)
	compact := filepath.Join(t.TempDir(), "x.ibt")
	w, err := Create(compact)
	require.NoError(t, err)
	trace := open(t, path)
	for i := range 100 { // in many blocks, so that the index is used
		record, err := trace.NextRecord()
		require.NoError(t, err)
		require.NoError(t, w.Write(record))
		if i%10 == 9 {
			require.NoError(t, w.Flush())
		}
	}
	require.NoError(t, w.Close())
	for _, path := range []string{path, compact} {
		got, stats, err := versions(t, path, Part{From: 42 * time.Second, To: 45 * time.Second})
		require.NoError(t, err)
		require.Equal(t, []string{"42", "43", "44", "45"}, got)
		require.Equal(t, 3, stats.ImpliedAdds, "they existed before")

		for _, name := range []string{"leases", "Lease", "leases.coordination.k8s.io"} {
			got, stats, err = versions(t, path, Part{Resources: []string{name}, To: 10 * time.Second})
			require.NoError(t, err)
			require.Equal(t, []string{"2", "5", "8"}, got)
			require.Equal(t, 8, stats.Unselected)
		}
		_, _, err = versions(t, path, Part{Resources: []string{"pods", "jobs"}})
		require.EqualError(t, err, path+`: resource "jobs": found no events of it, but of leases.coordination.k8s.io, nodes, pods`)
		_, _, err = versions(t, path, Part{From: time.Hour, Resources: []string{"pods"}})
		require.EqualError(t, err, path+": found no events from 1h0m0s after its start on, the last comes at 1m39s")
		_, _, err = versions(t, path, Part{From: 500 * time.Millisecond, To: 600 * time.Millisecond})
		require.ErrorContains(t, err, "found no events from 500ms to 600ms after its start")
		_, _, err = versions(t, path, Part{From: 2, To: 1})
		require.ErrorContains(t, err, "expected an end after its start")
	}
	untimed := filepath.Join(t.TempDir(), "untimed")
	require.NoError(t, os.WriteFile(untimed, []byte(eventJSON("ADDED", podJSON("a", 1))), 0o600))
	_, _, err = versions(t, untimed, Part{From: 1})
	require.EqualError(t, err, untimed+": the events carry no times to choose a part by")
}

func TestMerge(t *testing.T) {
	path := writeLines(t, 9)
	var traces []*Trace
	for _, resource := range []string{"nodes", "leases", "pods"} {
		trace, err := OpenPart(path, Part{Resources: []string{resource}})
		require.NoError(t, err)
		defer trace.Close()
		traces = append(traces, trace)
	}
	merged := Merge(traces...)
	for i := range 9 {
		record, err := merged.NextRecord()
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i), record.ResourceVersion)
		require.Equal(t, time.Duration(i)*time.Second, record.At)
	}
	_, err := merged.NextRecord()
	require.ErrorIs(t, err, io.EOF)
}

func TestPace(t *testing.T) {
	for text, want := range map[string]time.Duration{"1": 8 * time.Second, "2x": 4 * time.Second, "0.5": 16 * time.Second, "max": 0} {
		p, err := ParsePace(text)
		require.NoError(t, err)
		require.Equal(t, want, p.due(8*time.Second), text)
	}
	for _, text := range []string{"", "0", "-1", "fast", "NaN", "1e99"} {
		_, err := ParsePace(text)
		require.Error(t, err, text)
	}
}

// A sink that blocks makes events late. None is lost, and the next one that is
// in time is in time again.
func TestReplay(t *testing.T) {
	trace := open(t, writeLines(t, 9))
	synctest.Test(t, func(t *testing.T) {
		pacer, begin := pace.NewTimer(), time.Now()
		var at []time.Duration
		n, err := Replay(t.Context(), trace.NextRecord, 2, pacer, func(r Record) error {
			at = append(at, time.Since(begin))
			if len(at) == 3 {
				time.Sleep(1700 * time.Millisecond)
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, 9, n)
		var ms []int64
		for _, d := range at {
			ms = append(ms, d.Milliseconds())
		}
		require.Equal(t, []int64{0, 500, 1000, 2700, 2700, 2700, 3000, 3500, 4000}, ms)
		require.EqualValues(t, 9, pacer.Lateness().Count())
		require.InEpsilon(t, 1200*time.Millisecond, pacer.Lateness().Max(), 0.001)
	})
}

func TestReplayEnds(t *testing.T) {
	full := errors.New("full")
	n, err := Replay(t.Context(), open(t, writeLines(t, 9)).NextRecord, AsFastAsPossible, nil, func(r Record) error {
		if r.ResourceVersion == "4" {
			return full
		}
		return nil
	})
	require.Equal(t, full, err)
	require.Equal(t, 4, n)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Replay(ctx, open(t, writeLines(t, 9)).NextRecord, 1, pace.NewTimer(), func(Record) error { return nil })
	require.ErrorIs(t, err, context.Canceled)
}

// The sample in the compact format and back is the same, and it can be read
// from the compact format after any cut.
func TestSampleRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sample.gz")
	require.NoError(t, os.WriteFile(path, sample, 0o600))
	roundTrip(t, path, 200)

	compact := filepath.Join(t.TempDir(), "sample.ibt")
	w, err := Create(compact)
	require.NoError(t, err)
	copyAll(t, path, w)
	info, err := os.Stat(compact)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(len(sample))*2/3, "well under gzip")
	require.NoError(t, os.Truncate(compact, info.Size()-200))
	whole := records(t, compact)
	require.Positive(t, whole)
	require.Less(t, whole, 1625)
	resumed, dropped, err := Resume(compact)
	require.NoError(t, err)
	require.Positive(t, dropped)
	copyAll(t, path, resumed)
	require.Equal(t, whole+1625, records(t, compact))
}

// records counts the records before the end of a file, or before its cut.
func records(t *testing.T, path string) (n int) {
	trace := open(t, path)
	for {
		if _, err := trace.NextRecord(); err != nil {
			require.Equal(t, io.EOF, err)
			return n
		}
		n++
	}
}

// Indented documents become lines.
// The API server's own lists name kind and version once. What is copied of them
// says of each object what it is, or nobody could read it.
func TestListRoundTrip(t *testing.T) {
	const item = `{"metadata":{"namespace":"n","name":"a","resourceVersion":"1"}}`
	const list = `{"kind":"PodList","apiVersion":"v1","items":[` + item + `,{"kind":"Pod","metadata":{"name":"b"}},{"apiVersion":"v1","metadata":{"name":"c"}}]}`
	for name, text := range map[string]string{"plain": list, "paged": eventJSON("ADDED", list)} {
		t.Run(name, func(t *testing.T) {
			records, err := OpenReader("list", strings.NewReader(text), Part{})
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), "list.ibt")
			compact, err := Create(path)
			require.NoError(t, err)
			var lines strings.Builder
			jsonl := NewJSON(&lines)
			for range 3 {
				r, err := records.NextRecord()
				require.NoError(t, err)
				require.NoError(t, errors.Join(compact.Write(r), jsonl.Write(r)))
			}
			_, err = records.NextRecord()
			require.Equal(t, io.EOF, err)
			require.NoError(t, errors.Join(compact.Close(), jsonl.Close()))
			want, _, err := readText(t, text)
			require.NoError(t, err)
			for _, copied := range []func() (*Trace, error){
				func() (*Trace, error) { return Open(path) },
				func() (*Trace, error) { return OpenReader("lines", strings.NewReader(lines.String()), Part{}) },
			} {
				again, err := copied()
				require.NoError(t, err)
				for _, e := range want {
					got, err := again.Next()
					require.NoError(t, err)
					require.Equal(t, e, got)
				}
				require.NoError(t, again.Close())
			}
		})
	}
}

func TestIndentedRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	text := "{\n \"type\": \"ADDED\",\n \"object\": {\n  \"kind\": \"Pod\", \"apiVersion\": \"v1\",\n  \"metadata\": {\"name\": \"a b\"}}}\n" +
		"{\n \"kind\": \"Pod\", \"apiVersion\": \"v1\",\n  \"metadata\": {\"name\": \"c\"}}"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	var lines bytes.Buffer
	copyAll(t, path, NewJSON(&lines))
	require.Equal(t, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a b"}}}`+"\n"+`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"c"}}`+"\n", lines.String())
	roundTrip(t, path, 10)
}

// Whatever a file holds, opening and reading it ends with an error of one line
// or with io.EOF, and never with a panic.
func FuzzOpen(f *testing.F) {
	f.Add(sample[:2000])
	f.Add([]byte(auditText(auditLine{verb: "create", code: 201}, auditLine{verb: "create", sub: "binding", name: "a", code: 201}, auditLine{verb: "deletecollection"})))
	f.Add([]byte("\x82\xa7version\x02\xa6events\x91\x83\xa2ts\x01\xacapplied_objs\x91\x83\xa4kind\xa3Pod\xaaapiVersion\xa2v1\xa8metadata\x81\xa4name\xa1a\xacdeleted_objs\x90"))
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00"))
	path := filepath.Join(f.TempDir(), "x")
	w, err := Create(path)
	require.NoError(f, err)
	require.NoError(f, errors.Join(w.Write(Record{Recorded: "ADDED", Object: []byte(podJSON("a", 1))}), w.Close()))
	compact, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(compact)
	f.Fuzz(func(t *testing.T, data []byte) {
		trace, err := newTrace("x", bytes.NewReader(data), nil, Part{})
		for n := 0; err == nil; n++ {
			if n%2 == 0 {
				_, err = trace.Next()
			} else {
				_, err = trace.NextRecord()
			}
		}
		require.NotContains(t, err.Error(), "\n")
	})
}
