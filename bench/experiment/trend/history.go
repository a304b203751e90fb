// Package trend tells how benchmarks went over many results:
//
//	history   one line of JSON a result, appended by compare
//	series    a benchmark's unit over the results, as ratios to upstream's code
//	          where all have them: these bear an exchange of the machine
//	changes   points from which on a series is on another level
package trend

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/compare"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// maxLine bounds the memory for one entry: some 100,000 points.
const maxLine = 32 << 20

// An Entry is one result in a history.
type Entry struct {
	Time   time.Time       `json:"time"`
	Label  string          `json:"label"` // such as a commit
	Points []compare.Point `json:"points"`

	undated bool // Time is the file's, which a copy or a checkout changes
}

// Of makes the entry of a result directory or a file in the Go benchmark
// format. Its time is when the run began, or the file's.
func Of(o compare.Options, path, label string) (Entry, []experiment.Warning, error) {
	e := Entry{Label: label}
	if e.Label == "" {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return e, nil, err
		}
		e.Label = filepath.Base(absolute)
	}
	points, warnings, err := compare.Measure(o, path)
	if err != nil {
		return e, nil, err
	}
	e.Points = points
	info, err := os.Stat(path)
	if err != nil {
		return e, nil, err
	}
	e.Time, e.undated = info.ModTime().UTC(), true
	if info.IsDir() {
		if run, err := experiment.LoadRun(path); err == nil && !run.Started.IsZero() {
			e.Time, e.undated = run.Started, false
		}
	}
	return e, warnings, nil
}

// Append adds an entry to a history file, which it makes.
func Append(path string, e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return atomicfile.Append(path, plain.JSON(line))
}

// Read reads history files, result directories and files in the Go benchmark
// format; a directory that is no result may hold results. The entries come once and by
// time. Where one has no time of its own, as a plain file, they come in the order
// of the paths, and those of one path by time.
func Read(o compare.Options, paths ...string) ([]Entry, []experiment.Warning, error) {
	var entries []Entry
	var warnings []experiment.Warning
	byTime := func(a, b Entry) int { return a.Time.Compare(b.Time) }
	for _, path := range paths {
		some, doubts, err := read(o, path)
		if err != nil {
			return nil, nil, err
		}
		slices.SortStableFunc(some, byTime)
		entries, warnings = append(entries, some...), append(warnings, doubts...)
	}
	entries, again := once(entries)
	if len(again) > 0 {
		warnings = append(warnings, experiment.Warn("run", "%s given more than once and counted once, the first is %s of %s", wording.Count(len(again), "result"), again[0].Label, again[0].Time.Format(time.RFC3339)))
	}
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.undated })
	switch {
	case i < 0:
		slices.SortStableFunc(entries, byTime)
	case !slices.IsSortedFunc(entries, byTime):
		warnings = append(warnings, experiment.Warn("run", "the results are in the order of the arguments, not by time: %s has no time of its own", entries[i].Label))
	}
	return entries, warnings, nil
}

func read(o compare.Options, path string) ([]Entry, []experiment.Warning, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		history, err := isHistory(path)
		if err != nil {
			return nil, nil, err
		}
		if history {
			entries, warnings, err := readHistory(path)
			if err == nil && o.Filter != "" {
				err = filter(o, path, entries)
			}
			return entries, warnings, err
		}
	}
	results := []string{path}
	if info.IsDir() {
		if _, err := os.Stat(filepath.Join(path, rawtext.File)); errors.Is(err, os.ErrNotExist) {
			inner, err := os.ReadDir(path)
			if err != nil {
				return nil, nil, err
			}
			results = nil
			for _, d := range inner {
				if _, err := os.Stat(filepath.Join(path, d.Name(), rawtext.File)); err == nil {
					results = append(results, filepath.Join(path, d.Name()))
				}
			}
			if len(results) == 0 {
				return nil, nil, fmt.Errorf("%s holds no raw.txt, nor does a directory in it, expected results of benchrun run", path)
			}
		}
	}
	var entries []Entry
	var warnings []experiment.Warning
	for _, result := range results {
		e, doubts, err := Of(o, result, "")
		if err != nil {
			if len(results) == 1 {
				return nil, nil, err
			}
			warnings = append(warnings, experiment.Warn("run", "left out: %v", err)) // one of many
			continue
		}
		entries, warnings = append(entries, e), append(warnings, doubts...)
	}
	return entries, warnings, nil
}

// filter takes the points away that the filter doesn't keep.
func filter(o compare.Options, path string, entries []Entry) (err error) {
	left := 0
	for i := range entries {
		if entries[i].Points, err = o.Filtered(entries[i].Points); err != nil {
			return err
		}
		left += len(entries[i].Points)
	}
	if left == 0 {
		return fmt.Errorf("%s: no result matches --filter %q", path, o.Filter)
	}
	return nil
}

// once leaves entries out that are the same as one before, as where two copies of a
// history were joined: they are no further samples.
func once(entries []Entry) (kept, again []Entry) {
	seen := map[string][]Entry{}
	for _, e := range entries {
		key := e.Time.UTC().String() + e.Label
		if slices.ContainsFunc(seen[key], func(s Entry) bool { return reflect.DeepEqual(s.Points, e.Points) }) {
			again = append(again, e)
			continue
		}
		seen[key], kept = append(seen[key], e), append(kept, e)
	}
	return kept, again
}

// isHistory looks at the first byte that is no space: an entry is an object.
func isHistory(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	begin := make([]byte, 512)
	n, err := io.ReadFull(f, begin)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, err
	}
	return bytes.HasPrefix(bytes.TrimSpace(begin[:n]), []byte("{")), nil
}

func readHistory(path string) ([]Entry, []experiment.Warning, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	var entries []Entry
	var warnings []experiment.Warning
	n := 0
	for lines.Scan() {
		n++
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		e, err := parse(lines.Bytes())
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			warnings = append(warnings, experiment.Warn("run", "%s:%d: the line is cut off and was left out", path, n))
		case err != nil:
			return nil, nil, fmt.Errorf("%s:%d: %w", path, n, err)
		default:
			entries = append(entries, e)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, nil, fmt.Errorf("%s:%d: the line is longer than %d MiB, expected one entry a line", path, n+1, maxLine>>20)
	}
	if len(entries) == 0 && lines.Err() == nil {
		return nil, nil, fmt.Errorf("%s:%d: holds no whole entry, expected lines that benchrun compare --history wrote", path, n)
	}
	return entries, warnings, lines.Err()
}

// parse reads one entry; io.ErrUnexpectedEOF means that it is cut off.
func parse(line []byte) (Entry, error) {
	var e Entry
	d := json.NewDecoder(bytes.NewReader(line))
	if err := d.Decode(&e); err != nil {
		return e, err
	}
	if e.Time.IsZero() || e.Points == nil {
		return e, fmt.Errorf("found %.60q, expected an entry with time, label and points", line)
	}
	for i, p := range e.Points {
		for _, v := range []float64{p.Center, p.Relative, p.Noise} {
			if v < 0 || math.IsInf(v, 0) {
				return e, fmt.Errorf("points[%d]: found %v in %s of %s, expected numbers of 0 or more", i, v, p.Unit, p.Benchmark)
			}
		}
	}
	return e, nil
}
