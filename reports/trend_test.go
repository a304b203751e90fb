package reports

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/trend"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// aTrend has a step in one of its series and a name that would run.
func aTrend() trend.Trend {
	t := trend.Trend{Warnings: []experiment.Warning{{Scope: "run", Text: "a doubt"}}}
	step := trend.Series{Benchmark: "BenchmarkQueue/op=cycle/impl=ring-2", Unit: "cpu-sec/op", Relative: true, Noise: 0.03,
		Changes: []trend.Step{{At: 5, Before: 0.5, After: 0.6, P: 0.001}}}
	flat := trend.Series{Benchmark: "Benchmark</script><script>document.title='run'</script>", Unit: "allocs/op"}
	for i := range 10 {
		t.Results = append(t.Results, trend.Result{Time: time.Unix(int64(86400*i), 0), Label: "<b>commit</b>" + string(rune('a'+i))})
		step.At, flat.At = append(step.At, i), append(flat.At, i)
		step.Values, flat.Values = append(step.Values, 0.5+0.1*float64(i/5)), append(flat.Values, 3)
	}
	t.Series = []trend.Series{step, flat}
	return t
}

func TestTrendPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trend.html")
	require.NoError(t, WriteTrend(path, aTrend()))
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(page), "1 of 2 series changed over 10 results.")
	assert.Contains(t, string(page), "&#43;20.0% since &lt;b&gt;commit&lt;/b&gt;f")
	assert.NotContains(t, string(page), "<script>document.title")
	assert.Less(t, len(page), maxPageBytes)
	calm := aTrend()
	calm.Series = calm.Series[1:]
	require.NoError(t, WriteTrend(path, calm))
	page, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(page), "No change shown in 1 series over 10 results.")
	assert.ErrorContains(t, WriteTrend(filepath.Join(path, "x"), calm), "found no directory")
}

// A device takes the page and is never replaced by it: as root that would take
// /dev/null from the whole machine. Here a link stands for it.
func TestTrendPageToDevice(t *testing.T) {
	device := filepath.Join(t.TempDir(), "null")
	require.NoError(t, os.Symlink(os.DevNull, device))
	require.NoError(t, WriteTrend(device, aTrend()))
	info, err := os.Lstat(device)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSymlink, info.Mode().Type())
}

func TestTrendPageInBrowser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trend.html")
	require.NoError(t, WriteTrend(path, aTrend()))
	ctx, complaints := openTab(t, path)
	assert.Equal(t, 1, eval[int](t, ctx, `document.querySelectorAll("[data-trend] .chart svg").length`))
	assert.Equal(t, "informerbench: trend", eval[string](t, ctx, `document.title`))
	assert.Equal(t, 10, eval[int](t, ctx, `data.trend[0].values.length`))
	eval[bool](t, ctx, `document.getElementById("theme").click() === undefined`)
	assert.Empty(t, complaints())
}
