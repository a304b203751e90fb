package reports

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/loadgen/drive"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// openTab opens file in headless Chromium and returns the tab and what it
// complained about: console messages, exceptions, requests beyond the file.
func openTab(t *testing.T, file string) (context.Context, func() []string) {
	var found string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			found = path
			break
		}
	}
	if found == "" {
		t.Skip("no Chromium or Chrome on this machine: the page was not looked at in a browser")
	}
	ctx := startBrowser(t, found)

	var lock sync.Mutex
	var complaints []string
	complain := func(text string) {
		lock.Lock()
		defer lock.Unlock()
		complaints = append(complaints, text)
	}
	listen(ctx, runtime.ConsoleAPICalled, func(e runtime.EventConsoleAPICalled) { complain("console." + string(e.Type)) })
	listen(ctx, runtime.ExceptionThrown, func(e runtime.EventExceptionThrown) { complain("exception: " + e.ExceptionDetails.Text) })
	listen(ctx, log.EntryAdded, func(e log.EventEntryAdded) { complain(e.Entry.Text) })
	listen(ctx, network.RequestWillBeSent, func(e network.EventRequestWillBeSent) {
		if url := e.Request.URL; !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:") {
			complain("request to " + url)
		}
	})
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	require.NoError(t, err)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("file://"+file), chromedp.WaitReady(chromedp.CSS(`html[data-ready="true"]`))))
	return ctx, func() []string {
		lock.Lock()
		defer lock.Unlock()
		return complaints
	}
}

// startBrowser tries again: now and then a browser crashes as it starts, which says
// nothing of the page.
func startBrowser(t *testing.T, path string) context.Context {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	for left := 2; ; left-- {
		ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
		t.Cleanup(stop)
		ctx, closeTab := chromedp.NewContext(ctx)
		t.Cleanup(closeTab)
		err := chromedp.Do(ctx)
		if err == nil {
			return ctx
		}
		require.Positive(t, left, "starting %s: %v", path, err)
		t.Logf("starting %s, once more: %v", path, err)
	}
}

func listen[E any](ctx context.Context, event cdp.Event[E], heard func(E)) {
	events := chromedp.Events(ctx, event)
	go func() {
		for e, err := range events {
			if err != nil {
				return
			}
			heard(e)
		}
	}()
}

// eval runs script in the tab and returns its value.
func eval[T any](t *testing.T, ctx context.Context, script string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	require.NoError(t, err, script)
	return v
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, steps...))
}

func until(script string) chromedp.Action[chromedp.Void] { return chromedp.Poll[chromedp.Void](script) }

func TestPageInBrowser(t *testing.T) {
	run, stats := fixture(1)
	dir := resultDir(t, stats)
	madeDrives(t, dir)
	require.NoError(t, Write(dir, run, stats))
	ctx, complaints := openTab(t, filepath.Join(dir, "report.html"))

	// option is what ECharts holds of the i-th chart that selector finds.
	option := func(selector string, i int) string {
		return fmt.Sprintf(`echarts.getInstanceByDom(document.querySelectorAll("%s")[%d]).getOption()`, selector, i)
	}
	t.Run("every chart is drawn", func(t *testing.T) {
		assert.Zero(t, eval[int](t, ctx, `[...document.querySelectorAll(".chart")].filter(c => !c.hidden && !c.querySelector("svg path")).length`))
		assert.Equal(t, len(stats.Components), eval[int](t, ctx, `document.querySelectorAll("[data-forest] svg").length`))
		for i, c := range stats.Components {
			marks := 0
			for _, x := range c.Cases {
				for _, r := range x.Rows {
					if r.Comparison != nil && !r.Control {
						marks++
					}
				}
			}
			forest := option("[data-forest] .chart", i)
			assert.Equal(t, marks, eval[int](t, ctx, forest+`.series.find(s => s.name === "marks").data.length`), c.Component)
			assert.Equal(t, len(c.Cases), eval[int](t, ctx, forest+`.series.find(s => s.name === "noise").data.length`), c.Component)
			assert.Equal(t, "log", eval[string](t, ctx, forest+`.xAxis[0].type`))

			marks = 0
			for _, x := range c.Cases {
				marks += len(x.Rows) - 1 // the control is none
			}
			assert.Equal(t, marks, eval[int](t, ctx, option("[data-memory] .chart", i)+`.series.filter(s => s.type === "scatter").map(s => s.data.length).reduce((a, b) => a + b)`), c.Component)
		}
	})
	t.Run("scaling", func(t *testing.T) {
		// op=write/readers=0, 10 and 40 of the indexer: time, ratio and memory.
		indexer := `[data-scaling="3"]`
		assert.Contains(t, eval[string](t, ctx, `document.querySelector('`+indexer+` select').selectedOptions[0].text`), "op=write/readers=…, 3 steps")
		for i := range 3 {
			points := eval[[]int](t, ctx, option(strings.ReplaceAll(indexer, `"`, `'`)+" .chart", i)+`.series.filter(s => s.type === "line").map(s => s.data.filter(p => p[1] !== null).length)`)
			assert.Equal(t, []int{3, 3, 3}, points, "one line a variant, one point a step")
		}
		assert.Equal(t, 9, eval[int](t, ctx, `document.querySelectorAll('`+indexer+` tbody tr').length`), "the table holds the same figures")
		eval[bool](t, ctx, `(s => { s.selectedIndex = 1; s.dispatchEvent(new Event("change")); return true })(document.querySelector('`+indexer+` select'))`)
		assert.Equal(t, 6, eval[int](t, ctx, `document.querySelectorAll('`+indexer+` tbody tr').length`), "two steps of three variants")
	})
	t.Run("drives", func(t *testing.T) {
		latency := option(".latency .chart", 0)
		assert.Equal(t, []int{8, 8, 8}, eval[[]int](t, ctx, latency+`.series.filter(s => s.type === "line").map(s => s.data.length)`), "every quantile but the smallest and the largest value")
		before := eval[float64](t, ctx, latency+`.series[0].data[2][1]`)
		eval[bool](t, ctx, `(s => { s.value = "queue-wait"; s.dispatchEvent(new Event("change")); return true })(document.querySelector(".drives select"))`)
		assert.NotEqual(t, before, eval[float64](t, ctx, latency+`.series[0].data[2][1]`))
		assert.Equal(t, 8, eval[int](t, ctx, `document.querySelectorAll(".timelines .chart").length`))
		assert.Equal(t, []int{60, 60, 60}, eval[[]int](t, ctx, option(".timelines .chart", 0)+`.series.filter(s => s.type === "line").map(s => s.data.length)`))
		assert.Equal(t, 180, eval[int](t, ctx, `document.querySelectorAll(".timelines tbody tr").length`))
		assert.Equal(t, 9, eval[int](t, ctx, `document.querySelectorAll("#load > .fold tbody tr").length`), "three stages of three arms")
	})
	t.Run("flame graphs", func(t *testing.T) {
		assert.Equal(t, 3, eval[int](t, ctx, `document.querySelectorAll(".flame").length`), "two side by side, and their difference")
		assert.Positive(t, eval[int](t, ctx, `document.querySelectorAll(".flame .less1,.flame .less2,.flame .less3,.flame .less4").length`))
		// Get of either queue is one frame, and its two times are those of the profiles.
		assert.Contains(t, eval[string](t, ctx, `[...document.querySelectorAll(".flame")][2].textContent`), "workqueue.(*Typed).Get / queue.(*Ring).Get")
		assert.Greater(t, eval[int](t, ctx, `document.querySelectorAll(".flame .frame").length`), 20)
		before := eval[string](t, ctx, `document.querySelector(".flame .frame:nth-child(3)").style.width`)
		do(t, ctx, chromedp.Focus(chromedp.CSS(".flame")), chromedp.KeyEvent(kb.ArrowDown+kb.ArrowDown+kb.ArrowDown+kb.Enter))
		assert.NotEqual(t, before, eval[string](t, ctx, `document.querySelector(".flame .frame:nth-child(3)").style.width`))
		assert.Contains(t, eval[string](t, ctx, `document.getElementById("status").textContent`), "of the CPU time")
	})
	t.Run("tables sort", func(t *testing.T) {
		column := `[...document.querySelectorAll("#c-queue-heat tbody tr")].map(r => Number(r.cells[1].dataset.v))`
		eval[bool](t, ctx, `(b => { b.click(); b.click(); return true })(document.querySelector(".rank thead button"))`)
		assert.Equal(t, "slice", eval[string](t, ctx, `document.querySelector(".rank tbody .line th").firstChild.textContent.trim()`), "the ranking sorts within its components")
		assert.Equal(t, len(stats.Components), eval[int](t, ctx, `[...document.querySelectorAll(".rank tbody")].filter(b => b.rows[0].classList.contains("group")).length`), "their headings stay on top")
		for i, state := range []string{"descending", "ascending"} {
			do(t, ctx, chromedp.Focus(chromedp.CSS("#c-queue-heat thead th:nth-child(2) button")), chromedp.KeyEvent(kb.Enter))
			values := eval[[]float64](t, ctx, column)
			require.Len(t, values, 6)
			for j := 1; j < len(values); j++ {
				if i == 0 {
					assert.GreaterOrEqual(t, values[j-1], values[j])
				} else {
					assert.LessOrEqual(t, values[j-1], values[j])
				}
			}
			assert.Equal(t, state, eval[string](t, ctx, `document.querySelector("#c-queue-heat thead th:nth-child(2)").getAttribute("aria-sort")`))
		}
	})
	t.Run("every table sorts and can be copied", func(t *testing.T) {
		assert.Zero(t, eval[int](t, ctx, `[...document.querySelectorAll("table")].filter(t => !t.tHead.querySelector("button")).length`))
		tables := eval[int](t, ctx, `document.querySelectorAll("table").length`)
		assert.Equal(t, tables, eval[int](t, ctx, `document.querySelectorAll(".tools button").length`))
		copied := eval[[]string](t, ctx, `[...document.querySelectorAll("table")].map(markdownOf)`)
		assert.Contains(t, copied[0], "| Variant | Times as fast |")
		for _, text := range copied {
			lines := strings.Split(strings.TrimSpace(text), "\n")
			for _, line := range lines {
				assert.Equal(t, strings.Count(lines[1], "|"), strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"), line)
			}
		}
	})
	t.Run("dark colours", func(t *testing.T) {
		background := `getComputedStyle(document.body).backgroundColor`
		light := eval[string](t, ctx, background)
		do(t, ctx, chromedp.Focus(chromedp.CSS("#theme")), chromedp.KeyEvent(kb.Enter))
		assert.NotEqual(t, light, eval[string](t, ctx, background))
		do(t, ctx, chromedp.Focus(chromedp.CSS("#theme")), chromedp.KeyEvent(kb.Enter))
		assert.Equal(t, light, eval[string](t, ctx, background))
	})
	t.Run("fits the window", func(t *testing.T) {
		for _, width := range []int64{360, 768, 900, 1024, 1200, 1440} {
			do(t, ctx, chromedp.EmulateViewport(width, 900), chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach(d => d.open = true)`))
			do(t, ctx, until(`[...document.querySelectorAll(".chart:not([hidden])")].every(c => Math.abs(c.clientWidth - c.querySelector("svg").clientWidth) < 3)`))
			// What is wider than the window scrolls within its own box.
			assert.LessOrEqual(t, eval[int64](t, ctx, `document.documentElement.scrollWidth`), width, "page scrolls sideways at %d px", width)
		}
	})
	t.Run("a link opens its case", func(t *testing.T) {
		eval[bool](t, ctx, `document.querySelectorAll("details").forEach(d => d.open = false); location.hash = "#c-queue-2"; true`)
		do(t, ctx, until(`document.getElementById("c-queue-2").open`))
	})
	t.Run("every chart and table says what it is", func(t *testing.T) {
		assert.Zero(t, eval[int](t, ctx, `[...document.querySelectorAll("table")].filter(t => !t.caption || !t.caption.textContent.trim()).length`))
		assert.Zero(t, eval[int](t, ctx, `[...document.querySelectorAll(".chart,.kinds")].filter(c => !c.getAttribute("aria-label")).length`))
		assert.Zero(t, eval[int](t, ctx, `[...document.querySelectorAll("[id]")].length - new Set([...document.querySelectorAll("[id]")].map(e => e.id)).size`), "ids are unique")
		assert.Empty(t, eval[[]string](t, ctx, `[...document.querySelectorAll("a[href^='#']")].map(a => a.getAttribute("href").slice(1)).filter(id => !document.getElementById(id))`), "links lead somewhere")
	})
	assert.Empty(t, complaints(), "console and network stay silent")
}

// The strings that TestNamesCannotInject checks as text, in a real browser.
func TestInjectionInBrowser(t *testing.T) {
	run, stats := fixture(3)
	evil := `</script><img src=x onerror="window.hit=1"><script>window.hit=1</script>`
	c := &stats.Components[0]
	c.Decision, stats.Decision = evil, evil
	for i := range c.Cases {
		c.Cases[i].Name = evil + fmt.Sprint(i)
		for j := range c.Cases[i].Rows {
			c.Cases[i].Rows[j].Summary = evil
		}
		c.Cases[i].Rows[1].Name, c.Cases[i].Rows[1].Variant = evil, evil
	}
	c.Cases[1].Name, c.Cases[2].Name = evil+"/n=1", evil+"/n=2" // a family, to be drawn as a line
	dir := resultDir(t, stats)
	at := filepath.Join(dir, "drive", "evil")
	require.NoError(t, os.MkdirAll(at, 0o755))
	result, err := json.Marshal(drive.Result{Schema: 1, Arm: evil, Workload: evil, Timeline: []drive.Tick{{At: 1, Sent: 1}, {At: 2, Sent: 1}},
		Latencies: []drive.Latency{{Name: drive.Settled, Distribution: durations.Distribution{Points: []durations.Point{{Quantile: 0.5, Value: 3}, {Quantile: 0.9, Value: 4}}}}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(at, "1.json"), result, 0o644))
	require.NoError(t, Write(dir, run, stats))
	ctx, complaints := openTab(t, filepath.Join(dir, "report.html"))
	// The tooltip is the one place where a library makes markup of our text.
	charts := eval[int](t, ctx, `document.querySelectorAll(".chart").length`)
	assert.Greater(t, charts, 8)
	for i := range charts {
		eval[bool](t, ctx, fmt.Sprintf(`(c => { for (let s = 0; s < 4; s++) c.dispatchAction({type: "showTip", seriesIndex: s, dataIndex: 0}); return true })(echarts.getInstanceByDom(document.querySelectorAll(".chart")[%d]))`, i))
	}
	assert.Positive(t, eval[int](t, ctx, `[...document.querySelectorAll(".chart")].filter(c => c.textContent.includes("onerror")).length`), "tooltips show the name as text")
	assert.False(t, eval[bool](t, ctx, `"hit" in window`))
	assert.Zero(t, eval[int](t, ctx, `document.querySelectorAll("img").length`))
	assert.Empty(t, complaints())
}
