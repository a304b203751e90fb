package reports

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
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

	"github.com/google/pprof/profile"
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
}

// pprofPages leaves out those that read sources, run programs or write files.
var pprofPages = []string{"flamegraph", "top", "peek", "download"}

const profileSuffix = ".pb.gz"

// maxServedProfile bounds what is read of a stored profile.
const maxServedProfile = 64 << 20

// NewServer opens dir. Close it after use.
func NewServer(dir string) (*Server, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{root: root, seen: map[string]servedRun{}, mux: http.NewServeMux()}
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
		http.Error(w, fmt.Sprintf("found host %q, expected localhost or a loopback address", r.Host), http.StatusForbidden)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-cache")
	s.mux.ServeHTTP(w, r)
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

func (s *Server) isResult(dir string) bool {
	info, err := s.root.Stat(path.Join(dir, "run.json"))
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
	p, err := parseProfile(f)
	if err != nil {
		http.Error(w, fmt.Sprintf("%s: %v", file, err), http.StatusUnprocessableEntity)
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
		if base, err = parseProfile(other); err != nil {
			http.Error(w, fmt.Sprintf("%s: %v", name, err), http.StatusUnprocessableEntity)
			return
		}
	}
	answer := httptest.NewRecorder()
	if err := servePprof(p, base, answer, r, "/"+page); err != nil {
		http.Error(w, fmt.Sprintf("%s: %v", file, err), http.StatusUnprocessableEntity)
		return
	}
	const hide = `<style>#graphbtn,#list,#disasm,#config,#action-source,#action-source-tab{display:none!important}</style></head>`
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(answer.Code)
	_, _ = w.Write(bytes.Replace(answer.Body.Bytes(), []byte("</head>"), []byte(hide), 1)) // the reader went away
}

func parseProfile(r io.Reader) (*profile.Profile, error) {
	return profile.Parse(io.LimitReader(r, maxServedProfile))
}
