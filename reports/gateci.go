package reports

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/plain"
)

// maxAnnotations is how many of a kind GitHub shows of one step.
const maxAnnotations = 10

// GitHub prints workflow commands, which GitHub Actions and Forgejo turn into
// annotations: an error for each failure, a warning for each doubt.
func (g Gate) GitHub() []byte {
	var w bytes.Buffer
	command := func(kind, title, message string) {
		fmt.Fprintf(&w, "::%s title=%s::%s\n", kind, property.Replace(title), data.Replace(message))
	}
	if g.Broken != "" {
		command("error", "a benchmark failed", g.Broken)
	}
	for i, f := range g.Failed {
		if i == maxAnnotations-1 && len(g.Failed) > maxAnnotations {
			command("error", "benchrun compare", fmt.Sprintf("%d more comparisons failed", len(g.Failed)-i))
			break
		}
		command("error", f.what()+": "+f.Name(), f.String())
	}
	for i, x := range g.Warnings {
		if i == maxAnnotations-1 && len(g.Warnings) > maxAnnotations {
			command("warning", "benchrun compare", fmt.Sprintf("%d more warnings", len(g.Warnings)-i))
			break
		}
		command("warning", x.Scope, x.Text)
	}
	return []byte(plain.Text(w.String()))
}

// what is a failure in a few words.
func (f Failure) what() string {
	if strings.Contains(f.Unit, "sec") && f.Grown() > 0 {
		return "slower"
	}
	return "beyond the limit"
}

// What a workflow command escapes: without it a name could start another one.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// GitLab is a Code Quality report, which GitLab shows in merge requests: an
// array with one entry a failure, empty if none.
func (g Gate) GitLab() ([]byte, error) {
	type lines struct {
		Begin int `json:"begin"`
	}
	type location struct {
		Path  string `json:"path"`
		Lines lines  `json:"lines"`
	}
	type issue struct {
		Description string   `json:"description"`
		CheckName   string   `json:"check_name"`
		Fingerprint string   `json:"fingerprint"`
		Severity    string   `json:"severity"`
		Location    location `json:"location"`
	}
	issues := []issue{}
	where := location{filepath.ToSlash(filepath.Clean(g.New)), lines{1}}
	if g.Broken != "" {
		issues = append(issues, issue{g.Verdict(), "benchrun-compare", "failed", "blocker", where})
	}
	for _, f := range g.Failed {
		// The same for every run, so that GitLab tells new failures from old ones.
		sum := sha256.Sum256([]byte(f.Name() + "\x00" + f.Unit + "\x00" + f.Limit))
		issues = append(issues, issue{f.String(), "benchrun-compare", fmt.Sprintf("%x", sum[:16]), "major", where})
	}
	b, err := json.MarshalIndent(issues, "", "  ")
	return append(plain.JSON(b), '\n'), err
}

// JUnit is a JUnit XML report: a suite for the gate, a test for each comparison
// that a limit covers.
func (g Gate) JUnit() ([]byte, error) {
	type failure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Class   string    `xml:"classname,attr"`
		Name    string    `xml:"name,attr"`
		Failure []failure `xml:"failure"`
	}
	type suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Cases    []testcase `xml:"testcase"`
		Log      string     `xml:"system-err,omitempty"`
	}
	type suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suite   suite    `xml:"testsuite"`
	}
	failed := map[[2]string][]Failure{}
	for _, f := range g.Failed {
		key := [2]string{f.Name(), f.Unit}
		failed[key] = append(failed[key], f)
	}
	s := suite{Name: "benchrun compare", Tests: len(g.Changes), Failures: len(failed)}
	if g.Broken != "" {
		s.Tests, s.Failures = s.Tests+1, s.Failures+1
		s.Cases = append(s.Cases, testcase{"go test", g.New, []failure{{g.Broken, "failed", g.Verdict()}}})
	}
	for _, c := range g.Changes {
		name := strings.TrimPrefix(c.Name(), "Benchmark")
		class, _, _ := strings.Cut(name, "/")
		t := testcase{Class: class, Name: name + " " + c.Unit}
		for _, f := range failed[[2]string{c.Name(), c.Unit}] {
			t.Failure = append(t.Failure, failure{ChangeText(c) + ", the limit is " + f.Limit, "regression", f.String()})
		}
		s.Cases = append(s.Cases, t)
	}
	var log strings.Builder
	for _, x := range g.Warnings {
		fmt.Fprintf(&log, "warning: %s: %s\n", x.Scope, x.Text)
	}
	s.Log = log.String()
	b, err := xml.MarshalIndent(suites{Suite: s}, "", "  ")
	if err != nil {
		return nil, err
	}
	return []byte(plain.Text(xml.Header + string(b) + "\n")), nil
}
