package calibration

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"golang.org/x/perf/benchfmt"
)

// habitCount is what people give to -count, and habitTime is go test's
// -benchtime unless they say otherwise.
const (
	habitCount = 10
	habitTime  = time.Second
)

// A habitOutcome is one trial of both ways on equal variants.
type habitOutcome struct {
	Seconds float64 `json:"seconds"` // of both -count=10
	Error   float64 `json:"error"`   // |ln| of the ratio of medians
	False   bool    `json:"false"`   // p < 0.05
	// Rounds are the time and the error, by evidence, after each round of ours.
	Rounds []roundError `json:"rounds"`
}

type roundError struct {
	Seconds float64            `json:"seconds"`
	Error   map[string]float64 `json:"error"`
}

// habit lets go test's way and rounds work for as long, on equal arms.
func (t trial) habit(ctx context.Context, o Options, dir string, seed uint64) (outcome, error) {
	cases, err := (trial{every: 20}).cases(o.Cases)
	if err != nil {
		return outcome{}, err
	}
	cases[0].Variants = []string{cases[0].Baseline, same}
	plan, err := newPlan(cases, lab.Options{Seed: seed, Budget: time.Hour})
	if err != nil {
		return outcome{}, err
	}
	habitual := plan
	habitual.SampleTime, habitual.Timeout = habitTime, 5*time.Minute
	sample := o.Sampler(habitual, habitCount)
	c := plan.Cases[0]
	var h habitOutcome
	var values [2][]float64
	var raw [2][]byte
	for i, arm := range c.Arms[:2] {
		begin := time.Now()
		raw[i], err = sample(ctx, c, arm)
		if err != nil {
			return outcome{}, err
		}
		h.Seconds += time.Since(begin).Seconds()
		if values[i], err = wallTimes(raw[i]); err != nil {
			return outcome{}, err
		}
	}
	h.Error = math.Abs(math.Log(statistic.Center(values[0]) / statistic.Center(values[1])))
	h.False = statistic.UTest(values[0], values[1]) < statistic.Alpha

	plan.Budget, plan.Precision, plan.MaxRounds = time.Duration(h.Seconds*float64(time.Second)), 1e-9, 1_000_000
	run, samples, err := o.lab(plan).Execute(ctx, dir, experiment.Run{Plan: plan, Environment: experiment.Here(), Versions: experiment.Versions()})
	if err != nil || ctx.Err() != nil {
		return outcome{}, cmp.Or(err, ctx.Err())
	}
	for i, name := range []string{"count10-a.txt", "count10-b.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), raw[i], 0o666); err != nil {
			return outcome{}, err
		}
	}
	h.Rounds = errorsByRound(run, samples)
	x := outcome{Seconds: 2 * h.Seconds, Habit: &h}
	return x, x.write(dir)
}

// wallTimes are a benchmark's seconds per op, count by count.
func wallTimes(output []byte) ([]float64, error) {
	var values []float64
	for r := benchfmt.NewReader(bytes.NewReader(output), "go test"); r.Scan(); {
		if result, ok := r.Result().(*benchfmt.Result); ok {
			v, err := rawtext.Values(result)
			if err != nil {
				return nil, err
			}
			values = append(values, v["sec/op"])
		}
	}
	if len(values) != habitCount {
		return nil, fmt.Errorf("found %d results, expected %d", len(values), habitCount)
	}
	return values, nil
}

// errorsByRound is how wrong the ratio would have been, had sampling ended after
// each round. The control's samples count as time.
func errorsByRound(run experiment.Run, samples []experiment.Measurement) []roundError {
	c := run.Plan.Cases[0]
	arms := statistic.ByArm(samples, statistic.ByCase(samples)[c.Key()])
	seconds := map[int]float64{}
	rounds := 0
	for _, s := range run.Schedule {
		seconds[s.Round] += s.Took.Seconds()
		rounds = max(rounds, s.Round+1)
	}
	until := func(series statistic.Series, rounds int) statistic.Series {
		part := statistic.Series{}
		for round, m := range series {
			if round < rounds {
				part[round] = m
			}
		}
		return part
	}
	var errors []roundError
	elapsed := 0.0
	for n := 1; n <= rounds; n++ {
		elapsed += seconds[n-1]
		if n < run.Plan.MinRounds {
			continue
		}
		e := roundError{elapsed, map[string]float64{}}
		for _, evidence := range evidences {
			ratio, _, _ := statistic.PairedRatio(statistic.LogRatios(until(arms[c.Baseline], n), until(arms[same], n), evidence.unit), 0.95)
			e.Error[evidence.unit] = math.Abs(math.Log(ratio))
		}
		errors = append(errors, e)
	}
	return errors
}

// habitOf is what the trials say together.
func habitOf(outcomes []outcome) *Habit {
	if len(outcomes) == 0 {
		return nil
	}
	h := &Habit{Trials: len(outcomes), Ours: map[string]float64{}}
	var seconds, errors []float64
	rounds := 1_000_000
	for _, x := range outcomes {
		seconds, errors = append(seconds, x.Habit.Seconds), append(errors, x.Habit.Error)
		rounds = min(rounds, len(x.Habit.Rounds))
		if x.Habit.False {
			h.False++
		}
	}
	h.Seconds, h.Error = statistic.Center(seconds), statistic.Center(errors)
	for _, evidence := range evidences {
		// From the end: the first round after which it is never worse again.
		for n := rounds - 1; n >= 0; n-- {
			var times, ours []float64
			for _, x := range outcomes {
				times, ours = append(times, x.Habit.Rounds[n].Seconds), append(ours, x.Habit.Rounds[n].Error[evidence.unit])
			}
			if statistic.Center(ours) > h.Error {
				break
			}
			h.Ours[evidence.unit] = statistic.Center(times)
		}
	}
	h.Error = math.Expm1(h.Error)
	return h
}
