package reports

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

// testdata/schema-1 is part of a run as version 1 of the schema left it. Later
// versions must go on reading it: never write it again.
func TestOldRunsStayReadable(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "schema-1"))))
	run, samples, err := experiment.Load(dir)
	require.NoError(t, err)
	assert.Len(t, samples, 88)
	stats := verdict.Analyse(run, samples)
	require.Len(t, stats.Components, 2)
	require.NoError(t, Write(dir, run, stats))
	html, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	for _, want := range []string{"Replace the queue and the storage: ", "op=backlog/n=10k", "AMD EPYC", "benchrun run --budget=2m30s", `"ms":`, "2026-11-21 00:14:17 UTC"} {
		assert.Contains(t, string(html), want)
	}
	assert.NotContains(t, string(html), "its CPU profile is not shown")
}

// The sample that the README shows says nothing about the machine's folders.
func TestSampleNamesNoFolders(t *testing.T) {
	profiles := 0
	err := filepath.WalkDir("sample", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		switch filepath.Ext(path) {
		case ".gz":
			p, err := profile.ParseData(data)
			require.NoError(t, err, path)
			profiles++
			for _, m := range p.Mapping {
				assert.NotRegexp(t, `/(root|home|tmp|work|Users)/|\\Users\\`, m.File, path)
			}
			for _, f := range p.Function {
				assert.NotRegexp(t, `^/(root|home|tmp|work|Users)/|\\Users\\`, f.Filename, path)
			}
		case ".html", ".md", ".json", ".csv", ".txt":
			assert.NotRegexp(t, `["'= (]/(root|home|tmp|work|Users)/`, strings.Replace(string(data), echarts, "", 1), path)
		}
		return nil
	})
	require.NoError(t, err)
	assert.NotZero(t, profiles)
}

// The sample is what today's program makes of its samples.
func TestSampleIsFresh(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sample")
	require.NoError(t, os.CopyFS(dir, os.DirFS("sample")))
	run, samples, err := experiment.Load(dir)
	require.NoError(t, err)
	stats := verdict.Analyse(run, samples)
	require.NoError(t, verdict.Write(dir, stats))
	require.NoError(t, Write(dir, run, stats))
	for _, name := range []string{"stats.json", "stats.csv", "report.md", "report.html"} {
		kept, err := os.ReadFile(filepath.Join("sample", name))
		require.NoError(t, err)
		made, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.True(t, string(kept) == string(made), "reports/sample/%s is stale: run go run ./cmd/benchrun report reports/sample", name)
	}
}
