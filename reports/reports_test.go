package reports

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
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

func written(t *testing.T, run experiment.Run, stats verdict.Stats) (dir, html, markdown string) {
	dir = resultDir(t, stats)
	require.NoError(t, Write(dir, run, stats))
	h, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	m, err := os.ReadFile(filepath.Join(dir, "report.md"))
	require.NoError(t, err)
	return dir, string(h), string(m)
}

// own is the page without its scripts.
func own(html string) string {
	return strings.Replace(strings.Replace(html, echarts, "", 1), application(""), "", 1)
}

func TestReportsSayWhatMatters(t *testing.T) {
	run, stats := fixture(1)
	dir, html, markdown := written(t, run, stats)
	for name, page := range map[string]string{"report.html": own(html), "report.md": markdown} {
		for _, want := range []string{
			"1.90× the queue, 1.35× the delaying queue",                                   // the decision
			"49 of 56 comparisons differ by more than noise", "the time budget was spent", // why it may be trusted
			"AMD EPYC 7B13", "go1.26.0", "v0.37.2", "benchrun run --profile quick --seed 42", // where and what
			"Work queue", "op=flow/producers=4/workers=16", "fifo-order", "no difference", // the figures
			"load average 3.1 on 2 cores", "raw.txt", // doubts and evidence
		} {
			assert.Contains(t, strings.ReplaceAll(page, "\\", ""), want, name)
		}
	}
	assert.Contains(t, html, "timed out after 10s", "a failed sample is shown")
	assert.Less(t, len(html), maxPageBytes)
	assert.FileExists(t, filepath.Join(dir, "stats.csv"))
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	assert.Empty(t, left, "temporary files stay behind")
}

// The decision is the first thing after the title, in both reports.
func TestDecisionComesFirst(t *testing.T) {
	run, stats := fixture(1)
	_, html, markdown := written(t, run, stats)
	assert.True(t, strings.HasPrefix(strings.ReplaceAll(markdown, "\\", ""), "# Replace the queue, the"), markdown[:80])
	assert.Less(t, strings.Index(html, "<h1"), strings.Index(html, "<table"))
}

func TestWritingAgainGivesTheSameReport(t *testing.T) {
	run, stats := fixture(2)
	dir, html, markdown := written(t, run, stats)
	require.NoError(t, Write(dir, run, stats))
	again, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	assert.Equal(t, html, string(again))
	again, err = os.ReadFile(filepath.Join(dir, "report.md"))
	require.NoError(t, err)
	assert.Equal(t, markdown, string(again))
}

func TestReportNeedsNoNetwork(t *testing.T) {
	run, stats := fixture(1)
	_, html, _ := written(t, run, stats)
	for _, bad := range []string{"http://", "https://", "@import", "url("} {
		assert.NotContains(t, own(html), bad)
	}
	assert.Contains(t, html, "default-src &#39;none&#39;")
}

// Names come from result files that anyone may have written. None of them may
// become markup, script, a spreadsheet formula or a path out of the directory.
func TestNamesCannotInject(t *testing.T) {
	evil := []string{`<script>alert(1)</script>`, `</script><img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, "`]]>--><b>", `=HYPERLINK("x")`, `../../../etc/passwd`, "a|b\n\n# c", "{{.}}\u2028"}
	for i, name := range evil {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			run, stats := fixture(3)
			stats.Components = stats.Components[:1]
			c := &stats.Components[0]
			stats.Decision, c.Decision, c.Component = name, name, name
			c.Ranking[0].Variant, c.Ranking[0].Relaxes = name, []string{name}
			c.Cases[0].Name, c.Cases[0].Summary, c.Cases[0].Unit = name, name, name
			c.Cases[0].Rows[1].Name, c.Cases[0].Rows[1].Variant, c.Cases[0].Rows[1].Relaxes = name, name, []string{name}
			c.Cases[0].Rows[1].Metrics[name] = verdict.Summary{Center: 1, Low: 1, High: 1}
			run.Command, run.Environment.CPU, run.Versions[name] = []string{name}, name, name
			stats.Warnings = []experiment.Warning{{Scope: name, Text: name}}
			dir := resultDir(t, stats)
			require.NoError(t, Write(dir, run, stats))
			html, err := os.ReadFile(filepath.Join(dir, "report.html"))
			require.NoError(t, err)
			page := own(string(html))
			if strings.ContainsAny(name, "<>") {
				assert.NotContains(t, page, name)
			}
			for _, markup := range []string{"<script>alert", "<img", "<svg", "--><b>"} {
				assert.NotContains(t, page, markup)
			}
			assert.Equal(t, 3, strings.Count(page, "<script"), "the page's own scripts and data")
			markdown, err := os.ReadFile(filepath.Join(dir, "report.md"))
			require.NoError(t, err)
			assert.NotRegexp(t, "(?m)^[^`\n]*<(script|img|svg)", string(markdown))
			assert.NotContains(t, string(markdown), "\n# c")
			table, err := os.ReadFile(filepath.Join(dir, "stats.csv"))
			require.NoError(t, err)
			lines, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
			require.NoError(t, err)
			for _, line := range lines {
				for _, field := range line {
					assert.False(t, strings.HasPrefix(field, "="), field)
				}
			}
		})
	}
}

// Holes in the statistics are shown as holes.
func TestMissingAndInfiniteFigures(t *testing.T) {
	run, stats := fixture(4)
	c := &stats.Components[0].Cases[0]
	c.NoiseFloor = math.MaxFloat64
	c.Rows[1].Comparison = &verdict.Comparison{Ratio: 1, High: math.Inf(1), P: 1, PAdjusted: 1, Verdict: verdict.NoResult}
	c.Rows[2].Comparison = &verdict.Comparison{Ratio: math.NaN(), Low: math.NaN(), High: math.NaN(), P: math.NaN(), PAdjusted: math.NaN(), Verdict: verdict.TooFew}
	c.Rows[3].Comparison.Low, c.Rows[3].Comparison.High = 0, math.Inf(1)
	c.Rows[3].Metrics = map[string]verdict.Summary{"sec/op": {Center: 0, Low: math.Inf(-1), High: math.Inf(1)}, "B/op": {Center: -3, Low: -4, High: -2}}
	c.Rows[4].Metrics, c.Rows[4].Comparison = nil, nil
	stats.Components[0].Ranking[0].Ratio, stats.Components[0].Ranking[0].Worst = math.NaN(), math.Inf(1)
	_, html, markdown := written(t, run, stats)
	for _, page := range []string{own(html), markdown} {
		assert.NotContains(t, page, "NaN")
		assert.NotContains(t, page, "Inf")
		assert.NotContains(t, page, "e+3")
		assert.Contains(t, page, "unknown")
	}
}

func TestNothingMeasured(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir, experiment.Run{}, verdict.Stats{}))
	markdown, err := os.ReadFile(filepath.Join(dir, "report.md"))
	require.NoError(t, err)
	assert.Contains(t, string(markdown), "Nothing was measured")
	assert.Contains(t, string(markdown), "Confidence: weak")
}

func TestBrokenProfileIsAWarning(t *testing.T) {
	run, stats := fixture(6)
	dir := resultDir(t, stats)
	broken := filepath.Join(dir, "profiles", "queue_op=cycle_keys=unique_n=10k", "ring", "cpu.pb.gz")
	require.NoError(t, os.WriteFile(broken, []byte("\x1f\x8b cut short"), 0o644))
	require.NoError(t, Write(dir, run, stats))
	html, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	assert.Contains(t, string(html), "its CPU profile is not shown")
}

func TestErrors(t *testing.T) {
	run, stats := fixture(7)
	err := Write(filepath.Join(t.TempDir(), "absent"), run, stats)
	assert.ErrorContains(t, err, "result directory")
	run.Schema = experiment.SchemaVersion + 1
	err = Write(t.TempDir(), run, stats)
	assert.ErrorContains(t, err, "newer than this program's")
	run.Schema = experiment.SchemaVersion
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "report.html"), 0o755))
	err = Write(dir, run, stats)
	assert.ErrorContains(t, err, "report.html")
}

func TestCSVHoldsEveryMetric(t *testing.T) {
	run, stats := fixture(8)
	dir, _, _ := written(t, run, stats)
	data, err := os.ReadFile(filepath.Join(dir, "stats.csv"))
	require.NoError(t, err)
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	require.NoError(t, err)
	want := 1
	for _, component := range stats.Components {
		for _, c := range component.Cases {
			for _, row := range c.Rows {
				want += len(row.Metrics)
			}
		}
	}
	assert.Len(t, lines, want)
	assert.Equal(t, "component", lines[0][0])
}

// A mean over some cases must not carry the interval of fewer.
func TestRankingIntervalNeedsEveryCase(t *testing.T) {
	_, stats := fixture(10)
	c := stats.Components[0]
	first := func() rank {
		return newPage(input{stats: stats, profiles: &profileSet{}}, maxRows).Components[0].Ranks[0]
	}
	r := first()
	assert.NotEmpty(t, r.Interval)
	low, high, _ := combined(c.Ranking[0], c.Cases)
	assert.Less(t, low, c.Ranking[0].Ratio)
	assert.Greater(t, high, c.Ranking[0].Ratio)

	alone := verdict.CaseStats{Rows: []verdict.Row{{Arm: experiment.Arm{Variant: "ring"}, Comparison: &verdict.Comparison{Ratio: 1.16, Low: 1.02, High: 1.2, Verdict: verdict.Faster}}}}
	low, high, _ = combined(verdict.Rank{Variant: "ring", Ratio: 1.16, Cases: 1}, []verdict.CaseStats{alone})
	assert.InDeltaSlice(t, []float64{1.02, 1.2}, []float64{low, high}, 1e-9, "one case's interval is its own")

	for i, row := range c.Cases[2].Rows {
		if row.Variant == r.Name {
			x := c.Cases[2].Rows[i].Comparison
			x.Low, x.High, x.Verdict = 0, math.Inf(1), verdict.TooFew
		}
	}
	c.Ranking[0].Faster--
	r = first()
	assert.Empty(t, r.Interval)
	assert.Equal(t, "faster in 5 of 6 cases, 1 undecided", r.Tally)
}

// Instances of a generic function share a short name: the page comes out the
// same each time all the same.
func TestFoldKeepsEqualNamesInOrder(t *testing.T) {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}}
	for _, instance := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		p.Sample = append(p.Sample, &profile.Sample{Value: []int64{10}, Location: []*profile.Location{
			{Line: []profile.Line{{Function: &profile.Function{Name: "x/queue.Add[" + instance + "]"}}}},
		}})
	}
	for range 20 {
		set := &profileSet{index: map[string]int{}}
		graph, err := set.fold(p)
		require.NoError(t, err)
		for i, row := range graph.Top {
			require.Equal(t, i, row[0])
		}
		for i := range graph.Top {
			require.Equal(t, i, graph.Tree[3*i+1])
		}
	}
}

// What leads to the benchmark is folded away, and small shares add up.
func TestFold(t *testing.T) {
	set := &profileSet{index: map[string]int{}}
	graph, err := set.fold(madeProfile(1, "ring"))
	require.NoError(t, err)
	assert.Equal(t, "bench.cycle", set.Names[graph.Tree[1]], "the outermost frame that is shown")
	sum := 0
	for _, share := range graph.Kinds {
		sum += share
	}
	assert.InDelta(t, whole10k, sum, 10)
	assert.NotContains(t, set.Names, "testing.(*B).runN")
	assert.Positive(t, graph.Samples)
	_, err = set.fold(&profile.Profile{SampleType: []*profile.ValueType{{Type: "alloc_space", Unit: "bytes"}}})
	assert.ErrorContains(t, err, "expected a CPU profile")
}

// The data that the charts are drawn from holds one mark per comparison; the
// baseline is the line and the control the band.
func TestChartData(t *testing.T) {
	_, stats := fixture(9)
	p := newPage(input{stats: stats, profiles: &profileSet{}}, maxRows)
	charts := newCharts(p)
	require.Len(t, charts, len(stats.Components))
	marks := 0
	for _, c := range charts[0].Cases {
		marks += len(c.Marks)
	}
	assert.Equal(t, 6*4, marks)
	_, err := json.Marshal(charts)
	assert.NoError(t, err)
}
