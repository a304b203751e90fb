package reports

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/search"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tuned is a result with a queue of every sort and a hostile name.
func tuned() advice.Result {
	quantiles := func(x float64) predict.Quantiles {
		i := predict.Interval{Mean: x, Low: 0.9 * x, High: 1.1 * x}
		return predict.Quantiles{Mean: i, P50: i, P90: i, P99: i, P999: i}
	}
	figures := func(workers int, x float64) *predict.Figures {
		return &predict.Figures{Settings: predict.Settings{Workers: workers}, Stable: true, Load: 0.5, Wait: quantiles(x), Settle: quantiles(2 * x), Work: quantiles(0.05), Cost: float64(workers)}
	}
	points := func(values ...string) []search.CurvePoint {
		var list []search.CurvePoint
		for i, v := range values {
			x := 1 / float64(i+1)
			list = append(list, search.CurvePoint{Value: v, Chosen: i == 1, Stable: i > 0, WaitP99: predict.Interval{Mean: x, Low: x / 2, High: 2 * x}, SettleP99: predict.Interval{Mean: 2 * x, Low: x, High: 3 * x}})
		}
		return list
	}
	return advice.Result{
		Schema: advice.SchemaVersion, Source: "begin.txt to end.txt, 5m0s by --interval", Seed: 7, Stopped: "complete", Idle: []string{"idle"},
		Objectives: []search.Objective{{Text: "p99 queue wait < 1s"}},
		Paste:      []advice.Snippet{{For: "kube-controller-manager", Kind: "flags", Text: "--concurrent-job-syncs=8\n"}},
		Queues: []advice.Advice{
			{
				Queue: `<script>alert("q")</script>`, Summary: "8 workers instead of 5 workers.", Bottleneck: "Workers bind.", Unstable: "too much", Impossible: []string{"p99"},
				Model: &predict.Model{Observations: 1000, ArrivalRate: 40, Work: 0.05}, Now: figures(5, 3), Then: figures(8, 0.5),
				Reproduction: &advice.Reproduction{Verdict: "good", Wait: []advice.Bucket{{High: 0.1, Measured: 0.5, Model: 0.4, From: 0.3, To: 0.6}, {Low: 0.1, Measured: 0.5, Model: 0.6, From: 0.5, To: 0.7}}, Work: []advice.Bucket{{High: 1, Measured: 1, Model: 1, From: 1, To: 1}}},
				Changes:      []advice.SettingAdvice{{Setting: "workers", Title: "concurrent workers", Current: "5", Recommended: "8", Changed: true, Told: "given", Why: "a|b"}, {Setting: "qps", Current: "20", Recommended: "20", Told: "default"}},
				Pareto:       []search.Tradeoff{{Cost: 6, SettleP99: 3}, {Cost: 8, SettleP99: 1}, {Cost: 12, SettleP99: 0.2}},
				Curves:       []search.Curve{{Setting: "workers", Title: "concurrent workers", Points: points("4", "8", "12")}, {Setting: "load", Title: "the load", Points: points("1×", "2×")}},
				WhatIf:       []advice.WhatIf{{Text: "workers=6", Figures: figures(6, 1.5)}, {Text: "split=true", Refused: "one resource"}},
				Unidentified: []string{"bursts"}, Doubts: []string{"`few`"}, Paste: []advice.Snippet{{For: "client-go", Kind: "go", Text: "config.QPS = -1\n"}},
			},
			{Queue: "kept", Summary: "Keep 5 workers.", Bottleneck: "Nothing binds.", Model: &predict.Model{}},
			{Queue: "few", Refused: "3 reconciles", Record: "an hour"},
		},
	}
}

// Without curves, as of an interrupted search, nothing is said of charts, and a
// workload has no measurement that a model could repeat.
func TestTuneWithoutCharts(t *testing.T) {
	page := func(change func(*advice.Advice)) string {
		r, dir := tuned(), t.TempDir()
		r.Queues = r.Queues[:1]
		change(&r.Queues[0])
		require.NoError(t, WriteTune(dir, r))
		b, err := os.ReadFile(filepath.Join(dir, "report.html"))
		require.NoError(t, err)
		return string(b)
	}
	ofWorkload := page(func(a *advice.Advice) { a.Reproduction = nil })
	assert.Contains(t, ofWorkload, "<h3>Charts</h3>")
	assert.NotContains(t, ofWorkload, "repeats the measurement:")
	assert.NotContains(t, ofWorkload, "coefficient of variation", "which is not known")
	assert.NotContains(t, page(func(a *advice.Advice) { a.Reproduction, a.Curves, a.Pareto = nil, nil, nil }), "<h3>Charts</h3>")
}

func TestWriteTune(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, WriteTune(dir, tuned()))
	b, err := os.ReadFile(filepath.Join(dir, "tune.json"))
	require.NoError(t, err)
	var back advice.Result
	require.NoError(t, json.Unmarshal(b, &back))
	assert.Equal(t, 3, len(back.Queues))

	md, err := os.ReadFile(filepath.Join(dir, "tune.md"))
	require.NoError(t, err)
	assert.Contains(t, string(md), "| concurrent workers | 5 | given | 8 | a\\|b |")
	assert.Contains(t, string(md), "No advice: 3 reconciles. Record instead: an hour.")
	assert.NotContains(t, string(md), "<script>")

	html, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	assert.NotContains(t, string(html), `<script>alert`)
	assert.Less(t, len(html), maxPageBytes)
	assert.Equal(t, 1, strings.Count(string(html), "No advice:"))
	assert.Contains(t, string(html), `workers busy, as measured</th>`, "beside what is predicted")
	assert.Contains(t, string(html), `API calls a reconcile</th><td class="n">not known</td>`)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 3, "no temporary file is left")

	assert.ErrorContains(t, WriteTune(filepath.Join(dir, "none"), tuned()), "directory of the report")
}

func TestTunePageInBrowser(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, WriteTune(dir, tuned()))
	ctx, complaints := openTab(t, filepath.Join(dir, "report.html"))
	assert.Equal(t, 5, eval[int](t, ctx, `document.querySelectorAll(".chart").length`), "two comparisons, the front and two curves")
	assert.Zero(t, eval[int](t, ctx, `[...document.querySelectorAll(".chart")].filter(c => !c.querySelector("svg path")).length`))
	chart := func(i string) string {
		return `echarts.getInstanceByDom(document.querySelectorAll(".chart")[` + i + `]).getOption().series.filter(s => s.type === "line").map(s => s.data.filter(p => p[1] !== null).length)`
	}
	assert.Equal(t, []int{2, 2}, eval[[]int](t, ctx, chart("0")), "a point a bucket, measured and modelled")
	assert.Equal(t, []int{3, 1, 1}, eval[[]int](t, ctx, chart("2")), "the front, the current and the recommended settings")
	assert.Equal(t, []int{2, 2}, eval[[]int](t, ctx, chart("3")), "the unstable point has no mark")
	eval[bool](t, ctx, `(b => { b.click(); return true })(document.querySelector("#queue-0 thead button"))`)
	assert.Equal(t, "ascending", eval[string](t, ctx, `document.querySelector("#queue-0 thead th").getAttribute("aria-sort")`))
	for _, theme := range []string{"dark", "light"} {
		eval[bool](t, ctx, `(b => { b.click(); return true })(document.getElementById("theme"))`)
		assert.Equal(t, theme, eval[string](t, ctx, `document.documentElement.dataset.theme`))
	}
	assert.Empty(t, complaints())
}
