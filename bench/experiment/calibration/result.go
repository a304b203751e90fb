// Package calibration checks the verdicts on data whose truth is known, and says
// how often they were right:
//
//	equal      a variant against itself, and simulated equal arms: no verdict is right
//	planted    a queue that does every tenth or twentieth item twice: "slower" is right
//	habit      go test -count=10 on equal arms, beside rounds for as long
//
// Each trial is a run in a directory of its own and leaves its outcome there;
// the result is derived from the outcomes and grows with them.
package calibration

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// FileName is the result's name in the directory of a calibration.
const FileName = "calibration.json"

// enoughRuns are needed before a promise counts as kept.
const enoughRuns = 40

// A Result is what calibration.json holds.
type Result struct {
	Schema      int                    `json:"schema"`
	Finished    time.Time              `json:"finished"` // when the last trial ended
	Seed        uint64                 `json:"seed"`
	Environment experiment.Environment `json:"environment"`
	Versions    map[string]string      `json:"versions"`
	Checks      []Check                `json:"checks"`
	Habit       *Habit                 `json:"habit,omitempty"` // nil before its first trial
}

// A Check is one promise and how often it was kept.
type Check struct {
	Name     string  `json:"name"`              // "equal variants on this machine", "10% slower, planted"
	Evidence string  `json:"evidence"`          // the unit of the verdict: "cpu-sec/op" (CPU time), "sec/op" (wall time)
	Planted  float64 `json:"planted,omitempty"` // how much slower: 0.1 is 10%; 0 for equal arms
	Runs     int     `json:"runs"`
	Hits     int     `json:"hits"` // of equal arms the reports with a false verdict, of planted ones those that found it
	Low      float64 `json:"low"`  // 95% interval of Hits/Runs (Clopper and Pearson)
	High     float64 `json:"high"`
	Promise  float64 `json:"promise"`           // at most this share of false verdicts, at least this share found; 0 for none
	Seconds  float64 `json:"seconds,omitempty"` // median time of a run; 0 where it was simulated
	Longest  float64 `json:"longest,omitempty"`
	Budget   float64 `json:"budget,omitempty"`   // seconds that a run may take
	Measured float64 `json:"measured,omitempty"` // median of the measured slow-downs, as Planted
}

// A State says whether a promise was kept.
type State string

// The states. Open means too few runs to tell.
const (
	Kept   State = "kept"
	Broken State = "broken"
	Open   State = "open"
)

// State of a check's promise.
func (c Check) State() State {
	share := float64(c.Hits) / float64(max(c.Runs, 1))
	good, excluded := share <= c.Promise, c.Low > c.Promise
	if c.Planted > 0 {
		good, excluded = share >= c.Promise, c.High < c.Promise
	}
	switch {
	case c.Promise == 0:
		return Open
	case c.Runs >= enoughRuns && good:
		return Kept
	case c.Runs >= enoughRuns || excluded:
		return Broken
	}
	return Open
}

// String is the check as a sentence's part: "false verdict in 0 of 40 reports
// (95% interval 0% to 8.8%)".
func (c Check) String() string {
	what := "reports with a false verdict"
	if c.Planted > 0 {
		what = "runs found it"
	}
	if c.Runs == 0 {
		return "no run yet"
	}
	s := fmt.Sprintf("%d of %d %s (95%% interval %s to %s)", c.Hits, c.Runs, what, wording.Percent(c.Low), wording.Percent(c.High))
	if c.Measured > 0 {
		s += ", measured as " + wording.Percent(c.Measured)
	}
	if c.Seconds > 0 {
		s += fmt.Sprintf(", %.0f s a run, longest %.0f s", c.Seconds, c.Longest)
	}
	return s
}

// A Habit compares the rounds of benchrun with go test -bench -count=10 of one
// variant, then of the other, both on equal variants: all they show is error.
type Habit struct {
	Trials  int     `json:"trials"`
	Seconds float64 `json:"seconds"` // median time that twice -count=10 took
	Error   float64 `json:"error"`   // median error of its ratio: 0.02 is 2%
	False   int     `json:"false"`   // trials in which p < 0.05 by the U-test
	// Ours is the median time after which the rounds' median error is as small
	// and stays so, by evidence; 0 where it never was.
	Ours map[string]float64 `json:"ours"`
}

// String is the comparison in a sentence.
func (h Habit) String() string {
	s := fmt.Sprintf("go test -count=10 of equal variants, one after the other, took %.0f s for a median error of %.2f%% and called %d of %d different", h.Seconds, 100*h.Error, h.False, h.Trials)
	for _, evidence := range evidences {
		if t := h.Ours[evidence.unit]; t > 0 {
			s += fmt.Sprintf("; rounds were as precise after %.1f s on %s", t, evidence.name)
		} else {
			s += fmt.Sprintf("; rounds were not as precise on %s", evidence.name)
		}
	}
	return s
}

// evidences are the units that verdicts can be taken on.
var evidences = []struct{ unit, name string }{{"cpu-sec/op", "CPU time"}, {"sec/op", "wall time"}}

//go:embed default.json
var ours []byte

// For is the calibration that speaks for the result directory dir: the one in
// the directory "calibration" beside it, or else the one that came with this
// program, of another machine.
func For(dir string) (r Result, own bool, err error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return r, false, err
	}
	path := filepath.Join(filepath.Dir(absolute), "calibration", FileName)
	switch err := experiment.ReadJSON(path, &r); {
	case errors.Is(err, os.ErrNotExist):
		err = json.Unmarshal(ours, &r)
		return r, false, err
	case err != nil:
		return r, true, err
	}
	if r.Schema != experiment.SchemaVersion {
		return r, true, fmt.Errorf("%s: schema: found %d, expected %d", path, r.Schema, experiment.SchemaVersion)
	}
	return r, true, nil
}

// shareInterval is the interval of Clopper and Pearson: the shares under which
// neither so many nor so few hits are rarer than 2.5%.
func shareInterval(hits, runs int) (low, high float64) {
	if runs == 0 {
		return 0, 1
	}
	// atLeast is P(X ≥ k) for a share p.
	atLeast := func(k int, p float64) float64 {
		sum := 0.0
		for x := k; x <= runs; x++ {
			a, _ := math.Lgamma(float64(runs + 1))
			b, _ := math.Lgamma(float64(x + 1))
			c, _ := math.Lgamma(float64(runs - x + 1))
			sum += math.Exp(a - b - c + float64(x)*math.Log(p) + float64(runs-x)*math.Log1p(-p))
		}
		return sum
	}
	solve := func(k int, want float64) float64 {
		lo, hi := 0.0, 1.0
		for range 60 {
			if mid := (lo + hi) / 2; atLeast(k, mid) < want {
				lo = mid
			} else {
				hi = mid
			}
		}
		return (lo + hi) / 2
	}
	low, high = 0, 1
	if hits > 0 {
		low = solve(hits, 0.025)
	}
	if hits < runs {
		high = solve(hits+1, 0.975)
	}
	return low, high
}
