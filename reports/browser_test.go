package reports

import (
	"context"
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
)

// browser opens file in headless Chromium and returns the tab and what it
// complained about: console messages, exceptions, requests beyond the file.
func browser(t *testing.T, file string) (context.Context, func() []string) {
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
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(found), chromedp.NoSandbox)
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	require.NoError(t, chromedp.Do(ctx), "starting %s", found)

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
	require.NoError(t, Write(dir, run, stats))
	ctx, complaints := browser(t, filepath.Join(dir, "report.html"))

	t.Run("every chart is drawn", func(t *testing.T) {
		assert.Equal(t, len(stats.Components), eval[int](t, ctx, `document.querySelectorAll(".chart svg").length`))
		for i, c := range stats.Components {
			marks := 0
			for _, x := range c.Cases {
				for _, r := range x.Rows {
					if r.Comparison != nil && !r.Control {
						marks++
					}
				}
			}
			option := fmt.Sprintf(`echarts.getInstanceByDom(document.querySelectorAll(".chart")[%d]).getOption()`, i)
			assert.Equal(t, marks, eval[int](t, ctx, option+`.series.find(s => s.name === "marks").data.length`), c.Component)
			assert.Equal(t, len(c.Cases), eval[int](t, ctx, option+`.series.find(s => s.name === "noise").data.length`), c.Component)
			assert.Equal(t, "log", eval[string](t, ctx, option+`.xAxis[0].type`))
		}
	})
	t.Run("flame graphs", func(t *testing.T) {
		assert.Equal(t, 2, eval[int](t, ctx, `document.querySelectorAll(".flame").length`), "two side by side")
		assert.Greater(t, eval[int](t, ctx, `document.querySelectorAll(".flame .frame").length`), 20)
		before := eval[string](t, ctx, `document.querySelector(".flame .frame:nth-child(3)").style.width`)
		do(t, ctx, chromedp.Focus(chromedp.CSS(".flame")), chromedp.KeyEvent(kb.ArrowDown+kb.ArrowDown+kb.ArrowDown+kb.Enter))
		assert.NotEqual(t, before, eval[string](t, ctx, `document.querySelector(".flame .frame:nth-child(3)").style.width`))
		assert.Contains(t, eval[string](t, ctx, `document.getElementById("status").textContent`), "of the CPU time")
	})
	t.Run("tables sort", func(t *testing.T) {
		column := `[...document.querySelectorAll("#c-queue-heat tbody tr")].map(r => Number(r.cells[1].dataset.v))`
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
	t.Run("dark colours", func(t *testing.T) {
		background := `getComputedStyle(document.body).backgroundColor`
		light := eval[string](t, ctx, background)
		do(t, ctx, chromedp.Focus(chromedp.CSS("#theme")), chromedp.KeyEvent(kb.Enter))
		assert.NotEqual(t, light, eval[string](t, ctx, background))
		do(t, ctx, chromedp.Focus(chromedp.CSS("#theme")), chromedp.KeyEvent(kb.Enter))
		assert.Equal(t, light, eval[string](t, ctx, background))
	})
	t.Run("fits the window", func(t *testing.T) {
		for _, width := range []int64{360, 768, 1440} {
			do(t, ctx, chromedp.EmulateViewport(width, 900), chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach(d => d.open = true)`))
			do(t, ctx, until(`[...document.querySelectorAll(".chart")].every(c => Math.abs(c.clientWidth - c.querySelector("svg").clientWidth) < 3)`))
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
	dir := resultDir(t, stats)
	require.NoError(t, Write(dir, run, stats))
	ctx, complaints := browser(t, filepath.Join(dir, "report.html"))
	// The tooltip is the one place where a library makes markup of our text.
	eval[bool](t, ctx, `echarts.getInstanceByDom(document.querySelector(".chart")).dispatchAction({type: "showTip", seriesIndex: 3, dataIndex: 0}), true`)
	assert.False(t, eval[bool](t, ctx, `"hit" in window`))
	assert.Zero(t, eval[int](t, ctx, `document.querySelectorAll("img").length`))
	assert.Empty(t, complaints())
}

// pprof's own page works from disk, too.
func TestPprofPageInBrowser(t *testing.T) {
	html, err := pprofPage(madeProfile(1, "ring"))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "cpu.html")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(html), "<html>", `<html data-ready="true">`, 1)), 0o644))
	ctx, complaints := browser(t, file)
	assert.Greater(t, eval[int](t, ctx, `document.querySelectorAll("#stack-chart div").length`), 5)
	assert.Empty(t, complaints())
}
