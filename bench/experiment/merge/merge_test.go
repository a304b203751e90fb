package merge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"github.com/informerbench/informerbench/bench/experiment/internal/simulated"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shards writes a plan of five cases, dealt to three machines; the third has
// more cores and its raw.txt is cut off.
func shards(t *testing.T) (parent string, dirs []string) {
	t.Helper()
	parent = t.TempDir()
	plan := simulated.Plan(5)
	for index := 1; index <= 3; index++ {
		dir := filepath.Join(parent, fmt.Sprintf("pod-%d", 4-index))
		run := experiment.Run{Schema: 1, Started: time.Unix(int64(1000-index), 0).UTC(), Finished: time.Unix(2000, 0).UTC(), Stopped: "precision", Plan: plan,
			Environment: experiment.Environment{Go: "go1.26", OS: "linux", Arch: "amd64", CPU: "one", Cores: 4},
			Versions:    map[string]string{"k8s.io/client-go": "v1"}}
		run.Plan.Shard, run.Plan.Cases = fmt.Sprintf("%d/3", index), nil
		for i := index - 1; i < 5; i += 3 {
			run.Plan.Cases = append(run.Plan.Cases, plan.Cases[i])
		}
		if index == 3 {
			run.Environment.CPU, run.Environment.Cores, run.Stopped = "other", 8, "budget"
		}
		raw := "goos: linux\ngoarch: amd64\ncpu: " + run.Environment.CPU + "\n"
		for round := range 8 {
			for _, c := range run.Plan.Cases {
				raw += fmt.Sprintf("%s%d of %s\n", rawtext.RoundMark, round, c.Key())
				for i, a := range c.Arms {
					raw += fmt.Sprintf("%s-4\t1\t%d ns/op\n", c.Benchmark(a.Name), 100+i+round)
				}
			}
		}
		if index == 3 {
			raw += "BenchmarkQueue/op=2/impl=ri"
		}
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "profiles", fmt.Sprintf("case-%d", index)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "profiles", fmt.Sprintf("case-%d", index), "cpu.pb.gz"), nil, 0o666))
		require.NoError(t, atomicfile.WriteJSON(filepath.Join(dir, rawtext.RunFile), run))
		require.NoError(t, os.WriteFile(filepath.Join(dir, rawtext.File), []byte(raw), 0o666))
		dirs = append(dirs, dir)
	}
	return parent, dirs
}

func edit(t *testing.T, path, old, new string) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(b), old)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(b), old, new)), 0o666))
}

func TestMergedIsTheWholePlan(t *testing.T) {
	parent, dirs := shards(t)
	out := filepath.Join(parent, "merged")
	require.NoError(t, Dirs([]string{dirs[2], dirs[0], dirs[1]}, out))
	run, samples, err := experiment.Load(out)
	require.NoError(t, err)
	assert.Equal(t, simulated.Plan(5).Cases, run.Plan.Cases, "in the plan's order")
	assert.Len(t, samples, 5*5*8)
	assert.Empty(t, run.Plan.Shard)
	assert.Equal(t, "budget", run.Stopped, "the worst of the reasons")
	require.Len(t, run.Machines, 3)
	assert.Equal(t, "2/3", run.Machines[1].Shard)
	assert.Equal(t, []string{"queue/op=1", "queue/op=4"}, run.Machines[1].Cases)
	assert.Equal(t, 8, run.Machines[2].Environment.Cores)
	assert.Equal(t, "one and other", run.Environment.CPU)
	assert.Equal(t, int64(997), run.Started.Unix())
	all := fmt.Sprint(run.Warnings)
	assert.Contains(t, all, "the shards ran on unlike machines (1/3 2/3 on linux/amd64, one, 4 cores")
	assert.Contains(t, all, "shard 3/3: raw.txt:")
	for _, c := range verdict.Analyse(run, samples).Components[0].Cases {
		assert.Equal(t, 8, c.Rows[0].Samples)
	}
	for i := 1; i <= 3; i++ {
		assert.FileExists(t, filepath.Join(out, "profiles", fmt.Sprintf("case-%d", i), "cpu.pb.gz"))
	}

	// The parent will do, with the merged result and an attempt that died in it.
	died := filepath.Join(parent, "pod-died")
	require.NoError(t, os.CopyFS(died, os.DirFS(dirs[0])))
	edit(t, filepath.Join(died, rawtext.RunFile), `"finished": "1970-01-01T00:33:20Z",`, "")
	stopped := filepath.Join(parent, "pod-stopped")
	require.NoError(t, os.CopyFS(stopped, os.DirFS(dirs[0])))
	edit(t, filepath.Join(stopped, rawtext.RunFile), `"stopped": "precision"`, `"stopped": "interrupted"`)
	require.NoError(t, os.MkdirAll(filepath.Join(parent, "pod-none"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(parent, "pod-none", rawtext.RunFile), nil, 0o666))
	require.NoError(t, Dirs([]string{parent}, filepath.Join(parent, "again")))
	again, more, err := experiment.Load(filepath.Join(parent, "again"))
	require.NoError(t, err)
	assert.Equal(t, samples, more)
	assert.Contains(t, fmt.Sprint(again.Warnings), "pod-died did not come to its end and was left out")
	assert.Contains(t, fmt.Sprint(again.Warnings), "pod-stopped did not come to its end and was left out")
	assert.Contains(t, fmt.Sprint(again.Warnings), "pod-none has no raw.txt and was left out")
}

func TestMachineOfOneCore(t *testing.T) {
	_, dirs := shards(t)
	edit(t, filepath.Join(dirs[2], rawtext.RunFile), `"cores": 8`, `"cores": 1`)
	out := filepath.Join(t.TempDir(), "merged")
	require.NoError(t, Dirs(dirs, out))
	run, _, err := experiment.Load(out)
	require.NoError(t, err)
	assert.Contains(t, fmt.Sprint(run.Warnings), "3/3 on linux/amd64, other, 1 core, GOMAXPROCS")
}

func TestMergeOfSomeShards(t *testing.T) {
	parent, dirs := shards(t)
	out := filepath.Join(parent, "merged")
	require.NoError(t, Dirs(dirs[:1], out))
	run, _, err := experiment.Load(out)
	require.NoError(t, err)
	assert.Contains(t, fmt.Sprint(run.Warnings), "no result of shard 2/3, 3/3: their cases are missing")
}

func TestMergeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dirs []string) []string
		want  string
	}{
		"none":     {func(t *testing.T, _ []string) []string { return []string{t.TempDir()} }, "holds no run.json, nor does a directory in it"},
		"foreign":  {func(t *testing.T, _ []string) []string { return []string{"/no/such/dir"} }, "/no/such/dir holds no run.json"},
		"no shard": {func(t *testing.T, d []string) []string { edit(t, d[0]+"/run.json", `"1/3"`, `""`); return d }, `is no shard: found plan.shard ""`},
		"drive": {func(t *testing.T, d []string) []string {
			edit(t, d[0]+"/run.json", `"1/3"`, `""`)
			require.NoError(t, os.Mkdir(filepath.Join(d[0], "drive"), 0o777))
			return d
		}, "is a drive, expected the result of benchrun run --shard"},
		"bad shard": {func(t *testing.T, d []string) []string { edit(t, d[0]+"/run.json", `"1/3"`, `"9/3"`); return d }, `is no shard: found plan.shard "9/3"`},
		"twice":     {func(_ *testing.T, d []string) []string { return append(d, d[0]) }, "shard 1/3 is there twice"},
		"count":     {func(t *testing.T, d []string) []string { edit(t, d[1]+"/run.json", `"2/3"`, `"2/4"`); return d }, "number of shards differs: 3 in"},
		"seed":      {func(t *testing.T, d []string) []string { edit(t, d[1]+"/run.json", `"seed": 0`, `"seed": 5`); return d }, "seed differs: 0 in"},
		"versions":  {func(t *testing.T, d []string) []string { edit(t, d[1]+"/run.json", `"v1"`, `"v2"`); return d }, "versions differs: map[k8s.io/client-go:v1] in"},
		"same case": {func(t *testing.T, d []string) []string { edit(t, d[1]+"/run.json", `"op=1"`, `"op=0"`); return d }, "queue/op=0 is in"},
		"damaged": {func(t *testing.T, d []string) []string {
			edit(t, d[1]+"/run.json", `"schema": 1`, `"schema": x`)
			return d
		}, "run.json:2: "},
	} {
		t.Run(name, func(t *testing.T) {
			parent, dirs := shards(t)
			out := filepath.Join(parent, "merged")
			assert.ErrorContains(t, Dirs(c.spoil(t, dirs), out), c.want)
			assert.NoDirExists(t, out)
		})
	}
	parent, dirs := shards(t)
	assert.ErrorContains(t, Dirs(dirs, parent), "is not empty")
	left, err := filepath.Glob(filepath.Join(parent, ".merge-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}
