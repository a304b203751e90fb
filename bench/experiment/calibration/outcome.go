package calibration

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// outcomeFile ends a trial: without it the trial did not come to its end.
const outcomeFile = "outcome.json"

// An outcome is what a trial showed, by evidence where that is the key.
type outcome struct {
	Seconds float64            `json:"seconds"`
	Hit     map[string]bool    `json:"hit,omitempty"`    // a false verdict, or the planted slow-down found
	Slower  map[string]float64 `json:"slower,omitempty"` // the measured slow-down
	Habit   *habitOutcome      `json:"habit,omitempty"`
}

func readOutcome(dir string) (outcome, error) {
	var x outcome
	err := experiment.ReadJSON(filepath.Join(dir, outcomeFile), &x)
	return x, err
}

func (x outcome) write(dir string) error {
	return atomicfile.WriteJSON(filepath.Join(dir, outcomeFile), x)
}

// outcomeOf judges the same samples by each evidence.
func outcomeOf(t trial, run experiment.Run, samples []experiment.Measurement) outcome {
	x := outcome{Hit: map[string]bool{}, Slower: map[string]float64{}}
	for _, s := range run.Schedule {
		x.Seconds += s.Took.Seconds()
	}
	for _, evidence := range evidences {
		stats := verdict.Analyse(judgedBy(run, evidence.unit), samples)
		verdicts := stats.Verdicts()
		if t.every == 0 {
			x.Hit[evidence.unit] = verdicts[verdict.Faster]+verdicts[verdict.Slower] > 0
			continue
		}
		x.Hit[evidence.unit] = verdicts[verdict.Slower] == 1
		for _, row := range stats.Components[0].Cases[0].Rows {
			if row.Comparison != nil && !row.Control {
				x.Slower[evidence.unit] = 1/row.Comparison.Ratio - 1
			}
		}
	}
	return x
}

// judgedBy is the run with its verdicts taken on unit.
func judgedBy(run experiment.Run, unit string) experiment.Run {
	run.Plan.Cases = slices.Clone(run.Plan.Cases)
	for i := range run.Plan.Cases {
		run.Plan.Cases[i].Unit = unit
	}
	return run
}

// derive fills in what the outcomes say together.
func (r *Result) derive(outcomes map[string][]outcome) {
	r.Finished = time.Now().UTC()
	r.Checks = simulatedChecks(r.Seed)
	for _, t := range trials[:3] {
		for _, evidence := range evidences {
			r.Checks = append(r.Checks, check(t, evidence.unit, outcomes[t.name]))
		}
	}
	r.Habit = habitOf(outcomes["habit"])
}

func check(t trial, unit string, outcomes []outcome) Check {
	c := Check{Name: "equal variants on this machine", Evidence: unit, Promise: t.promise, Runs: len(outcomes), Budget: t.budget.Seconds()}
	if t.every > 0 {
		c.Planted = 1 / float64(t.every)
		c.Name = wording.Percent(c.Planted) + " slower, planted"
	}
	if unit != evidences[0].unit {
		c.Promise = 0 // verdicts are taken on CPU time; wall time is told beside it
	}
	var seconds, slower []float64
	for _, x := range outcomes {
		if x.Hit[unit] {
			c.Hits++
		}
		seconds, slower = append(seconds, x.Seconds), append(slower, x.Slower[unit])
	}
	c.Low, c.High = shareInterval(c.Hits, c.Runs)
	if c.Runs > 0 {
		c.Seconds, c.Longest, c.Measured = statistic.Center(seconds), slices.Max(seconds), statistic.Center(slower)
	}
	return c
}
