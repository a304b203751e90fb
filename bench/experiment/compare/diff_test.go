package compare

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"github.com/informerbench/informerbench/bench/experiment/internal/simulated"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// diff compares two results as compare does by default.
func diff(old, changed string) ([]Change, []experiment.Warning, error) {
	result, err := Diff(Options{}, old, changed)
	return result.Changes, result.Warnings, err
}

// rawOf writes eight samples of each benchmark, from its value upwards.
func rawOf(t *testing.T, header string, values map[string]float64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "raw.txt")
	s := "goos: linux\n" + header
	for name, ns := range values {
		for i := range 8 {
			s += fmt.Sprintf("%s-2\t1\t%g ns/op\n", name, ns+float64(i)/10)
		}
	}
	require.NoError(t, os.WriteFile(path, []byte(s), 0o666))
	return path
}

func TestDiffNoiseFloor(t *testing.T) {
	const a, base = "BenchmarkQueue/op=x/impl=ring", "BenchmarkQueue/op=x/impl=client-go"
	old := rawOf(t, "", map[string]float64{a: 100, base: 100, base + experiment.ControlSuffix: 130})
	slower := rawOf(t, "", map[string]float64{a: 120, base: 100, base + experiment.ControlSuffix: 100})
	changes, _, err := diff(old, slower)
	require.NoError(t, err)
	require.Len(t, changes, 2, "the control is no benchmark of its own")
	for _, c := range changes {
		assert.InDelta(t, 0.3, c.Noise, 0.01)
		assert.False(t, c.Shown(), "%s: within what the baseline differs from itself by", c.Benchmark)
	}
	much := rawOf(t, "", map[string]float64{a: 150, base: 100, base + experiment.ControlSuffix: 100})
	changes, _, err = diff(old, much)
	require.NoError(t, err)
	for _, c := range changes {
		assert.Equal(t, c.Benchmark == a+"-2", c.Shown(), c.Benchmark)
	}
}

// What upstream's code changed by between two runs is the machine's.
func TestDiffOfSlowerMachine(t *testing.T) {
	old, slow := result(t), result(t)
	for _, dir := range []string{old, slow} {
		run, err := experiment.LoadRun(dir)
		require.NoError(t, err)
		run.Versions = map[string]string{"k8s.io/client-go": "v1", "sigs.k8s.io/controller-runtime": "v1"}
		for i := range run.Plan.Cases[0].Arms {
			run.Plan.Cases[0].Arms[i].Peer = run.Plan.Cases[0].Arms[i].Name == run.Plan.Cases[0].Baseline
		}
		require.NoError(t, atomicfile.WriteJSON(filepath.Join(dir, rawtext.RunFile), run))
	}
	edit(t, filepath.Join(slow, rawtext.File), func(s string) string {
		return strings.NewReplacer("\t100 ns", "\t140 ns", "\t101 ns", "\t141 ns", "\t102 ns", "\t142 ns").Replace(s)
	})
	changes, warnings, err := diff(old, slow)
	require.NoError(t, err)
	for _, c := range changes {
		assert.Greater(t, c.Ratio, 1.39)
		assert.InDelta(t, 1, c.Relative, 1e-9)
		assert.Zero(t, c.Grown())
		c.PAdjusted = 0
		assert.False(t, c.Shown())
	}
	assert.Contains(t, fmt.Sprint(warnings), "the run did not come to its end")

	edit(t, filepath.Join(slow, rawtext.RunFile), func(s string) string {
		return strings.NewReplacer(`"client-go": "v1"`, "", `"k8s.io/client-go": "v1"`, `"k8s.io/client-go": "v2"`, `"seed": 0`, `"seed": 7`,
			`"cores": 0`, `"cores": 4`, `"unit": "sec/op"`, `"unit": "B/op"`).Replace(s)
	})
	changes, warnings, err = diff(old, slow)
	require.NoError(t, err)
	assert.Zero(t, changes[0].Relative, "another client-go may be slower itself")
	assert.InDelta(t, 40e-9, changes[0].Grown(), 1e-12)
	all := fmt.Sprint(warnings)
	for _, want := range []string{`k8s.io/client-go differs: "v1" and "v2"`, `seed differs: "0" and "7"`, `number of cores differs: "0" and "4"`, `differs: "sec/op" and "B/op"`} {
		assert.Contains(t, all, want)
	}
}

// A round that lacks an arm's sample has no ratio of it; the others keep theirs,
// also where both arms lack one, each of another round.
func TestDiffPairsByRound(t *testing.T) {
	write := func(ring float64, lost map[string][]int) string {
		dir := result(t)
		run, err := experiment.LoadRun(dir)
		require.NoError(t, err)
		run.Versions = map[string]string{"k8s.io/client-go": "v1", "sigs.k8s.io/controller-runtime": "v1"}
		c := run.Plan.Cases[0]
		require.NoError(t, atomicfile.WriteJSON(filepath.Join(dir, rawtext.RunFile), run))
		raw := "goos: linux\n"
		for round := range 8 {
			raw += fmt.Sprintf("%s%d of %s\n", rawtext.RoundMark, round, c.Key())
			machine := float64(100 * (1 + round%4)) // busy in some rounds, as all arms see
			for _, arm := range []struct {
				name string
				ns   float64
			}{{"client-go", machine}, {"ring", ring * machine}} {
				if !slices.Contains(lost[arm.name], round) {
					raw += fmt.Sprintf("%s-2\t1\t%g ns/op\n", c.Benchmark(arm.name), arm.ns)
				}
			}
			raw += fmt.Sprintf("%s-2\t1\t%g ns/op\n", c.Benchmark("client-go"+experiment.ControlSuffix), machine)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, rawtext.File), []byte(raw), 0o666))
		return dir
	}
	whole := write(0.5, nil)
	for name, lost := range map[string]map[string][]int{
		"none": {}, "of one arm": {"ring": {5}}, "of the baseline": {"client-go": {2}}, "of both": {"client-go": {0}, "ring": {7}},
		"of most rounds": {"client-go": {0, 1, 2, 3}, "ring": {4, 5, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(0.75, lost)
			changes, _, err := diff(whole, dir)
			require.NoError(t, err)
			i := slices.IndexFunc(changes, func(c Change) bool { return strings.Contains(c.Benchmark, "impl=ring") })
			assert.InDelta(t, 1.5, changes[i].Relative, 1e-9)
			warnings := Judge(changes[i:i+1], func(Change) bool { return true })
			if name == "of most rounds" {
				assert.Contains(t, fmt.Sprint(warnings), "1 of 1 comparisons have fewer than the 4 samples a side", "one ratio shows nothing")
				return
			}
			assert.Empty(t, warnings)
			assert.Less(t, changes[i].P, 0.001, "all ratios of a side are equal")
			points, _, err := Measure(Options{}, dir)
			require.NoError(t, err)
			for _, p := range points {
				if strings.Contains(p.Benchmark, "impl=ring") {
					assert.InDelta(t, 0.75, p.Relative, 1e-9)
				}
			}
		})
	}
}

func TestDiffDoubts(t *testing.T) {
	good := map[string]float64{"BenchmarkA": 100, "BenchmarkB": 100}
	old := rawOf(t, "cpu: one\n", good)
	for name, c := range map[string]struct {
		header string
		values map[string]float64
		damage func(string) string
		warns  string
		fails  string
	}{
		"machine":    {header: "cpu: other\n", values: good, fails: `cpu is "one" and "other"; times of unlike configurations can't be compared, --ignore cpu does so`},
		"cut off":    {header: "cpu: one\n", values: good, damage: func(s string) string { return s[:len(s)-5] }, warns: "the last line is cut off"},
		"malformed":  {header: "cpu: one\n", values: good, damage: func(s string) string { return s + "BenchmarkA-2 1 x ns/op\n" }, warns: `found "BenchmarkA-2 1 x ns/op": parsing measurement`},
		"NaN":        {header: "cpu: one\n", values: good, damage: func(s string) string { return s + "BenchmarkA-2 1 NaN ns/op\n" }, fails: "raw.txt:19: the sample printed NaN sec/op"},
		"negative":   {header: "cpu: one\n", values: good, damage: func(s string) string { return s + "BenchmarkA-2 1 -5 B/op\n" }, fails: "raw.txt:19: the sample printed -5 B/op"},
		"unit":       {header: "cpu: one\n", values: good, damage: func(s string) string { return s + "BenchmarkA-2 1 5 B/op\n" }, warns: "{BenchmarkA-2 B/op is only in"},
		"gone":       {header: "cpu: one\n", values: map[string]float64{"BenchmarkA": 100}, warns: "{BenchmarkB-2 only in"},
		"added":      {header: "cpu: one\n", values: map[string]float64{"BenchmarkA": 1, "BenchmarkB": 1, "BenchmarkC": 1}, warns: "{BenchmarkC-2 only in"},
		"foreign":    {header: "cpu: one\n", values: map[string]float64{"BenchmarkX": 1}, fails: "have no benchmark in common: found Benchmark"},
		"GOMAXPROCS": {header: "cpu: one\n", values: good, damage: func(s string) string { return strings.ReplaceAll(s, "-2\t", "-8\t") }, fails: "differ in GOMAXPROCS"},
		"no newline": {header: "cpu: one\n", values: good, damage: func(s string) string { return strings.ReplaceAll(s, "\n", " ") }, fails: "holds no benchmark result"},
	} {
		t.Run(name, func(t *testing.T) {
			path := rawOf(t, c.header, c.values)
			if c.damage != nil {
				edit(t, path, c.damage)
			}
			_, warnings, err := diff(old, path)
			if c.fails != "" {
				assert.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			assert.Contains(t, fmt.Sprint(warnings), c.warns)
		})
	}
	_, _, err := diff(old, os.DevNull)
	assert.ErrorContains(t, err, "is not a regular file")
}

func TestDiffKeepsPackagesApart(t *testing.T) {
	write := func(second float64) string {
		path := rawOf(t, "pkg: a\n", map[string]float64{"BenchmarkX": 100})
		edit(t, path, func(s string) string {
			return s + "pkg: b\n" + strings.ReplaceAll(strings.TrimPrefix(s, "goos: linux\npkg: a\n"), "\t10", fmt.Sprintf("\t%g", second))
		})
		return path
	}
	changes, _, err := diff(write(10), write(90))
	require.NoError(t, err)
	require.Len(t, changes, 2)
	assert.Equal(t, []string{"BenchmarkX-2 (pkg=a)", "BenchmarkX-2 (pkg=b)"}, []string{changes[0].Name(), changes[1].Name()})
	assert.False(t, changes[0].Shown())
	assert.True(t, changes[1].Shown())
}

func TestDiffOfThousandsOfCases(t *testing.T) {
	values := map[string]float64{}
	for i := range 3000 {
		values[fmt.Sprintf("BenchmarkQueue/op=%d/impl=ring", i)] = 100
	}
	path := rawOf(t, "", values)
	changes, warnings, err := diff(path, path)
	require.NoError(t, err)
	assert.Len(t, changes, 3000)
	assert.Empty(t, warnings)
	assert.Empty(t, Judge(changes, func(c Change) bool { return c.Benchmark == "BenchmarkQueue/op=7/impl=ring-2" }))
	warnings = Judge(changes, func(Change) bool { return true })
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0].Text, "3000 of 3000 comparisons have fewer than the 10 samples a side")
}

// Eight samples a side: what is not looked at costs no power.
func TestJudgeCorrectsOverWhatIsLookedAt(t *testing.T) {
	values, slower := map[string]float64{"BenchmarkA": 100}, map[string]float64{"BenchmarkA": 150}
	for i := range 400 {
		values[fmt.Sprintf("BenchmarkB/%d", i)], slower[fmt.Sprintf("BenchmarkB/%d", i)] = 1, 1
	}
	changes, _, err := diff(rawOf(t, "", values), rawOf(t, "", slower))
	require.NoError(t, err)
	isA := func(c Change) bool { return c.Benchmark == "BenchmarkA-2" }
	i := slices.IndexFunc(changes, isA)
	assert.False(t, changes[i].Shown(), "among 401")
	assert.Empty(t, Judge(changes, isA))
	assert.True(t, changes[i].Shown())
}

func TestDiffOfZeroes(t *testing.T) {
	path := rawOf(t, "", map[string]float64{"BenchmarkA": 0})
	changes, warnings, err := diff(path, rawOf(t, "", map[string]float64{"BenchmarkA": 5}))
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprint(warnings), "only in", "0 ns/op is in sec/op too")
	require.Len(t, changes, 1)
	assert.Len(t, changes[0].Old.Values, 8)
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
	changes, _, err := diff(write(100, 1), write(120, 1))
	require.NoError(t, err)
	require.Len(t, changes, 2)
	assert.True(t, changes[0].Shown())
	assert.InDelta(t, 123.5/103.5, changes[0].Ratio, 1e-9)
	assert.False(t, changes[1].Shown())

	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o666))
	_, _, err = diff(write(1, 1), empty)
	assert.ErrorContains(t, err, "holds no benchmark result")
	_, _, err = diff(t.TempDir(), empty)
	assert.ErrorContains(t, err, "has no raw.txt")
}

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

// What a Unit line asks for is never lost to another one.
func TestUnitLinesContradict(t *testing.T) {
	file := func(name, unit string) string { return textFile(t, name, unit+"BenchmarkA 1 5 len-x\n") }
	old := file("old.txt", "Unit len-x assume=exact better=higher\n")
	for unit, want := range map[string]string{
		"": "", "Unit len-x assume=exact\n": "", "Unit len-x better=higher note=x\n": "",
		"Unit len-x assume=nothing\n": "new.txt:1: Unit len-x: found assume=nothing, expected assume=exact as in ",
		"Unit len-x better=lower\n":   "new.txt:1: Unit len-x: found better=lower, expected better=higher as in ",
		"Unit len-x assume=foo\n":     "new.txt:1: Unit len-x: found assume=foo, expected exact or nothing",
		"Unit len-y better=up\n":      "new.txt:1: Unit len-y: found better=up, expected higher or lower",
	} {
		_, _, err := diff(old, file("new.txt", unit))
		if want == "" {
			assert.NoError(t, err, unit)
			continue
		}
		assert.ErrorContains(t, err, want)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add([]byte("goos: linux\nBenchmarkA-2\t1\t5 ns/op\t0 B/op\n"), []byte("BenchmarkA-2\t1\t-5 ns/op\nBenchmarkA/impl=x-again"))
	f.Add([]byte("BenchmarkA/impl=client-go 1 0 ns/op\nBenchmarkA/impl=client-go-again 1 1 ns/op\n"), []byte("Unit ns/op better=higher\nBenchmarkA/impl=client-go 1 NaN ns/op\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		dir := t.TempDir()
		old, changed := filepath.Join(dir, "old"), filepath.Join(dir, "new")
		require.NoError(t, os.WriteFile(old, a, 0o666))
		require.NoError(t, os.WriteFile(changed, b, 0o666))
		changes, _, err := diff(old, changed)
		if err != nil {
			return
		}
		Judge(changes, func(Change) bool { return true })
		for _, c := range changes {
			assert.False(t, c.Grown() != c.Grown(), "%+v is no number", c)
		}
		_, _, err = Measure(Options{}, old)
		assert.NoError(t, err)
	})
}

// A machine that dies or a full disk leaves any beginning of the file: it is
// read up to its last whole line, or refused by name.
func TestDiffOfEveryBeginning(t *testing.T) {
	dir := t.TempDir()
	whole, cut := rawOf(t, "cpu: one\n", map[string]float64{"BenchmarkA": 100, "BenchmarkB": 5}), filepath.Join(dir, "cut.txt")
	b, err := os.ReadFile(whole)
	require.NoError(t, err)
	read := 0
	for n := range b {
		require.NoError(t, os.WriteFile(cut, b[:n], 0o666))
		changes, warnings, err := diff(whole, cut)
		if err != nil {
			assert.ErrorContains(t, err, cut, "%d bytes", n)
			continue
		}
		read++
		for _, c := range changes {
			assert.NotEmpty(t, c.New.Values)
			for _, v := range c.New.Values {
				assert.Contains(t, c.Old.Values, v, "%d bytes: no sample is made up from a line that is cut", n)
			}
		}
		if b[n-1] != '\n' {
			assert.Contains(t, fmt.Sprint(warnings), "the last line is cut off", "%d bytes", n)
		}
	}
	assert.Greater(t, read, len(b)/2)
}

// Samples that were taken in turns count round by round: a machine that grows slower
// by half meanwhile hides no change of a twentieth.
func TestPairedRounds(t *testing.T) {
	rounds := 10
	write := func(name string, factor float64, marked, again bool) string {
		text := ""
		for round := range rounds {
			if marked {
				text += fmt.Sprintf("# round %d\n", round)
			}
			drift := 100 * (1 + 0.05*float64(round))
			text += fmt.Sprintf("BenchmarkA 1 %.3f ns/op\n", drift*factor*(1+0.002*float64(round%3)))
			if factor == 1 || again {
				text += fmt.Sprintf("BenchmarkA-again 1 %.3f ns/op\n", drift*factor*(1+0.002*float64((round+1)%3)))
			}
		}
		return textFile(t, name, text)
	}
	old := write("old.txt", 1, true, true)
	for _, paired := range []bool{false, true} {
		result, err := Diff(Options{Paired: paired}, old, write("new.txt", 1.05, true, false))
		require.NoError(t, err)
		require.Len(t, result.Changes, 1)
		assert.Equal(t, paired, result.Changes[0].Shown(), "%+v", result.Changes[0])
		if paired {
			assert.InDelta(t, 1.05, result.Changes[0].Effect(), 0.001)
			assert.Less(t, result.Changes[0].Noise, 0.01)
		}
	}
	result, err := Diff(Options{Paired: true}, old, write("same.txt", 1.0001, true, false))
	require.NoError(t, err)
	assert.False(t, result.Changes[0].Shown(), "%+v", result.Changes[0])
	once, err := Diff(Options{Paired: true}, old, write("once.txt", 1.05, true, false))
	require.NoError(t, err)
	twice, err := Diff(Options{Paired: true}, old, write("twice.txt", 1.05, true, true))
	require.NoError(t, err)
	assert.InDelta(t, 1.05, twice.Changes[0].Effect(), 0.0005)
	assert.Less(t, twice.Changes[0].Noise, once.Changes[0].Noise, "four samples a round are a mean of two against one")
	assert.Less(t, twice.Changes[0].Low, 1.05)
	assert.Greater(t, twice.Changes[0].High, 1.05)
	rounds = 5
	few, err := Diff(Options{Paired: true}, write("few.txt", 1, true, true), write("few-new.txt", 2, true, true))
	require.NoError(t, err)
	assert.False(t, few.Changes[0].Shown(), "five rounds have no interval")
	_, err = json.Marshal(few.Changes)
	assert.NoError(t, err)
	_, err = Diff(Options{Paired: true}, old, write("plain.txt", 1.05, false, false))
	assert.ErrorContains(t, err, `plain.txt has no line "# round N"`)
}
