package reports

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

func zipped(t *testing.T, parts int, part []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range parts {
		_, err := z.Write(part)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// A result directory may be anybody's: what is small on disk and large in memory
// is refused by the server and left out of a report, and costs little.
func TestWhatUnpacksToTooMuchIsRefused(t *testing.T) {
	dir := t.TempDir()
	profiles := filepath.Join(dir, "profiles", "queue_op=cycle", "ring")
	require.NoError(t, os.MkdirAll(profiles, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"schema": 1}`), 0o666))
	server, err := NewServer(dir)
	require.NoError(t, err)
	defer server.Close()
	get := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return w
	}
	bomb := zipped(t, 300, make([]byte, 1<<20))
	for want, data := range map[string][]byte{
		"unpacks to more than 8 MiB":    bomb,
		"is no profile, expected":       zipped(t, 1, bomb),                                                                      // gzip within gzip
		"KiB of samples, functions and": zipped(t, 1<<20, []byte{0x12, 0}),                                                       // empty samples
		"samples, functions and places": zipped(t, 1, protowire.AppendBytes([]byte{0x12}, bytes.Repeat([]byte{0x1a, 0}, 1<<20))), // empty labels of one
		"unexpected EOF":                bomb[:1<<10],
		"is no profile":                 []byte("no gzip"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(profiles, "cpu.pb.gz"), data, 0o666))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		answer := get("/pprof/" + filepath.Base(dir) + "/profiles/queue_op=cycle/ring/cpu.pb.gz/top")
		runtime.ReadMemStats(&after)
		assert.Equal(t, http.StatusUnprocessableEntity, answer.Code)
		assert.Contains(t, answer.Body.String(), want)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20), want)
	}

	require.NoError(t, os.Truncate(filepath.Join(dir, "run.json"), 1<<30)) // it takes no room
	answer := get("/")
	assert.Equal(t, http.StatusOK, answer.Code)
	assert.Contains(t, answer.Body.String(), "run.json: found 1024 MiB, expected at most 64 MiB")

	for many, want := range map[string]string{
		`"plan": {"cases": [` + strings.Repeat("{},", 1<<17) + `{}]}`:              "found 131073 cases, arms and machines, expected at most 65536",
		`"plan": {"cases": [{"arms": [` + strings.Repeat("{},", 1<<17) + `{}]}]}`:  "found 131074 cases, arms and machines, expected at most 65536",
		`"plan": {"cases": [` + strings.Repeat("{},", 1<<17) + `{}], "cases": []}`: "found 131073 cases, arms and machines, expected at most 65536",
		`"machines": [` + strings.Repeat("{},", 1<<17) + `{}]`:                     "found 131073 cases, arms and machines, expected at most 65536",
		`"schedule": [` + strings.Repeat("{},", 1<<22) + `{}]`:                     "found 4194305 values, expected at most 2097152",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"schema": 1, `+many+`}`), 0o666))
		assert.Contains(t, get("/").Body.String(), "run.json: "+want)
		_, err = experiment.LoadRun(dir)
		assert.ErrorContains(t, err, "run.json: "+want)
	}

	stats := `{"schema": 1, "decision": "` + strings.Repeat("é", 1<<20) + `"}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"schema": 1}`), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "stats.json"), []byte(stats), 0o666))
	assert.Less(t, get("/").Body.Len(), 10_000)
}

// Who asks and does not read is let go, so that others are answered.
func TestStalledReaders(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"schema": 1}`), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "raw.txt"), nil, 0o666))
	require.NoError(t, os.Truncate(filepath.Join(dir, "raw.txt"), 64<<20)) // more than sockets hold
	s, err := NewServer(dir)
	require.NoError(t, err)
	defer s.Close()
	s.patience = 50 * time.Millisecond
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r)
		close(ended)
	}))
	defer server.Close()
	answer, err := server.Client().Get(server.URL + "/runs/" + filepath.Base(dir) + "/raw.txt")
	require.NoError(t, err)
	<-ended // before anything is read
	_, err = io.Copy(io.Discard, answer.Body)
	require.Error(t, err)
	answer.Body.Close()
}

// Who reads slowly gets all of a large page.
func TestSlowReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 8 << 20
		ours, theirs := net.Pipe()
		go func() {
			page := timed{connected{httptest.NewRecorder(), ours}, nil, time.Second}
			page.connection = http.NewResponseController(page.ResponseWriter)
			_, err := page.Write(make([]byte, size))
			assert.NoError(t, err)
			ours.Close()
		}()
		read, piece := 0, make([]byte, 64<<10)
		for {
			n, err := theirs.Read(piece)
			if read += n; err != nil {
				break
			}
			time.Sleep(900 * time.Millisecond) // the bubble's
		}
		assert.Equal(t, size, read)
	})
}

// connected is an answer that goes to a connection.
type connected struct {
	http.ResponseWriter
	net.Conn
}

func (c connected) Write(b []byte) (int, error) { return c.Conn.Write(b) }

// A request whose body never comes is answered, and keeps no other waiting.
func TestBodiesThatNeverCome(t *testing.T) {
	s, err := NewServer(served(t))
	require.NoError(t, err)
	defer s.Close()
	server := httptest.NewServer(s)
	defer server.Close()
	for _, length := range []string{"Content-Length: 1000", "Transfer-Encoding: chunked"} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		defer conn.Close()
		require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
		_, err = io.WriteString(conn, "GET /runs/old/raw.txt HTTP/1.1\r\nHost: localhost\r\n"+length+"\r\n\r\n")
		require.NoError(t, err)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		assert.Equal(t, http.StatusRequestEntityTooLarge, answer.StatusCode)
	}
}

// A request waits for its turn, and no longer than its reader.
func TestRequestsTakeTurns(t *testing.T) {
	underWay := make(chan struct{}, 1)
	require.True(t, enter(t.Context(), underWay))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.False(t, enter(gone, underWay))
	<-underWay
	require.True(t, enter(t.Context(), underWay))
}
