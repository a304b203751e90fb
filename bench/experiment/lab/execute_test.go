package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"github.com/informerbench/informerbench/bench/experiment/internal/simulated"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fake samples take 100 ms of a bubble's time and have 1% noise.
func fake(fail func(c experiment.PlannedCase, a experiment.Arm) error) Sampler {
	r := rand.New(rand.NewPCG(1, 1))
	return func(ctx context.Context, c experiment.PlannedCase, a experiment.Arm) ([]byte, error) {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if fail != nil {
			if err := fail(c, a); err != nil {
				return nil, err
			}
		}
		ns := 100 * (1 + 0.01*r.NormFloat64())
		if a.Variant == "ring" {
			ns /= 2
		}
		return fmt.Appendf(nil, "goos: linux\n%s-2   \t 1000\t %.3f ns/op\t 16 B/op\t 1 allocs/op\nPASS\n", c.Benchmark(a.Name), ns), nil
	}
}

func execute(t *testing.T, ctx context.Context, plan experiment.Plan, s Sampler) (string, experiment.Run, []experiment.Measurement, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "result")
	l := Lab{Sample: s, Report: func(Progress) {}}
	run, samples, err := l.Execute(ctx, dir, experiment.Run{Plan: plan, Environment: experiment.Here()})
	return dir, run, samples, err
}

func TestExecuteStopsAtPrecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := simulated.Plan(2)
		plan.Budget = time.Hour
		dir, run, samples, err := execute(t, t.Context(), plan, fake(nil))
		require.NoError(t, err)
		assert.Equal(t, "precision", run.Stopped)
		assert.Len(t, samples, 2*5*plan.MinRounds)

		stats := verdict.Analyse(run, samples)
		assert.Equal(t, "Use ring: 2.00× as fast as client-go over 2 cases (geometric mean; 1.99× in the worst), a full drop-in.", stats.Decision)
		loaded, again, err := experiment.Load(dir)
		require.NoError(t, err)
		assert.Equal(t, run.Plan, loaded.Plan)
		assert.Equal(t, stats, verdict.Analyse(loaded, again), "raw.txt and run.json hold all of it")
		require.NoError(t, verdict.Write(dir, stats))
	})
}

func TestExecuteStopsAtBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := simulated.Plan(3)
		plan.Precision = 1e-9
		plan.Budget = 20 * time.Second
		begin := time.Now()
		_, run, samples, err := execute(t, t.Context(), plan, fake(nil))
		require.NoError(t, err)
		assert.Equal(t, "budget", run.Stopped)
		assert.LessOrEqual(t, time.Since(begin), plan.Budget)
		assert.GreaterOrEqual(t, time.Since(begin), plan.Budget-time.Second)
		rounds := map[string]int{}
		for _, m := range samples {
			rounds[m.Case] = max(rounds[m.Case], m.Round+1)
		}
		for _, n := range rounds {
			assert.GreaterOrEqual(t, n, plan.MinRounds)
		}
	})
}

// When not all cases can have the rounds they need, most of them do.
func TestExecuteDefersTheExpensive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := simulated.Plan(3)
		plan.Budget = 15 * time.Second // 2 cases of 10 rounds of 0.5 s, and little of the third
		slow := func(c experiment.PlannedCase, _ experiment.Arm) error {
			if c.Name == "op=1" {
				<-time.After(400 * time.Millisecond)
			}
			return nil
		}
		_, run, samples, err := execute(t, t.Context(), plan, fake(slow))
		require.NoError(t, err)
		assert.Equal(t, "budget", run.Stopped)
		rows := verdict.Analyse(run, samples).Components[0].Cases
		assert.Equal(t, plan.MinRounds, rows[0].Rows[0].Samples)
		assert.Equal(t, plan.MinRounds, rows[2].Rows[0].Samples)
		assert.Positive(t, rows[1].Rows[0].Samples)
		assert.Less(t, rows[1].Rows[0].Samples, statistic.MinSamples)
	})
}

// A quick run shows no case that it could not decide: headlines come first, samples
// are shortened, and what does not fit is left out and says so.
func TestQuickRunDecidesWhatItShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := simulated.Plan(4)
		plan.Profile, plan.SampleTime, plan.Precision = Quick, 100*time.Millisecond, 1e-9
		plan.Cases[3].Headline = "the slow thing"
		plan.Budget = 40 * time.Second // cases of 10 rounds: two of 0.5 s, a headline of 2.5 s; one of 2.5 s does not fit
		var times []time.Duration
		slow := func(c experiment.PlannedCase, _ experiment.Arm) error {
			times = append(times, c.SampleTime)
			if c.Name == "op=1" || c.Headline != "" {
				<-time.After(400 * time.Millisecond)
			}
			return nil
		}
		dir, run, samples, err := execute(t, t.Context(), plan, fake(slow))
		require.NoError(t, err)
		assert.Equal(t, "budget", run.Stopped)
		assert.Zero(t, times[0], "the plan's")
		assert.Greater(t, times[len(times)-1], 50*time.Millisecond)
		assert.Less(t, times[len(times)-1], 100*time.Millisecond)
		for i, c := range run.Plan.Cases {
			assert.Equal(t, i == 1, c.LeftOut != "", c.Name)
		}
		assert.Empty(t, plan.Cases[1].LeftOut, "the caller's plan is as it was")
		loaded, again, err := experiment.Load(dir)
		require.NoError(t, err)
		stats := verdict.Analyse(loaded, again)
		assert.Equal(t, verdict.Analyse(run, samples), stats)
		assert.Len(t, stats.Components[0].Cases, 3)
		assert.Zero(t, stats.Verdicts()[verdict.TooFew])
		assert.Contains(t, fmt.Sprint(stats.Warnings), "{queue/op=1 left out: 1 of the 10 rounds that a verdict takes fitted into the budget of 40s; the others take 23s more}")

		plan = simulated.Plan(2) // where nothing fits all is shown as it is
		plan.Profile, plan.SampleTime, plan.Budget = Quick, 100*time.Millisecond, 3*time.Second
		_, run, _, err = execute(t, t.Context(), plan, fake(nil))
		require.NoError(t, err)
		assert.Empty(t, run.Plan.Cases[0].LeftOut+run.Plan.Cases[1].LeftOut)
	})
}

// Where rounds take longer than the first ones told, some cases are decided and not
// each begun.
func TestQuickRunEndsWhatItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := simulated.Plan(6)
		plan.Profile, plan.SampleTime, plan.Precision = Quick, 100*time.Millisecond, 1e-9
		plan.Budget = 30 * time.Second // 6 cases of 10 rounds of 0.5 s, of which each takes longer than the one before
		taken := map[string]int{}
		slower := func(c experiment.PlannedCase, _ experiment.Arm) error {
			taken[c.Name]++
			<-time.After(time.Duration(taken[c.Name]/len(c.Arms)) * 30 * time.Millisecond)
			return nil
		}
		_, run, samples, err := execute(t, t.Context(), plan, fake(slower))
		require.NoError(t, err)
		decided := 0
		for _, c := range run.Plan.Cases {
			if c.LeftOut == "" {
				decided++
			}
		}
		assert.GreaterOrEqual(t, decided, 2)
		assert.Less(t, decided, len(run.Plan.Cases))
		assert.Zero(t, verdict.Analyse(run, samples).Verdicts()[verdict.TooFew])
	})
}

func TestScheduleIsSeeded(t *testing.T) {
	c := simulated.Plan(1).Cases[0]
	assert.Equal(t, shuffled(7, 3, c), shuffled(7, 3, c))
	orders := map[string]bool{}
	for round := range 50 {
		orders[fmt.Sprint(shuffled(7, round, c))] = true
	}
	assert.Greater(t, len(orders), 25, "rounds differ")
}

func TestExecuteFailures(t *testing.T) {
	boom := errors.New("timed out after 1s")
	synctest.Test(t, func(t *testing.T) {
		plan := simulated.Plan(2)
		plan.Budget = time.Hour
		dir, run, samples, err := execute(t, t.Context(), plan, fake(func(c experiment.PlannedCase, a experiment.Arm) error {
			if c.Name == "op=0" && a.Name == "slice" || c.Name == "op=1" && a.Control {
				return boom
			}
			return nil
		}))
		require.NoError(t, err)
		stats := verdict.Analyse(run, samples)
		for _, r := range stats.Components[0].Cases[0].Rows {
			switch {
			case r.Name == "slice":
				assert.Equal(t, verdict.NoResult, r.Comparison.Verdict)
				assert.Zero(t, r.Samples)
			case r.Comparison != nil:
				assert.NotEqual(t, verdict.NoResult, r.Comparison.Verdict, r.Name)
			}
		}
		for _, r := range stats.Components[0].Cases[1].Rows[1:] {
			assert.Equal(t, verdict.NoResult, r.Comparison.Verdict, "without a control nothing is claimed")
		}
		assert.Contains(t, fmt.Sprint(run.Warnings), "sample 1 failed, so there is no result: timed out after 1s")
		raw, err := os.ReadFile(filepath.Join(dir, rawtext.File))
		require.NoError(t, err)
		assert.Contains(t, string(raw), "# failed: queue/op=0: slice: timed out after 1s\n")
	})
	synctest.Test(t, func(t *testing.T) {
		plan := simulated.Plan(3)
		plan.Budget = time.Hour
		_, _, samples, err := execute(t, t.Context(), plan, fake(func(experiment.PlannedCase, experiment.Arm) error { return boom }))
		assert.Empty(t, samples)
		assert.ErrorContains(t, err, "the first 5 samples all failed")
	})
}

// A machine that stands still for a moment costs a sample, not the arm; an arm
// that hangs from the start, or again and again, has no result.
func TestExecuteForgivesStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := simulated.Plan(1)
		plan.Budget = time.Hour
		calls := map[string]int{}
		_, run, samples, err := execute(t, t.Context(), plan, fake(func(_ experiment.PlannedCase, a experiment.Arm) error {
			calls[a.Name]++
			if a.Name == "ring" && calls[a.Name] == 3 || a.Name == "slice" || a.Name == "sharded" && calls[a.Name] > 2 {
				return stalled{errors.New("timed out after 1s")}
			}
			return nil
		}))
		require.NoError(t, err)
		assert.Equal(t, 1, calls["slice"])
		assert.Equal(t, 2+maxStalls+1, calls["sharded"])
		for _, r := range verdict.Analyse(run, samples).Components[0].Cases[0].Rows {
			if r.Comparison != nil && !r.Control {
				assert.Equal(t, r.Name != "ring", r.Comparison.Verdict == verdict.NoResult, r.Name)
			}
		}
		assert.Contains(t, fmt.Sprint(run.Warnings), "{queue/op=0/ring sample 3 was left out, because the machine or the variant stood still: timed out after 1s}")
	})
}

func TestExecuteInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1950*time.Millisecond)
		defer cancel()
		plan := simulated.Plan(2)
		plan.Budget = time.Hour
		dir, run, samples, err := execute(t, ctx, plan, fake(nil))
		require.NoError(t, err)
		assert.Equal(t, "interrupted", run.Stopped)
		assert.Len(t, samples, 19)
		_, loaded, err := experiment.Load(dir)
		require.NoError(t, err)
		assert.Equal(t, samples, loaded)
		v := verdict.Analyse(run, samples).Verdicts()
		assert.Equal(t, 8, v[verdict.TooFew])
	})
}

// Samples are whole then; what is missing says why.
func TestProfilesInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	plan := simulated.Plan(1)
	plan.Profiling, plan.Timeout = time.Hour, time.Hour
	l := Lab{
		Profile: func(experiment.PlannedCase, string, string) []string { return []string{os.Args[0]} },
		Report:  func(Progress) {},
	}
	missing := l.profiles(ctx, t.TempDir(), plan)
	require.Len(t, missing, 4)
	assert.Equal(t, "no profile: interrupted", missing[0].Text)
}

func TestExecuteRefusesDirectories(t *testing.T) {
	plan := simulated.Plan(1)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes"), nil, 0o666))
	_, _, err := Lab{Sample: fake(nil)}.Execute(t.Context(), dir, experiment.Run{Plan: plan})
	assert.ErrorContains(t, err, "is not empty (it holds notes), expected a new or empty directory")

	file := filepath.Join(dir, "notes")
	_, _, err = Lab{Sample: fake(nil)}.Execute(t.Context(), filepath.Join(file, "result"), experiment.Run{Plan: plan})
	assert.ErrorContains(t, err, "not a directory")
}

func TestFindResult(t *testing.T) {
	for name, c := range map[string]struct{ output, want string }{
		"nothing":     {"PASS\n", "printed no result"},
		"garbage":     {"Benchmark\x00\xff\n\n\n", "printed no result"},
		"twice":       {"BenchmarkA/impl=b-2\t1\t5 ns/op\nBenchmarkA/impl=b-2\t1\t5 ns/op\n", "printed more than one result"},
		"malformed":   {"BenchmarkA/impl=b-2\tmany\t5 ns/op\n", "malformed"},
		"other name":  {"BenchmarkA/impl=c-2\t1\t5 ns/op\n", "printed no result"},
		"not finite":  {"BenchmarkA/impl=b-2\t1\tNaN ns/op\n", "expected a number of 0 or more"},
		"no unit":     {"BenchmarkA/impl=b-2\t1\t5 B/op\n", "printed no sec/op"},
		"good":        {"goos: linux\nBenchmarkA/impl=b-2  \t1\t5 ns/op\nPASS", ""},
		"one P, good": {"BenchmarkA/impl=b\t1\t5 ns/op\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			line, values, err := findResult([]byte(c.output), "BenchmarkA/impl=b", "sec/op")
			if c.want != "" {
				assert.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			assert.InDelta(t, 5e-9, values["sec/op"], 1e-15)
			assert.True(t, strings.HasSuffix(string(line), "ns/op\n"))
		})
	}
}
