package experiment_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"github.com/informerbench/informerbench/bench/experiment/internal/simulated"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// result writes a small result directory.
func result(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, simulated.WriteResult(dir))
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
		"no run.json": {func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, rawtext.RunFile))) }, "has no run.json"},
		"no raw.txt":  {func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, rawtext.File))) }, "has no raw.txt"},
		"truncated": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, rawtext.RunFile), func(s string) string { return s[:len(s)/2] })
		}, "truncated or not JSON"},
		"newer": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, rawtext.RunFile), func(s string) string { return strings.Replace(s, `"schema": 1`, `"schema": 99`, 1) })
		}, "schema: found 99, expected a version up to 1"},
		"foreign": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, rawtext.RunFile), func(string) string { return `{"a": 1}` })
		}, "schema: found none"},
		"wrong type": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, rawtext.RunFile), func(s string) string { return strings.Replace(s, `"seed": 0`, `"seed": "x"`, 1) })
		}, "plan.seed"},
		"no baseline": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, rawtext.RunFile), func(s string) string { return strings.Replace(s, `"baseline": "client-go"`, `"baseline": ""`, 1) })
		}, "plan: cases[0]"},
		"round mark": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, rawtext.File), func(s string) string { return strings.Replace(s, "# round 1", "# round x", 1) })
		}, "raw.txt:10: found"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := result(t)
			c.damage(t, dir)
			_, _, err := experiment.Load(dir)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestLoadCutInTheMiddleOfALine(t *testing.T) {
	dir := result(t)
	edit(t, filepath.Join(dir, rawtext.File), func(s string) string { return s[:len(s)-4] })
	run, samples, err := experiment.Load(dir)
	require.NoError(t, err)
	assert.Len(t, samples, 14)
	assert.Contains(t, fmt.Sprint(run.Warnings), "the last line is cut off and was left out")
	assert.Contains(t, fmt.Sprint(run.Warnings), "the run died before its end")
}

func TestLoadForeignLines(t *testing.T) {
	dir := result(t)
	edit(t, filepath.Join(dir, rawtext.File), func(s string) string {
		return s + "BenchmarkOther/impl=x-2\t1\t5 ns/op\nBenchmarkQueue/op=0/impl=ring-2\t1\tNaN ns/op\nBenchmarkQueue/op=0/impl=ring-2\t1\t-5 ns/op\nBenchmarkQueue/op=0/impl=ring-2\tx\n"
	})
	run, samples, err := experiment.Load(dir)
	require.NoError(t, err)
	assert.Len(t, samples, 15)
	assert.Len(t, run.Warnings, 5, "one a line, and that the run did not end")
}

// A report pools what was measured in one configuration alone.
func TestLoadTwoConfigurations(t *testing.T) {
	for name, more := range map[string]func(rounds string) string{
		`goarch "amd64" before and "arm64" here`: func(s string) string { return "goarch: arm64\n" + s },
		`/gomaxprocs "2" before and "8" here`:    func(s string) string { return strings.ReplaceAll(s, "-2\t", "-8\t") },
		`commit "" before and "a1b2c3" here`:     func(s string) string { return "commit: a1b2c3\n" + s },
	} {
		dir := result(t)
		edit(t, filepath.Join(dir, rawtext.File), func(s string) string { return s + more(s[strings.Index(s, rawtext.RoundMark):]) })
		_, _, err := experiment.Load(dir)
		assert.ErrorContains(t, err, "was measured in two configurations, "+name)
	}
}

func TestProfileDir(t *testing.T) {
	c := experiment.PlannedCase{Component: "..", Name: "etc/x y"}
	assert.Equal(t, filepath.Join("profiles", "_etc_x_y", "client-go"), experiment.ProfileDir(c, "client-go"))
	c = experiment.PlannedCase{Component: "queue", Name: "op=cycle/n=10k"}
	assert.Equal(t, filepath.Join("profiles", "queue_op=cycle_n=10k", "a_b"), experiment.ProfileDir(c, "a/b"))
}

// Whatever is in a result directory, it is read or refused, without a crash.
func FuzzLoad(f *testing.F) {
	seed := f.TempDir()
	require.NoError(f, simulated.WriteResult(seed))
	run, err := os.ReadFile(filepath.Join(seed, rawtext.RunFile))
	require.NoError(f, err)
	raw, err := os.ReadFile(filepath.Join(seed, rawtext.File))
	require.NoError(f, err)
	f.Add(run, raw)
	f.Add(run, []byte("# round 9223372036854775808\nBenchmarkQueue/op=0/impl=ring-2\t1\t1e999 ns/op\n"))
	f.Add([]byte(`{"schema":1,"plan":{"confidence":0.95,"cases":[{}]}}`), []byte("Benchmark"))
	f.Fuzz(func(t *testing.T, run, raw []byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, rawtext.RunFile), run, 0o666))
		require.NoError(t, os.WriteFile(filepath.Join(dir, rawtext.File), raw, 0o666))
		loaded, samples, err := experiment.Load(dir)
		if err != nil {
			return
		}
		verdict.Analyse(loaded, samples)
		for _, m := range samples {
			for unit, v := range m.Values.All() {
				assert.GreaterOrEqual(t, v, 0.0, unit)
			}
		}
	})
}
