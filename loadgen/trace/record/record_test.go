package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informerbench/informerbench/loadgen/trace"
)

var pods = Resource{schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "Pod", true}

// A server plays an API server: answers[i] answers the i-th list or watch, the
// last one also all after it.
type server struct {
	mu       sync.Mutex
	answers  []http.HandlerFunc
	requests []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path+" "+what(r)+" "+r.Header.Get("Accept"))
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	answer(w, r)
}

func what(r *http.Request) string {
	q := r.URL.Query()
	if q.Get("watch") == "true" {
		return "watch@" + q.Get("resourceVersion")
	}
	return "list@" + q.Get("continue")
}

func list(version, next string, items ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":%q,"continue":%q},"items":[%s]}`, version, next, strings.Join(items, ","))
	}
}

func events(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Join(lines, "\n")) }
}

// stay sends events and leaves the watch open until the client goes.
func stay(reached func(), lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		events(lines...)(w, r)
		_ = http.NewResponseController(w).Flush()
		reached()
		<-r.Context().Done()
	}
}

func fail(code int, reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not today","reason":%q,"code":%d}`, reason, code)
	}
}

func pod(name string, version int) string {
	return fmt.Sprintf(`{"metadata":{"namespace":"n","name":%q,"resourceVersion":"%d"}}`, name, version)
}

func line(kind, name string, version int) string {
	return fmt.Sprintf(`{"type":%q,"object":{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"n","name":%q,"resourceVersion":"%d"}}}`, kind, name, version)
}

const expired = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old","reason":"Expired","code":410}}`

// recordFrom records from a server that answers as given. The context ends
// when the recording holds enough events, or with the test.
func recordFrom(t *testing.T, o Options, enough int, answers ...http.HandlerFunc) ([]string, Counts, *server, error) {
	t.Helper()
	s := &server{answers: answers}
	h := httptest.NewServer(s)
	defer h.Close()
	path := filepath.Join(t.TempDir(), "x.ibt")
	file, err := trace.Create(path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := &counting{Writer: file, left: enough, enough: cancel}
	o.Resources = []Resource{pods}
	r, err := New(&rest.Config{Host: h.URL}, w, o)
	require.NoError(t, err)
	runErr := r.Run(ctx)
	h.CloseClientConnections()
	require.NoError(t, w.Close())
	return contents(t, path), r.Counts(), s, runErr
}

type counting struct {
	trace.Writer
	left   int
	enough func()
}

func (c *counting) Write(r trace.Record) error {
	if c.left--; c.left == 0 {
		c.enough()
	}
	return c.Writer.Write(r)
}

func contents(t *testing.T, path string) (all []string) {
	t.Helper()
	recording, err := trace.Open(path)
	if err != nil {
		require.EqualError(t, err, path+": no events: the file holds no object")
		return nil
	}
	defer recording.Close()
	for {
		r, err := recording.NextRecord()
		if errors.Is(err, io.EOF) {
			require.NoError(t, recording.Cut())
			return all
		}
		require.NoError(t, err)
		require.False(t, r.Time.IsZero())
		all = append(all, fmt.Sprintf("%s %s@%s", r.Recorded, r.Name, r.ResourceVersion))
	}
}

// The whole protocol: pages, a watch, its end, its resumption, bookmarks, 410
// Gone, and what the second list shows.
func TestRecord(t *testing.T) {
	got, counts, s, err := recordFrom(t, Options{}, 9,
		list("5", "more", pod("a", 1), pod("b", 2)), list("5", "", pod("c", 3)),
		events(line("MODIFIED", "a", 6), line("BOOKMARK", "", 8)),
		events(line("DELETED", "b", 9), expired),
		list("20", "", pod("a", 6), pod("c", 11), pod("d", 12)),
		stay(func() {}, line("MODIFIED", "d", 21)),
	)
	require.NoError(t, err)
	require.Equal(t, []string{
		"ADDED a@1", "ADDED b@2", "ADDED c@3", // listed
		"MODIFIED a@6", "BOOKMARK @8",
		"DELETED b@9",
		"MODIFIED c@11", "ADDED d@12", // inferred
		"MODIFIED d@21",
	}, got)
	require.Equal(t, Counts{Events: 8, Bookmarks: 1, Existing: 3, Reconnects: 1, Relists: 1, Inferred: 2}, counts)
	for i, want := range []string{"list@", "list@more", "watch@5", "watch@8", "list@", "watch@20"} {
		require.Contains(t, s.requests[i], "GET /api/v1/pods "+want, "request %d", i)
	}
}

// An object that was deleted while no watch saw it is missing in the next list.
func TestRecordInfersDeletes(t *testing.T) {
	got, counts, _, err := recordFrom(t, Options{}, 3,
		list("5", "", pod("a", 1), pod("b", 2)), fail(410, "Expired"), list("9", "", pod("b", 2)), stay(func() {}))
	require.NoError(t, err)
	require.Equal(t, []string{"ADDED a@1", "ADDED b@2", "DELETED a@1"}, got)
	require.Equal(t, 1, counts.Inferred)
}

// A recording that is gone on with holds the difference to where it ended.
func TestRecordGoesOn(t *testing.T) {
	known := map[string]map[string]string{"pods": {"n/a": "1", "n/b": "2", "n/c": "3"}}
	got, counts, _, err := recordFrom(t, Options{Known: known}, 2,
		list("9", "", pod("a", 1), pod("b", 7)), stay(func() {}))
	require.NoError(t, err)
	require.Equal(t, []string{"MODIFIED b@7", "DELETED c@3"}, got)
	require.Equal(t, Counts{Events: 2, Inferred: 2}, counts)
}

func TestRecordEndsWhenTheClusterVanishes(t *testing.T) {
	got, counts, _, err := recordFrom(t, Options{Patience: 300 * time.Millisecond}, 0,
		list("5", "", pod("a", 1)), events(line("MODIFIED", "a", 6)),
		func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) })
	require.ErrorContains(t, err, "pods: no list and no watch has succeeded for")
	require.Equal(t, []string{"ADDED a@1", "MODIFIED a@6"}, got, "what came before is kept")
	require.Equal(t, 2, counts.Events)
}

// A cut within an event: it comes again in full from the last whole version on.
func TestRecordCutEvent(t *testing.T) {
	whole := line("MODIFIED", "a", 6)
	got, _, s, err := recordFrom(t, Options{}, 3,
		list("5", "", pod("a", 1)), events(line("MODIFIED", "a", 5), whole[:60]), stay(func() {}, whole))
	require.NoError(t, err)
	require.Equal(t, []string{"ADDED a@1", "MODIFIED a@5", "MODIFIED a@6"}, got)
	require.Contains(t, s.requests[2], "watch@5")
}

func TestRecordForbidden(t *testing.T) {
	got, _, _, err := recordFrom(t, Options{}, 0, fail(403, "Forbidden"))
	require.ErrorContains(t, err, "get pods")
	require.Empty(t, got)
}

func TestRecordSlim(t *testing.T) {
	_, _, s, err := recordFrom(t, Options{Slim: true, Namespace: "shop"}, 1, list("5", "", pod("a", 1)), stay(func() {}))
	require.NoError(t, err)
	require.Contains(t, s.requests[0], "GET /api/v1/namespaces/shop/pods list@ application/json;as=PartialObjectMetadataList;")
}

type broken struct{ trace.Writer }

func (broken) Write(trace.Record) error { return errors.New("disk full") }

func TestRecordDiskFull(t *testing.T) {
	h := httptest.NewServer(&server{answers: []http.HandlerFunc{list("5", "", pod("a", 1)), stay(func() {})}})
	defer h.Close()
	r, err := New(&rest.Config{Host: h.URL}, broken{}, Options{Resources: []Resource{pods}})
	require.NoError(t, err)
	require.EqualError(t, r.Run(t.Context()), "pods: the recording can't be written: disk full")
}

func TestResolve(t *testing.T) {
	answer := map[string]any{
		"/api":          map[string]any{"kind": "APIVersions", "versions": []string{"v1"}},
		"/apis":         json.RawMessage(`{"kind":"APIGroupList","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}`),
		"/api/v1":       json.RawMessage(`{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","shortNames":["po"]},{"name":"nodes","singularName":"node","kind":"Node"}]}`),
		"/apis/apps/v1": json.RawMessage(`{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[{"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment","shortNames":["deploy"]}]}`),
	}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answer[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body)
	}))
	defer h.Close()
	config := &rest.Config{Host: h.URL}
	got, err := Resolve(config, "po", "Node", "deployments.apps")
	require.NoError(t, err)
	apps := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	require.Equal(t, []Resource{pods, {schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, "Node", false}, {apps, "Deployment", true}}, got)

	for names, problem := range map[string]string{
		"widgets": `resource "widgets": the server has no such resource`,
		"po,pods": `resource "pods": given twice`,
	} {
		_, err := Resolve(config, strings.Split(names, ",")...)
		require.EqualError(t, err, problem, strconv.Quote(names))
	}
}
