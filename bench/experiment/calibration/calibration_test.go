package calibration

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

// fake times have 3% noise on the wall and 1% on the CPU, and are slower where
// that is planted. drift makes go test's two runs of ten unlike.
func fake(p experiment.Plan, count int) lab.Sampler {
	r := rand.New(rand.NewPCG(p.Seed, 1))
	drift := 1.0
	return func(ctx context.Context, c experiment.PlannedCase, a experiment.Arm) ([]byte, error) {
		select {
		case <-time.After(time.Duration(count) * (p.SampleTime + 50*time.Millisecond)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		slow := map[string]float64{plantedName(10): 1.1, plantedName(20): 1.05}[Variant(c, a)]
		if slow == 0 {
			slow = 1
		}
		if count > 1 {
			drift *= 1.1
		}
		var out []byte
		for range count {
			out = fmt.Appendf(out, "%s-2\t1\t%.4f ns/op\t%.4f cpu-ns/op\n", c.Benchmark(a.Name),
				100*slow*drift*(1+0.03*r.NormFloat64()), 100*slow*drift*(1+0.01*r.NormFloat64()))
		}
		return out, nil
	}
}

func options(t *testing.T) Options {
	var cases []bench.Case
	for _, component := range []string{"storage", "queue", "indexer"} {
		cases = append(cases, bench.Case{Component: component, Name: "op=x", Unit: "cpu-sec/op", Quick: true, Baseline: "client-go", Variants: []string{"client-go", "ring"}})
	}
	return Options{Dir: filepath.Join(t.TempDir(), "calibration"), Runs: 3, Seed: 1, Cases: cases, Sampler: fake, Report: func(lab.Progress) {}}
}

func TestRunGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t)
		interrupted, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		first, err := Run(interrupted, o)
		require.NoError(t, err)
		require.Less(t, first.Checks[4].Runs, 3)
		require.Positive(t, first.Checks[4].Runs)

		r, err := Run(t.Context(), o)
		require.NoError(t, err)
		require.Len(t, r.Checks, 4+6)
		for _, c := range r.Checks[4:] {
			assert.Equal(t, 3, c.Runs, c.Name)
			if c.Planted > 0 && c.Evidence == "cpu-sec/op" {
				assert.Equal(t, 3, c.Hits, c.Name)
				assert.InDelta(t, c.Planted, c.Measured, 0.015)
				assert.LessOrEqual(t, c.Longest, c.Budget)
			}
		}
		assert.Equal(t, 1, r.Habit.Trials)
		assert.InDelta(t, 0.1, r.Habit.Error, 0.02, "the drift between its two runs")
		assert.Equal(t, 1, r.Habit.False)
		assert.Less(t, r.Habit.Ours["cpu-sec/op"], r.Habit.Seconds/2)
		assert.Positive(t, r.Habit.Ours["cpu-sec/op"])
		assert.Contains(t, r.Habit.String(), "called 1 of 1 different; rounds were as precise after")

		before := time.Now()
		again, err := Run(t.Context(), o)
		require.NoError(t, err)
		assert.Equal(t, before, time.Now(), "nothing is left to do")
		assert.Equal(t, r.Checks, again.Checks)

		o.Seed = 2
		_, err = Run(t.Context(), o)
		assert.ErrorContains(t, err, "holds a calibration with seed 1 of ")
		own, isOwn, err := For(filepath.Join(filepath.Dir(o.Dir), "some-run"))
		require.NoError(t, err)
		assert.True(t, isOwn)
		assert.Equal(t, again.Checks, own.Checks)
	})
}

func TestRunRefusesOtherDirectories(t *testing.T) {
	o := options(t)
	require.NoError(t, os.MkdirAll(o.Dir, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(o.Dir, "notes"), nil, 0o666))
	_, err := Run(t.Context(), o)
	assert.ErrorContains(t, err, "is not empty (it holds notes)")
	require.NoError(t, os.Rename(filepath.Join(o.Dir, "notes"), filepath.Join(o.Dir, FileName)))
	_, err = Run(t.Context(), o)
	assert.ErrorContains(t, err, "calibration.json: unexpected end of JSON input")
	_, _, err = For(filepath.Join(filepath.Dir(o.Dir), "some-run"))
	assert.ErrorContains(t, err, "calibration.json: unexpected end of JSON input")

	o = options(t)
	o.Cases = o.Cases[:1]
	_, err = Run(t.Context(), o)
	assert.ErrorContains(t, err, "there is no case of a queue")
}

// What comes with the program is a full calibration of a named machine.
func TestDefault(t *testing.T) {
	r, own, err := For(filepath.Join(t.TempDir(), "run"))
	require.NoError(t, err)
	assert.False(t, own)
	assert.Equal(t, experiment.SchemaVersion, r.Schema)
	assert.NotEmpty(t, r.Environment.CPU)
	require.NotNil(t, r.Habit)
	for _, c := range r.Checks {
		assert.NotEqual(t, Broken, c.State(), "%s: %s", c.Name, c)
	}
}

func TestShareInterval(t *testing.T) {
	for _, c := range []struct {
		hits, runs int
		low, high  float64
	}{{0, 40, 0, 0.0881}, {1, 40, 0.0006, 0.1316}, {40, 40, 0.9119, 1}, {36, 40, 0.7634, 0.9721}, {0, 0, 0, 1}} {
		low, high := shareInterval(c.hits, c.runs)
		assert.InDelta(t, c.low, low, 1e-4, "%d of %d", c.hits, c.runs)
		assert.InDelta(t, c.high, high, 1e-4, "%d of %d", c.hits, c.runs)
	}
}

func TestState(t *testing.T) {
	for _, c := range []struct {
		hits, runs int
		planted    float64
		promise    float64
		want       State
	}{
		{2, 40, 0, 0.05, Kept}, {3, 40, 0, 0.05, Broken}, {1, 3, 0, 0.05, Open}, {3, 3, 0, 0.05, Broken},
		{36, 40, 0.1, 0.9, Kept}, {35, 40, 0.1, 0.9, Broken}, {3, 3, 0.1, 0.9, Open}, {0, 3, 0.1, 0.9, Broken}, {0, 40, 0.1, 0, Open},
	} {
		x := Check{Hits: c.hits, Runs: c.runs, Planted: c.planted, Promise: c.promise}
		x.Low, x.High = shareInterval(c.hits, c.runs)
		assert.Equal(t, c.want, x.State(), "%+v", c)
	}
}

func TestSimulated(t *testing.T) {
	checks := simulate(7, 100)
	assert.Len(t, checks, 4)
	for _, c := range checks {
		assert.LessOrEqual(t, c.Hits, 5, "%s, seed 7", c.Name)
	}
	b, err := json.Marshal(checks)
	require.NoError(t, err)
	assert.Equal(t, 4, strings.Count(string(b), `"runs":100`))
}

// A planted queue passes on every item, one of ten twice.
func TestPlantedDoesMoreOfTheSame(t *testing.T) {
	for every, want := range map[int]int{0: 100, 10: 110, 20: 105} {
		counted := &counting{TypedInterface: workqueue.NewTyped[string]()}
		q := &planted{TypedInterface: counted, every: every}
		for i := range 100 {
			q.Add(fmt.Sprint(i))
			got, _ := q.Get()
			assert.Equal(t, fmt.Sprint(i), got)
			q.Done(got)
		}
		assert.Equal(t, want, counted.done)
		assert.Zero(t, q.Len())
	}
}

type counting struct {
	workqueue.TypedInterface[string]
	done int
}

func (q *counting) Done(item string) { q.done++; q.TypedInterface.Done(item) }

func TestCheckInWords(t *testing.T) {
	assert.Equal(t, "no run yet", Check{Planted: 0.1}.String())
	assert.Contains(t, Check{Planted: 0.1, Runs: 2, Hits: 1, High: 1}.String(), "1 of 2 runs found it (95% interval 0% to 100%)")
}
