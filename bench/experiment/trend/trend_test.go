package trend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/compare"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func everything(string, string) bool { return true }

// entries has n results of benchmarks whose level is level(benchmark, i), with
// 3% noise and an outlier now and then.
func entries(r *rand.Rand, n, benchmarks int, level func(benchmark, i int) float64) []Entry {
	var all []Entry
	for i := range n {
		e := Entry{Time: time.Unix(int64(1000+i), 0).UTC(), Label: fmt.Sprintf("commit-%d", i)}
		for b := range benchmarks {
			v := level(b, i) * math.Exp(0.03*r.NormFloat64())
			if r.IntN(25) == 0 {
				v *= 1.5
			}
			e.Points = append(e.Points, compare.Point{Benchmark: fmt.Sprintf("BenchmarkQueue/op=%d", b), Unit: "sec/op", Center: v, Relative: v, Noise: 0.02, Samples: 10})
		}
		all = append(all, e)
	}
	return all
}

// Where nothing changes, at most one history in twenty is marked.
func TestNoChangeNoMark(t *testing.T) {
	const histories, seed = 60, 3
	r := rand.New(rand.NewPCG(seed, 0))
	marked := 0
	for i := range histories {
		for _, s := range Find(entries(r, 30, 20, func(int, int) float64 { return 1 }), everything, uint64(i)).Series {
			if len(s.Changes) > 0 {
				marked++
				break
			}
		}
	}
	assert.LessOrEqual(t, marked, 6, "of %d histories of 20 series, seed %d: 5%% are 3, more than 6 come once in 30", histories, seed)
}

func TestPlantedStepsAreFound(t *testing.T) {
	const seed = 4
	r := rand.New(rand.NewPCG(seed, 0))
	found, placed := 0, 0
	const histories = 20
	for i := range histories {
		trend := Find(entries(r, 40, 20, func(b, i int) float64 {
			switch {
			case b == 7 && i >= 30:
				return 0.8
			case b == 7 && i >= 15:
				return 1.1
			}
			return 1
		}), everything, uint64(i))
		first := trend.Series[0]
		if first.Benchmark == "BenchmarkQueue/op=7" && len(first.Changes) == 2 {
			found++
			if first.Changes[0].At >= 14 && first.Changes[0].At <= 16 && first.Changes[1].At == 30 {
				placed++
			}
			assert.InDelta(t, 0.1, first.Changes[0].Grown(), 0.05)
			assert.InDelta(t, -0.27, first.Changes[1].Grown(), 0.05)
		}
	}
	assert.GreaterOrEqual(t, found, 17, "of %d, seed %d", histories, seed)
	assert.GreaterOrEqual(t, placed, 14, "of %d, seed %d", histories, seed)
}

func TestStepWithinTheNoiseIsNotMarked(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	all := entries(r, 40, 1, func(_, i int) float64 { return 1 + 0.2*float64(i/20) })
	for _, e := range all {
		e.Points[0].Noise = 0.3
	}
	assert.Empty(t, Find(all, everything, 1).Series[0].Changes)
	for _, e := range all {
		e.Points[0].Noise = 0.1
	}
	trend := Find(all, everything, 1)
	assert.Len(t, trend.Series[0].Changes, 1)
	assert.True(t, trend.Series[0].Relative)
	assert.Empty(t, trend.Warnings)
	assert.Equal(t, trend, Find(all, everything, 1), "the same seed, the same marks")

	all[3].Points[0].Relative = 0
	trend = Find(all, everything, 1)
	assert.False(t, trend.Series[0].Relative)
	assert.Contains(t, trend.Warnings[0].Text, "1 of 1 series are absolute figures")
	assert.Empty(t, Find(all, func(string, string) bool { return false }, 1).Series)
	assert.Empty(t, Find(nil, everything, 1).Results)
}

// Zeroes have ranks as other values have; allocations that begin are a change.
func TestFromZero(t *testing.T) {
	var all []Entry
	for i := range 20 {
		all = append(all, Entry{Points: []compare.Point{{Benchmark: "B", Unit: "allocs/op", Center: float64(i / 10)}}})
	}
	s := Find(all, everything, 1).Series[0]
	require.Len(t, s.Changes, 1)
	assert.Equal(t, Step{At: 10, Before: 0, After: 1, P: s.Changes[0].P}, s.Changes[0])
	assert.Zero(t, s.Changes[0].Grown())
}

// Results of unlike configurations are no series; upstream's code makes unlike
// processors alike, and histories that name no configuration go on.
func TestConfigurationsAreApart(t *testing.T) {
	entry := func(relative float64, configs ...map[string]string) Entry {
		e := Entry{}
		for i, c := range configs {
			e.Points = append(e.Points, compare.Point{Benchmark: "B", Unit: "sec/op", Center: float64(1 + i), Relative: relative, Config: c})
		}
		return e
	}
	on := func(goarch, cpu string) map[string]string {
		return map[string]string{"goos": "linux", "goarch": goarch, "cpu": cpu}
	}
	names := func(entries ...Entry) map[string]int {
		names := map[string]int{}
		for _, s := range Find(entries, everything, 1).Series {
			names[s.Name()] = len(s.Values)
		}
		return names
	}
	assert.Equal(t, map[string]int{"B (goarch=amd64)": 2, "B (goarch=arm64)": 2}, names(entry(0, on("amd64", "x"), on("arm64", "x")), entry(0, on("amd64", "x"), on("arm64", "x"))))
	assert.Equal(t, map[string]int{"B (cpu=x)": 1, "B (cpu=y)": 2}, names(entry(0, on("amd64", "x")), entry(0, on("amd64", "y")), entry(0, on("amd64", "y"))))
	assert.Equal(t, map[string]int{"B": 2}, names(entry(1, on("amd64", "x")), entry(1, on("amd64", "y"))))
	assert.Equal(t, map[string]int{"B": 2}, names(entry(0, nil), entry(0, on("amd64", "y"))))
}

func TestThousandsOfSeries(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 0))
	trend := Find(entries(r, 12, 3000, func(b, i int) float64 { return 1 + float64(b/2999*(i/6)) }), everything, 1)
	assert.Len(t, trend.Series, 3000)
}

// A result may hold 300,000 points, of which most are of the same few configurations.
func TestMemoryOfAPoint(t *testing.T) {
	const points = 2 * 10_000
	all := entries(rand.New(rand.NewPCG(7, 0)), 2, points/2, func(int, int) float64 { return 1 })
	for _, e := range all {
		config := map[string]string{"goos": "linux", "goarch": "amd64", "cpu": e.Label, "pkg": "example.com/q"}
		for i := range e.Points {
			e.Points[i].Config = config
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Find(all, everything, 1)
	runtime.ReadMemStats(&after)
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/points, uint64(1000), "bytes allocated for each point")
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	all := entries(rand.New(rand.NewPCG(1, 0)), 3, 2, func(int, int) float64 { return 1 })
	for _, i := range []int{1, 0, 2} {
		require.NoError(t, Append(path, all[i]))
	}
	got, warnings, err := Read(compare.Options{}, path)
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.Equal(t, all, got, "by time")

	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, whole[:len(whole)-20], 0o666))
	require.NoError(t, Append(path, all[2]))
	got, warnings, err = Read(compare.Options{}, path)
	require.NoError(t, err)
	assert.Equal(t, all, got)
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0].Text, "history.jsonl:3: the line is cut off and was left out")

	got, warnings, err = Read(compare.Options{}, path, path)
	require.NoError(t, err)
	assert.Equal(t, all, got, "each once")
	assert.Contains(t, fmt.Sprint(warnings), "3 results given more than once and counted once, the first is commit-0 of 1970-01-01T00:16:40Z")

	for text, want := range map[string]string{
		`{"time":"2026-01-01T00:00:00Z","points":[{"center":-1,"unit":"x","benchmark":"B"}]}`: "history.jsonl:1: points[0]: found -1 in x of B",
		`{"a":1}`:             "history.jsonl:1: found",
		`{"time":5}`:          "history.jsonl:1: ",
		`{"time":`:            "history.jsonl:1: holds no whole entry",
		"{}\n" + `{"time": x`: "history.jsonl:1: found",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		_, _, err = Read(compare.Options{}, path)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestReadResults(t *testing.T) {
	parent := t.TempDir()
	for i, name := range []string{"b", "a"} {
		dir := filepath.Join(parent, name)
		require.NoError(t, os.MkdirAll(dir, 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "raw.txt"), []byte(strings.Repeat("BenchmarkA-2\t1\t5 ns/op\n", 5)), 0o666))
		at := time.Unix(int64(100*i), 0)
		require.NoError(t, os.Chtimes(dir, at, at))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(parent, "calibration"), 0o777))
	got, _, err := Read(compare.Options{}, parent)
	require.NoError(t, err)
	require.Len(t, got, 2)
	assert.Equal(t, []string{"b", "a"}, []string{got[0].Label, got[1].Label})
	assert.InDelta(t, 5e-9, got[0].Points[0].Center, 1e-15)
	_, _, err = Read(compare.Options{}, filepath.Join(parent, "calibration"))
	assert.ErrorContains(t, err, "holds no raw.txt, nor does a directory in it")
	_, _, err = Read(compare.Options{}, filepath.Join(parent, "none"))
	assert.ErrorContains(t, err, "no such file")
}

// The clearest series of fewer results than fewest is not rare enough among its
// permutations, that of fewest is.
func TestFewest(t *testing.T) {
	for n := 2 * level; n <= fewest; n++ {
		least := 1.0
		for cut := level; cut <= n-level; cut++ { // no order within a level is clearer
			ranks := make([]float64, n)
			for i := range ranks {
				ranks[i] = float64((i+n-cut)%n + 1)
			}
			_, best := clearest(ranks)
			reached, all := 0, 0
			var permute func(k int)
			permute = func(k int) {
				if k == n {
					all++
					if _, s := clearest(ranks); s >= best-1e-12 {
						reached++
					}
					return
				}
				for i := k; i < n; i++ {
					ranks[k], ranks[i] = ranks[i], ranks[k]
					permute(k + 1)
					ranks[k], ranks[i] = ranks[i], ranks[k]
				}
			}
			permute(0)
			least = min(least, float64(reached)/float64(all))
		}
		assert.Equal(t, n == fewest, least < statistic.Alpha, "%d results: p is %.4f or more", n, least)
	}
	step := make([]Entry, fewest)
	for i := range step {
		step[i] = Entry{Points: []compare.Point{{Benchmark: "B", Unit: "sec/op", Center: float64(100 + i + 100*(2*i/fewest))}}}
	}
	require.Len(t, Find(step, everything, 1).Series[0].Changes, 1)
	assert.Empty(t, Find(step[1:], everything, 1).Series[0].Changes)
}

// A file's time is that of the last copy: the arguments' order counts where one is
// named, and time where all have one.
func TestOrder(t *testing.T) {
	dir := t.TempDir()
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
	file := func(name string, seconds int64) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte("BenchmarkA-2\t1\t5 ns/op\n"), 0o666))
		require.NoError(t, os.Chtimes(path, at(seconds), at(seconds)))
		return path
	}
	history := func(name string, seconds ...int64) string {
		path := filepath.Join(dir, name)
		for _, s := range seconds {
			require.NoError(t, Append(path, Entry{Time: at(s), Label: fmt.Sprint(s), Points: []compare.Point{}}))
		}
		return path
	}
	late, early := file("late", 300), file("early", 100)
	first, second := history("first", 150, 50), history("second", 10)
	for _, c := range []struct {
		paths, want []string
		warned      bool
	}{
		{[]string{late, early}, []string{"late", "early"}, true},
		{[]string{early, late}, []string{"early", "late"}, false},
		{[]string{first, second}, []string{"10", "50", "150"}, false},
		{[]string{first, early, second}, []string{"50", "150", "early", "10"}, true},
	} {
		got, warnings, err := Read(compare.Options{}, c.paths...)
		require.NoError(t, err)
		var labels []string
		for _, e := range got {
			labels = append(labels, e.Label)
		}
		assert.Equal(t, c.want, labels)
		assert.Equal(t, c.warned, strings.Contains(fmt.Sprint(warnings), "in the order of the arguments"), "%v", warnings)
	}
}

// The filter counts for histories as for files.
func TestHistoryFilter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	point := func(benchmark, unit, goarch string) compare.Point {
		return compare.Point{Benchmark: benchmark, Unit: unit, Center: 1, Config: map[string]string{"goarch": goarch}}
	}
	a, b, c := point("BenchmarkA/n=1-8", "sec/op", "amd64"), point("BenchmarkA/n=1-8", "sec/op", "arm64"), point("BenchmarkB-8", "allocs/op", "arm64")
	require.NoError(t, Append(path, Entry{Time: time.Unix(1, 0).UTC(), Label: "x", Points: []compare.Point{a, b, c}}))
	for filter, want := range map[string][]compare.Point{
		"": {a, b, c}, "goarch:arm64": {b, c}, ".name:A": {a, b}, "/n:1 goarch:amd64": {a}, ".unit:allocs/op": {c}, "-.name:A": {c}, "/gomaxprocs:8": {a, b, c},
	} {
		got, _, err := Read(compare.Options{Filter: filter}, path)
		require.NoError(t, err, filter)
		assert.Equal(t, want, got[0].Points, filter)
	}
	_, _, err := Read(compare.Options{Filter: "goarch:riscv64"}, path)
	assert.EqualError(t, err, path+`: no result matches --filter "goarch:riscv64"`)
	_, _, err = Read(compare.Options{Filter: "goarch:("}, path)
	assert.ErrorContains(t, err, "--filter: ")
}

func FuzzReadHistory(f *testing.F) {
	f.Add([]byte(`{"time":"2026-01-01T00:00:00Z","label":"x","points":[{"benchmark":"B","unit":"sec/op","center":1}]}` + "\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "history")
		if err := os.WriteFile(path, append([]byte("{"), b...), 0o666); err != nil {
			t.Fatal(err)
		}
		all, _, err := Read(compare.Options{}, path)
		if err == nil {
			Find(all, everything, 1)
		}
	})
}
