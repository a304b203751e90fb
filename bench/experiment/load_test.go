package experiment

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// result writes a small result directory.
func result(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	plan := simulatedPlan(1)
	require.NoError(t, writeJSON(filepath.Join(dir, runFile), Run{Schema: SchemaVersion, Plan: plan}))
	var raw strings.Builder
	raw.WriteString(rawHeader(Environment{OS: "linux", Arch: "amd64"}))
	for round := range 3 {
		fmt.Fprintf(&raw, "%s%d of %s\n", roundMark, round, plan.Cases[0].Key())
		for _, a := range plan.Cases[0].Arms {
			fmt.Fprintf(&raw, "%s-2\t100\t%d ns/op\n", benchmarkName(plan.Cases[0], a.Name), 100+round)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, rawFile), []byte(raw.String()), 0o666))
	return dir
}

func edit(t *testing.T, path string, f func(string) string) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(f(string(b))), 0o666))
}

func TestLoadDamaged(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   string
	}{
		"no run.json": {func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, runFile))) }, "has no run.json"},
		"no raw.txt":  {func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, rawFile))) }, "has no raw.txt"},
		"truncated": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, runFile), func(s string) string { return s[:len(s)/2] })
		}, "truncated or not JSON"},
		"newer": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, runFile), func(s string) string { return strings.Replace(s, `"schema": 1`, `"schema": 99`, 1) })
		}, "schema: found 99, expected 1 to 1"},
		"foreign": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, runFile), func(string) string { return `{"a": 1}` })
		}, "schema: found none"},
		"wrong type": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, runFile), func(s string) string { return strings.Replace(s, `"seed": 0`, `"seed": "x"`, 1) })
		}, "plan.seed"},
		"no baseline": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, runFile), func(s string) string { return strings.Replace(s, `"baseline": "client-go"`, `"baseline": ""`, 1) })
		}, "plan: cases[0]"},
		"round mark": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, rawFile), func(s string) string { return strings.Replace(s, "# round 1", "# round x", 1) })
		}, "raw.txt:10: found"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := result(t)
			c.damage(t, dir)
			_, _, err := Load(dir)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestLoadCutInTheMiddleOfALine(t *testing.T) {
	dir := result(t)
	edit(t, filepath.Join(dir, rawFile), func(s string) string { return s[:len(s)-4] })
	run, samples, err := Load(dir)
	require.NoError(t, err)
	assert.Len(t, samples, 14)
	assert.Contains(t, fmt.Sprint(run.Warnings), "the last line is cut off and was left out")
	assert.Contains(t, fmt.Sprint(run.Warnings), "the run died before its end")
}

func TestLoadForeignLines(t *testing.T) {
	dir := result(t)
	edit(t, filepath.Join(dir, rawFile), func(s string) string {
		return s + "BenchmarkOther/impl=x-2\t1\t5 ns/op\nBenchmarkQueue/op=0/impl=ring-2\t1\tNaN ns/op\nBenchmarkQueue/op=0/impl=ring-2\t1\t-5 ns/op\nBenchmarkQueue/op=0/impl=ring-2\tx\n"
	})
	run, samples, err := Load(dir)
	require.NoError(t, err)
	assert.Len(t, samples, 15)
	assert.Len(t, run.Warnings, 5, "one a line, and that the run did not end")
}

func TestStatsJSONHasNoInfinity(t *testing.T) {
	_, samples, err := Load(result(t))
	require.NoError(t, err)
	stats := Analyse(Run{Plan: simulatedPlan(1)}, samples)
	row := stats.Components[0].Cases[0].Rows[1]
	require.True(t, math.IsInf(row.Comparison.High, 1), "three rounds have no interval")
	b, err := json.Marshal(stats)
	require.NoError(t, err)
	var back Stats
	require.NoError(t, json.Unmarshal(b, &back))
	assert.Equal(t, stats, back)
}

func TestDiff(t *testing.T) {
	write := func(ns, allocs int) string {
		path := filepath.Join(t.TempDir(), "raw.txt")
		s := "goos: linux\n"
		for i := range 8 {
			s += fmt.Sprintf("BenchmarkA-2\t1\t%d ns/op\t%d allocs/op\nBenchmarkA/impl=client-go-again-2\t1\t1 ns/op\n", ns+i, allocs)
		}
		require.NoError(t, os.WriteFile(path, []byte(s), 0o666))
		return path
	}
	changes, _, err := Diff(write(100, 1), write(120, 1))
	require.NoError(t, err)
	require.Len(t, changes, 2)
	assert.True(t, changes[0].Shown())
	assert.InDelta(t, 123.5/103.5, changes[0].Ratio, 1e-9)
	assert.False(t, changes[1].Shown())

	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o666))
	_, _, err = Diff(write(1, 1), empty)
	assert.ErrorContains(t, err, "holds no benchmark result")
	_, _, err = Diff(t.TempDir(), empty)
	assert.ErrorContains(t, err, "has no raw.txt")
}
