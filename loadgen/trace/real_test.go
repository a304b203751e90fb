package trace

import (
	"bytes"
	"errors"
	"io"
	"k8s.io/apimachinery/pkg/watch"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// recordings returns the files of the folder that INFORMERBENCH_TRACES names:
// recordings that are too large, or not ours, to be in the repository.
func recordings(t *testing.T, patterns ...string) []string {
	dir := os.Getenv("INFORMERBENCH_TRACES")
	if dir == "" {
		t.Skip("INFORMERBENCH_TRACES names no folder of recordings")
	}
	var all []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		all = append(all, found...)
	}
	require.NotEmpty(t, all)
	return all
}

func TestRecordings(t *testing.T) {
	for _, path := range recordings(t, "*.jsonl*", "*.json*", "*.sktrace") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			trace, err := Open(path)
			require.NoError(t, err)
			events, err := readAll(trace)
			require.NoError(t, err)
			stats := trace.Stats()
			require.Equal(t, len(events), stats.Events()+stats.Bookmarks)
			t.Logf("%+v", stats)
			roundTrip(t, path, math.MaxInt)
		})
	}
}

// roundTrip converts a recording to the compact format and that to lines, and
// expects the same events each time, of which it looks at the first n.
func roundTrip(t *testing.T, path string, n int) {
	t.Helper()
	dir := t.TempDir()
	compact, lines := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	w, err := Create(compact)
	require.NoError(t, err)
	copyAll(t, path, w)
	var text bytes.Buffer
	copyAll(t, compact, NewJSON(&text))
	require.NoError(t, os.WriteFile(lines, text.Bytes(), 0o600))

	size := func(path string) int64 {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Size()
	}
	if strings.HasSuffix(path, ".gz") {
		t.Logf("compact: %d bytes, %.2f of gzip", size(compact), float64(size(compact))/float64(size(path)))
	}
	a, b, c := open(t, path), open(t, compact), open(t, lines)
	for range n {
		want, wantErr := a.Next()
		fromCompact, err := b.Next()
		require.Equal(t, wantErr, err)
		require.Equal(t, want, fromCompact)
		fromLines, err := c.Next()
		require.Equal(t, wantErr, err)
		require.Equal(t, want, fromLines)
		if wantErr != nil {
			break
		}
	}
	wantStats := a.Stats()
	wantStats.Skipped = nil
	require.Equal(t, wantStats, b.Stats())
	require.Equal(t, wantStats, c.Stats())
}

func open(t *testing.T, path string) *Trace {
	t.Helper()
	trace, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, trace.Close()) })
	return trace
}

func copyAll(t *testing.T, path string, w Writer) {
	t.Helper()
	trace := open(t, path)
	for {
		record, err := trace.NextRecord()
		if err != nil {
			require.EqualError(t, err, "EOF")
			break
		}
		require.NoError(t, w.Write(record))
	}
	require.NoError(t, w.Close())
}

// What an audit log says of pods is what a watch beside it saw: as many were
// deleted, and each in the same second.
func TestAuditLogAgainstWatch(t *testing.T) {
	for _, audit := range recordings(t, "audit-*.jsonl*") {
		watched := filepath.Join(filepath.Dir(audit), strings.TrimPrefix(strings.Replace(filepath.Base(audit), ".jsonl", "-pods.jsonl", 1), "audit-"))
		t.Run(filepath.Base(audit), func(t *testing.T) {
			log, err := OpenPart(audit, Part{Resources: []string{"pods"}})
			require.NoError(t, err)
			defer log.Close()
			said, added, until := deletions(t, log)
			seen, truly, _ := deletions(t, open(t, watched))
			missing := 0
			for name, at := range seen {
				if at.After(until) {
					delete(seen, name)
					continue
				}
				if heard, ok := said[name]; ok {
					require.WithinDuration(t, at, heard, time.Second, name)
				} else {
					missing++
				}
			}
			t.Logf("the log says %d deleted and %d added, the watch saw %d and %d; %d names are not in the log", len(said), added, len(seen), truly, missing)
			require.Len(t, said, len(seen))
		})
	}
}

func deletions(t *testing.T, from *Trace) (deleted map[string]time.Time, added int, last time.Time) {
	t.Helper()
	deleted = map[string]time.Time{}
	for {
		r, err := from.NextRecord()
		if errors.Is(err, io.EOF) || err != nil && strings.Contains(err.Error(), "found no events of it") {
			return deleted, added, last
		}
		require.NoError(t, err)
		switch last = r.Time; r.Recorded {
		case watch.Added:
			added++
		case watch.Deleted:
			deleted[r.Namespace+"/"+r.Name] = r.Time
		}
	}
}
