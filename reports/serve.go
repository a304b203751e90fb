package reports

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/profile"
	"github.com/informerbench/informerbench/bench/experiment/plain"
)

// A Server shows the result directories in a directory, or the directory
// itself if it is one:
//
//	/                               the runs, newest first
//	/runs/NAME/FILE                 a file of a result directory
//	/pprof/NAME/FILE.pb.gz/PAGE     pprof's pages of a stored profile:
//	                                flamegraph, top, peek, download;
//	                                with ?base=FILE.pb.gz less another of the run
//
// A browser that follows a report's link to a profile is led to pprof's pages.
// Nothing outside of result directories is served, not through links either.
// Only loopback names are answered to, so that no web page can read results by
// pointing a name of its own at this machine.
type Server struct {
	root   *os.Root
	single string // the name of the one run, if root is a result directory

	mu   sync.Mutex // guards seen
	seen map[string]servedRun
	mux  *http.ServeMux

	requests, pprofs chan struct{} // those under way
	patience         time.Duration // with a reader that takes nothing
}

// pprofPages leaves out those that read sources, run programs or write files.
var pprofPages = []string{"flamegraph", "top", "peek", "download"}

const profileSuffix = ".pb.gz"

// What a server holds at once at most, for what is in the directory may be
// anybody's: requests, of them pages of profiles, and what the index lists.
const maxRequests, maxPprof, maxServedRuns, maxServedProfiles = 64, 1, 500, 1000

// NewServer opens dir. Close it after use.
func NewServer(dir string) (*Server, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{root: root, seen: map[string]servedRun{}, mux: http.NewServeMux(),
		requests: make(chan struct{}, maxRequests), pprofs: make(chan struct{}, maxPprof), patience: 10 * time.Second}
	if s.isResult(".") {
		abs, err := filepath.Abs(dir)
		if err != nil {
			root.Close()
			return nil, err
		}
		s.single = filepath.Base(abs)
	}
	s.mux.HandleFunc("GET /{$}", s.index)
	s.mux.HandleFunc("GET /runs/{run}/{file...}", s.file)
	s.mux.HandleFunc("GET /pprof/{run}/{file...}", s.pprof)
	return s, nil
}

// Close releases the directory.
func (s *Server) Close() error { return s.root.Close() }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !Loopback(r.Host) {
		fail(w, http.StatusForbidden, "found host %q, expected localhost or a loopback address", r.Host)
		return
	}
	if r.ContentLength != 0 { // the answer would wait for the body, which may never come
		w.Header().Set("Connection", "close")
		fail(w, http.StatusRequestEntityTooLarge, "found a request body, expected none")
		return
	}
	if !enter(r.Context(), s.requests) {
		return
	}
	defer func() { <-s.requests }()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-cache")
	s.mux.ServeHTTP(timed{w, http.NewResponseController(w), s.patience}, r)
}

// timed ends an answer whose reader stands still, so that it makes room for others.
type timed struct {
	http.ResponseWriter
	connection *http.ResponseController
	patience   time.Duration
}

// Write writes a page in pieces: a slow reader has the time for each of them.
func (t timed) Write(b []byte) (int, error) {
	written := 0
	for piece := range slices.Chunk(b, 32<<10) {
		_ = t.connection.SetWriteDeadline(time.Now().Add(t.patience)) // a test's answer has none
		n, err := t.ResponseWriter.Write(piece)
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// enter waits until there is room among what is under way; false if the reader
// goes away before.
func enter(ctx context.Context, underWay chan struct{}) bool {
	select {
	case underWay <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// Loopback reports that a host, with or without a port, is this machine only.
func Loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// otherResults is what other result files than a run's are.
var otherResults = map[string]string{"tune.json": "Recommended settings", "election.json": "Leader election", "memory.json": "Memory of caches"}

func (s *Server) isResult(dir string) bool {
	return s.has(dir, "run.json") || s.advice(dir) != ""
}

// advice is the file of a result directory that is no run's; "" of others.
func (s *Server) advice(dir string) string {
	for _, file := range slices.Sorted(maps.Keys(otherResults)) {
		if s.has(dir, file) {
			return file
		}
	}
	return ""
}

func (s *Server) has(dir, file string) bool {
	info, err := s.root.Stat(path.Join(dir, file))
	return err == nil && info.Mode().IsRegular()
}

// dir is a run's directory in root; false if there is no such run.
func (s *Server) dir(name string) (string, bool) {
	if s.single != "" {
		return ".", name == s.single
	}
	return name, fs.ValidPath(name) && !strings.Contains(name, "/") && s.isResult(name)
}

// contentTypes is what the browser is told a file is; others are downloaded.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".json": "application/json", ".md": "text/plain; charset=utf-8",
	".txt": "text/plain; charset=utf-8", ".csv": "text/csv; charset=utf-8", ".png": "image/png",
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	switch strings.TrimSuffix(r.PathValue("file"), "/") {
	case "":
		http.Redirect(w, r, "report.html", http.StatusFound)
		return
	case "profiles": // the reports link to the folder, the index lists it
		http.Redirect(w, r, "/", http.StatusFound)
		return
	}
	if s.list(w, r) {
		return
	}
	f, info, ok := s.open(r.PathValue("run"), r.PathValue("file"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	if strings.HasSuffix(r.PathValue("file"), profileSuffix) && strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Redirect(w, r, (&url.URL{Path: path.Join("/pprof", r.PathValue("run"), r.PathValue("file"), "flamegraph")}).EscapedPath(), http.StatusFound)
		return
	}
	kind, ok := contentTypes[path.Ext(info.Name())]
	if !ok {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// open opens a regular file of a result directory.
func (s *Server) open(run, name string) (*os.File, fs.FileInfo, bool) {
	dir, ok := s.dir(run)
	if !ok || !fs.ValidPath(name) {
		return nil, nil, false
	}
	// A root of its own: a link must not lead into another folder of dir.
	root, err := s.root.OpenRoot(dir)
	if err != nil {
		return nil, nil, false
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil, false
	}
	f, err := root.Open(name)
	return f, info, err == nil
}

func (s *Server) pprof(w http.ResponseWriter, r *http.Request) {
	file, page := path.Split(r.PathValue("file"))
	file = strings.TrimSuffix(file, "/")
	if page == "" && strings.HasSuffix(file, profileSuffix) {
		http.Redirect(w, r, "flamegraph", http.StatusFound)
		return
	}
	f, info, ok := s.open(r.PathValue("run"), file)
	if !ok || !strings.HasSuffix(file, profileSuffix) || !slices.Contains(pprofPages, page) {
		if ok {
			f.Close()
		}
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	if page == "download" {
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", info.ModTime(), f)
		return
	}
	if !enter(r.Context(), s.pprofs) {
		return
	}
	defer func() { <-s.pprofs }()
	p, err := readProfile(f)
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, "%s: %v", file, err)
		return
	}
	var base *profile.Profile
	if name := r.URL.Query().Get("base"); name != "" {
		other, _, ok := s.open(r.PathValue("run"), name)
		if !ok {
			http.NotFound(w, r)
			return
		}
		defer other.Close()
		if base, err = readProfile(other); err != nil {
			fail(w, http.StatusUnprocessableEntity, "%s: %v", name, err)
			return
		}
	}
	answer := httptest.NewRecorder()
	if err := servePprof(p, base, answer, r, "/"+page); err != nil {
		fail(w, http.StatusUnprocessableEntity, "%s: %v", file, err)
		return
	}
	const hide = `<style>#graphbtn,#list,#disasm,#config,#action-source,#action-source-tab{display:none!important}</style></head>`
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(answer.Code)
	_, _ = io.WriteString(w, plain.Text(strings.Replace(answer.Body.String(), "</head>", hide, 1))) // the reader went away
}

// fail answers with an error.
func fail(w http.ResponseWriter, code int, format string, args ...any) {
	http.Error(w, plain.Line(fmt.Sprintf(format, args...)), code)
}
