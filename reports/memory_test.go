package reports

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/memory"
	"github.com/informerbench/informerbench/bench/memory/child"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// measuredMemory is a result with a bit of everything.
func measuredMemory() memory.Result {
	figure := func(v float64) memory.Figure { return memory.Figure{Value: v, Low: v * 0.9, High: v * 1.1} }
	usage := func(n int, measured bool) memory.Usage {
		x := float64(n) * 5000
		return memory.Usage{Objects: n, Measured: measured, Live: figure(x), ServiceResident: figure(2 * x), StartResident: figure(3 * x), RelistResident: figure(3 * x), Peak: figure(3 * x)}
	}
	return memory.Result{
		Schema: memory.SchemaVersion, Source: "<b>mine</b>", Summary: "Strip managedFields: 25% less at rest.", Objects: 100_000,
		Load:       memory.Load{Form: "typed", Encoding: "json", List: "watchlist", Informer: "client-go"},
		Prediction: usage(100_000, false), Sizes: []memory.Usage{usage(2500, true), usage(5000, true), usage(10_000, true)}, PerObject: figure(5000),
		Parts:      []memory.Part{{Name: "spec", Bytes: figure(3000)}, {Name: "metadata.managedFields", Bytes: figure(2000)}, {Name: "index namespace", Bytes: figure(20), Within: "stores"}},
		Changes:    []memory.Saving{{Name: "strip managedFields", Bytes: figure(1250), Live: figure(0.25), Peak: figure(0.2), CPU: figure(-0.1), Advised: true}},
		Settings:   []memory.Setting{{Name: "GOGC=50", GOGC: 50, Peak: figure(0.8), Service: figure(0.75), CPU: figure(1.3)}},
		Advice:     memory.Advice{Request: 1 << 30, Limit: 2 << 30, GOMEMLIMIT: 1 << 30, GOGC: 100, Why: "as measured"},
		Transforms: []memory.Transform{{Kind: "Pod", Code: "package transforms\n"}},
		Timeline:   []child.Moment{{At: time.Millisecond, Heap: 10, Resident: 20}, {At: time.Second, Heap: 100, Resident: 200}},
		Heap:       &memory.Heap{InUse: 100, Caches: 60, Groups: []memory.HeapPart{{Name: "objects: Pod", Bytes: 60}, {Name: "not of caches", Bytes: 40}}},
		Warnings:   []string{"a *sample* that is odd"}, Repeats: 3, Stopped: "interrupted",
	}
}

func TestWriteMemory(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, WriteMemory(dir, measuredMemory()))
	md, err := os.ReadFile(filepath.Join(dir, "memory.md"))
	require.NoError(t, err)
	for _, want := range []string{
		"| strip managedFields ◂ | -1.22 KiB | -25% | -20% | +10% |  |\n", "| peak at start | 1.40 GiB |", "| metadata.managedFields | 1.95 KiB | 40% |\n",
		"memory: 2048Mi\n", "**Warning:** a \\*sample\\* that is odd.\n", "| objects: Pod | 60 B | 60% |\n", "```go\npackage transforms\n```\n",
	} {
		assert.Contains(t, string(md), want)
	}
	html, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	assert.NotContains(t, string(html), "<b>mine</b>")
	assert.Contains(t, string(html), "this is from the rounds that were measured")
	assert.Less(t, len(html), maxPageBytes)
	assert.ErrorContains(t, WriteMemory(filepath.Join(dir, "none"), measuredMemory()), "directory of the report")
}

func TestMemoryPageInBrowser(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, WriteMemory(dir, measuredMemory()))
	ctx, complaints := openTab(t, filepath.Join(dir, "report.html"))
	series := func(i string) []string {
		return eval[[]string](t, ctx, `echarts.getInstanceByDom(document.querySelectorAll(".chart")[`+i+`]).getOption().series.filter(s => s.type !== "custom").map(s => s.type + " " + (s.name || "").replace(/^series.*/, "") + " " + s.data.length)`)
	}
	assert.Equal(t, []string{"bar  2"}, series("0"), "the parts that make the whole")
	assert.Equal(t, []string{"line lives at rest 4", "line resident in service 4", "line peak at start 4", "line peak at relist 4"}, series("1"), "three sizes and the prediction")
	assert.Equal(t, []string{"line resident set 2", "line heap 2"}, series("2"))
	assert.True(t, eval[bool](t, ctx, `document.documentElement.scrollWidth <= innerWidth`), "nothing is wider than the page")
	assert.Empty(t, complaints())
}
