package reports

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/informerbench/informerbench/bench/swap"
)

// A servedRun is one line of the index.
type servedRun struct {
	Name, Decision, Profile, Problem string
	Kind                             string // of advice; "" of a run
	Started                          time.Time
	Links                            []link
	Profiles                         []servedProfile

	modified time.Time // the latest of run.json, stats.json and report.html
}

// A servedProfile is a stored profile, and the baseline's of the same case to
// subtract from it, if there is one.
type servedProfile struct{ File, Base, Baseline string }

// Path is the run's part of a URL.
func (r servedRun) Path() string { return url.PathEscape(r.Name) }

// When is the start of the run as people read it.
func (r servedRun) When() string {
	if r.Started.IsZero() {
		return "not known"
	}
	return r.Started.UTC().Format("2006-01-02 15:04 UTC")
}

// runs lists the result directories, newest first, and counts those that are too
// many: their names begin with the time.
func (s *Server) runs() (runs []servedRun, more int, err error) {
	names := []string{s.single}
	if s.single == "" {
		entries, err := fs.ReadDir(s.root.FS(), ".")
		if err != nil {
			return nil, 0, err
		}
		names = nil
		for _, e := range entries {
			if s.isResult(e.Name()) {
				names = append(names, e.Name())
			}
		}
		more = max(0, len(names)-maxServedRuns)
		names = names[more:]
	}
	for _, name := range names {
		runs = append(runs, s.describe(name))
	}
	slices.SortFunc(runs, func(a, b servedRun) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.Name, a.Name))
	})
	return runs, more, nil
}

// describe reads what the index tells of a run, again only when it changed.
func (s *Server) describe(name string) servedRun {
	dir, _ := s.dir(name)
	x := servedRun{Name: name}
	for _, file := range []string{"run.json", "stats.json", "report.html"} {
		if info, err := s.root.Stat(path.Join(dir, file)); err == nil && info.ModTime().After(x.modified) {
			x.modified = info.ModTime()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.seen[name]; ok && known.modified.Equal(x.modified) {
		return known
	}
	if file := s.advice(dir); file != "" && !s.has(dir, "run.json") {
		x.Kind = otherResults[file]
		if info, err := s.root.Stat(path.Join(dir, file)); err == nil {
			x.Started = info.ModTime()
		}
		for _, name := range []string{"report.html", file, strings.TrimSuffix(file, ".json") + ".md"} {
			if s.has(dir, name) {
				x.Links = append(x.Links, link{Name: name})
			}
		}
		return x
	}
	var run struct {
		Schema  int
		Started time.Time
		Plan    struct {
			Profile string
			Cases   []experiment.PlannedCase
		}
	}
	var stats struct {
		Schema   int
		Decision string
	}
	err := s.readJSON(path.Join(dir, "run.json"), &run)
	if err == nil {
		err = s.readJSON(path.Join(dir, "stats.json"), &stats)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.Problem = "no report yet: the run is under way or died; benchrun report writes one"
	case err != nil:
		x.Problem = err.Error()
	case max(run.Schema, stats.Schema) > experiment.SchemaVersion:
		x.Problem = "written by a newer benchrun"
	}
	// Cloned, as a part of a text keeps all of it.
	x.Started, x.Profile, x.Decision = run.Started, strings.Clone(cut(run.Plan.Profile)), strings.Clone(cut(stats.Decision))
	for _, l := range append([]link{{"report.html", "charts and tables"}}, resultFiles...) {
		if s.has(dir, l.Name) {
			x.Links = append(x.Links, l)
		}
	}
	matches, _ := fs.Glob(s.root.FS(), path.Join(globQuote(dir), "profiles", "*", "*", "*"+profileSuffix))
	baselines := map[string]string{} // by the folder of a case's profiles
	for _, c := range run.Plan.Cases {
		baselines[path.Dir(filepath.ToSlash(experiment.ProfileDir(c, c.Baseline)))] = c.Baseline
	}
	for _, m := range matches[:min(len(matches), maxServedProfiles)] {
		p := servedProfile{File: strings.TrimPrefix(m, dir+"/")}
		folder, kind := path.Split(p.File)
		if name := baselines[path.Dir(path.Clean(folder))]; name != "" && path.Base(folder) != name {
			base := path.Join(path.Dir(path.Clean(folder)), name, kind)
			if slices.Contains(matches, path.Join(dir, base)) {
				p.Base, p.Baseline = base, name
			}
		}
		x.Profiles = append(x.Profiles, p)
	}
	s.seen[name] = x
	return x
}

// cut is at most a few lines of a text.
func cut(text string) string {
	const most = 600
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func globQuote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

func (s *Server) readJSON(name string, into any) error {
	f, err := s.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := experiment.ReadRecord(f)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

var folderPage = template.Must(template.New("folder").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><title>{{.Name}}</title>
<h1>{{.Name}}</h1><ul>{{range .Files}}<li><a href="./{{.}}">{{.}}</a></li>{{end}}</ul></html>`))

// list answers with the files of a folder that reports link to; false if it is none.
func (s *Server) list(w http.ResponseWriter, r *http.Request) bool {
	name := strings.TrimSuffix(r.PathValue("file"), "/")
	top, _, _ := strings.Cut(name, "/")
	dir, ok := s.dir(r.PathValue("run"))
	if !ok || top != "drive" && top != swap.Component || !fs.ValidPath(name) {
		return false
	}
	root, err := s.root.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return false
	}
	if !strings.HasSuffix(r.URL.Path, "/") {
		http.Redirect(w, r, path.Base(name)+"/", http.StatusFound)
		return true
	}
	var files []string
	for _, e := range entries[:min(len(entries), maxServedProfiles)] {
		file := e.Name()
		if e.IsDir() {
			file += "/"
		}
		files = append(files, file)
	}
	var page bytes.Buffer
	if err := folderPage.Execute(&page, map[string]any{"Name": r.PathValue("run") + "/" + name, "Files": files}); err != nil {
		fail(w, http.StatusInternalServerError, "%v", err)
		return true
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	_, _ = io.WriteString(w, plain.Text(page.String())) // the reader went away
	return true
}

//go:embed assets/index.html.tmpl
var indexText string

var indexPage = template.Must(template.New("index").Funcs(template.FuncMap{
	"escape": func(file string) string { return (&url.URL{Path: file}).EscapedPath() },
	"label": func(file string) string {
		return strings.TrimSuffix(strings.TrimPrefix(file, "profiles/"), profileSuffix)
	},
}).Parse(indexText))

func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	runs, more, err := s.runs()
	if err != nil {
		fail(w, http.StatusInternalServerError, "%v", err)
		return
	}
	var page bytes.Buffer
	if err := indexPage.Execute(&page, map[string]any{"Dir": s.root.Name(), "Runs": runs, "More": more}); err != nil {
		fail(w, http.StatusInternalServerError, "%v", err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_, _ = io.WriteString(w, plain.Text(page.String())) // the reader went away
}
