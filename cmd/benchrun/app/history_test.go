package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A gate that runs on every commit keeps a history, and trend marks the commit
// from which on a benchmark is slower.
func TestHistoryAndTrend(t *testing.T) {
	history, page := filepath.Join(t.TempDir(), "history.jsonl"), filepath.Join(t.TempDir(), "trend.html")
	base := rawFile(t, 100, 100, 100, 100)
	for i := range 16 {
		x := 100 + float64(i%3)
		queue := x
		if i >= 8 {
			queue *= 1.3
		}
		code, _, stderr := benchrun(t, "compare", base, rawFile(t, queue, x, x, x), "--history", history, "--label", "commit-"+string(rune('a'+i)))
		require.Zero(t, code, stderr)
	}
	code, stdout, stderr := benchrun(t, "trend", history, "--html", page)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "1 of 7 series changed over 16 results.")
	assert.Regexp(t, `Queue/op=cycle/impl=ring-2 +sec/op +16 .* \+(29|30|31)\.\d% +commit-i +0\.000`, stdout)
	assert.Contains(t, stderr, "are absolute figures, because a result lacks upstream's code")
	assert.FileExists(t, page)

	code, stdout, stderr = benchrun(t, "trend", base, "--html", page)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "Nothing to compare yet: 1 result of the 8 or more that a change takes.")
	assert.Contains(t, stderr, "1 result can't show a change: that takes 8 or more, 4 before it and 4 after")

	_, stdout, _ = benchrun(t, "trend", history, "--html", page, "--match", "Queue", "--unit", "ns/op", "-o", "csv")
	assert.Equal(t, 2, strings.Count(stdout, "\n"), stdout)

	for line, want := range map[string]string{
		"trend":                                                      "found 0 arguments, expected at least one FILE|DIR",
		"trend /none":                                                "no such file or directory",
		"trend " + history + " --match (":                            "--match: error parsing regexp",
		"trend " + history + " --unit x/op":                          `no benchmark of 16 results matches --match "" and --unit "x/op"`,
		"trend " + history + " --html /none/x":                       "--html: ",
		"trend /none --html " + filepath.Dir(page):                   "is a directory, expected a file",
		"compare /none /none --junit " + filepath.Dir(page):          "--junit: " + filepath.Dir(page) + " is a directory, expected a file",
		"compare " + base + " " + base + " --history " + page + "/x": "--history: ",
		"merge":                             "found 0 arguments, expected at least one DIR",
		"merge " + filepath.Dir(page):       "holds no run.json",
		"calibrate --runs 0":                "--runs: found 0, expected at least 1",
		"calibrate --budget -1s":            "--budget: found -1s, expected more than 0s",
		"releases":                          "found 0 releases, expected two or more",
		"releases client-go@v1 --budget 0s": "--budget: found 0s, expected more",
		"releases bisect":                   "found 0 releases, expected two or more",
		"releases bisect client-go@v1 client-go@v2 client-go@v3": "found 3 releases, expected the two to search between",
		"releases bisect client-go@v1 client-go@v2 --budget 0s":  "--budget: found 0s, expected more",
		"releases a@v1 b@v2": `a@v1: unknown module "a", expected client-go or controller-runtime`,
		"run --shard x":      `--shard: found "x", expected INDEX/COUNT`,
		"run --shard 3/3":    "shard 3/3 has nothing to do: 1 case for 3 shards",
	} {
		code, _, stderr := benchrun(t, strings.Fields(line)...)
		assert.Equal(t, exitUsage, code, line)
		assert.Contains(t, stderr, want, line)
	}
}

// Two shards that are merged are the run on one machine.
func TestShardsMerge(t *testing.T) {
	parent := t.TempDir()
	for index := range 2 {
		t.Setenv("JOB_COMPLETION_INDEX", string(rune('0'+index)))
		code, _, stderr := benchrun(t, "run", "--profile", "full", "--rounds", "6", "--variant", "fast", "--shard", "2", "--out", filepath.Join(parent, string(rune('a'+index))))
		require.Zero(t, code, stderr)
		assert.Contains(t, stderr, "1 case, 3 arms, seed 1")
	}
	out := filepath.Join(parent, "merged")
	code, stdout, stderr := benchrun(t, "merge", parent, "--out", out)
	require.Zero(t, code, stderr)
	assert.Regexp(t, `queue +fast +\d+\.\d+ +\d+\.\d+ +\d +0 +2 `, stdout)
	run, samples, err := experiment.Load(out)
	require.NoError(t, err)
	assert.Len(t, samples, 2*3*6)
	assert.Len(t, run.Machines, 2)
	raw, err := os.ReadFile(filepath.Join(out, "raw.txt"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(raw), "goos: "))
}
