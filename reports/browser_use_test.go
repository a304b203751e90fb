package reports

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// opened writes a report with every kind of section and opens it from disk.
func opened(t *testing.T) (context.Context, func() []string) {
	run, stats := fixture(1)
	dir := resultDir(t, stats)
	madeDrives(t, dir)
	require.NoError(t, Write(dir, run, stats))
	return openTab(t, filepath.Join(dir, "report.html"))
}

// clipboard reads one kind of what is on the clipboard, as another page would.
func clipboard(t *testing.T, ctx context.Context, kind string) string {
	t.Helper()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(
		`navigator.clipboard.read().then(items => items[0].getType(%q)).then(blob => blob.text())`, kind), chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	return text
}

// What another program gets when it pastes is the table as it stands.
func TestCopiesToClipboard(t *testing.T) {
	ctx, complaints := opened(t)
	_, err := chromedp.CallBrowser(ctx, browser.SetPermission, browser.SetPermissionParams{
		Permission: &browser.PermissionDescriptor{Name: "clipboard-read"}, Setting: browser.PermissionSettingGranted})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	require.NoError(t, err)
	require.Equal(t, "file:", eval[string](t, ctx, `location.protocol`))
	eval[bool](t, ctx, `document.querySelectorAll("details").forEach(d => d.open = true), true`)
	said := `document.getElementById("status").textContent`
	// press copies the i-th table as a reader with a keyboard does.
	press := func(i int) {
		eval[bool](t, ctx, fmt.Sprintf(`document.getElementById("status").textContent = "", document.querySelectorAll(".tools button")[%d].focus(), true`, i))
		do(t, ctx, chromedp.KeyEvent(kb.Enter), until(said+` !== ""`))
	}
	shown := func(i int) [][]string {
		return eval[[][]string](t, ctx, fmt.Sprintf(`[...document.querySelectorAll("table")[%d].rows].map(r => [...r.cells].filter(c => !c.matches(".track")).map(c => c.textContent.replace(/\s+/g, " ").trim()))`, i))
	}

	tables := eval[int](t, ctx, `document.querySelectorAll("table").length`)
	require.Greater(t, tables, 20)
	require.Equal(t, tables, eval[int](t, ctx, `document.querySelectorAll(".tools button").length`))
	for i := range tables {
		press(i)
		require.Contains(t, eval[string](t, ctx, said), "Table copied")
		cells := shown(i)
		lines := strings.Split(strings.TrimSuffix(clipboard(t, ctx, "text/plain"), "\n"), "\n")
		require.Len(t, lines, len(cells)+1, "table %d: a line a row, and the rule", i)
		assert.Regexp(t, `^\|(-+:?\|)+$`, lines[1])
		lines = append(lines[:1], lines[2:]...)
		for j, row := range cells {
			want := "| " + strings.ReplaceAll(strings.ReplaceAll(strings.Join(row, "\x00"), "|", `\|`), "\x00", " | ") + " |"
			assert.True(t, strings.HasPrefix(lines[j], strings.TrimSuffix(want, " |")), "%q is not %q", lines[j], want)
		}
	}
	assert.Contains(t, clipboard(t, ctx, "text/html"), "<table><tbody><tr><th>Check</th><th>Verdict by</th>", "a sheet pastes cells")

	press(0)
	before := clipboard(t, ctx, "text/plain")
	eval[bool](t, ctx, `document.querySelector("table thead button").click(), true`)
	press(0)
	assert.NotEqual(t, before, clipboard(t, ctx, "text/plain"), "in the order that the reader chose")

	// Browsers that dropped the older way, and those that have neither.
	eval[bool](t, ctx, `document.execCommand = () => false, true`)
	press(1)
	assert.Contains(t, eval[string](t, ctx, said), "Table copied")
	assert.Equal(t, eval[string](t, ctx, `markdownOf(document.querySelectorAll("table")[1])`), clipboard(t, ctx, "text/plain"))
	assert.Contains(t, clipboard(t, ctx, "text/html"), "<table>")
	eval[bool](t, ctx, `Object.defineProperty(navigator, "clipboard", {value: undefined}), true`)
	press(2)
	assert.Contains(t, eval[string](t, ctx, said), "did not allow copying")
	assert.Empty(t, complaints())
}

func TestPrints(t *testing.T) {
	ctx, complaints := opened(t)
	eval[bool](t, ctx, `document.getElementById("theme").click(), true`)
	folded := eval[int](t, ctx, `document.querySelectorAll("details:not([open])").length`)
	// What the page looked like while the browser printed it.
	eval[bool](t, ctx, `addEventListener("beforeprint", () => { window.printed = {
		theme: document.documentElement.dataset.theme,
		folded: document.querySelectorAll("details:not([open],.long)").length,
		charts: [...document.querySelectorAll(".chart:not([hidden])")].filter(c => c.querySelector("svg path")).length,
		wide: [...document.querySelectorAll(".chart:not([hidden]) svg")].filter(s => s.clientWidth > 680).length,
		dark: [...document.querySelectorAll(".chart svg text")].filter(t => t.getAttribute("fill") === "#e7eaed").length,
	} }), true`)
	require.Equal(t, "dark", eval[string](t, ctx, `document.documentElement.dataset.theme`))
	pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4)))
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(pdf, []byte("%PDF-")))
	printed := eval[struct {
		Theme                      string
		Folded, Charts, Wide, Dark int
	}](t, ctx, `printed`)
	assert.Equal(t, "light", printed.Theme)
	assert.Zero(t, printed.Folded)
	assert.Equal(t, eval[int](t, ctx, `document.querySelectorAll(".chart:not([hidden])").length`), printed.Charts)
	assert.Zero(t, printed.Wide, "charts wider than paper")
	assert.Zero(t, printed.Dark, "charts in the colours of the dark page")
	do(t, ctx, until(`document.documentElement.dataset.theme === "dark"`))
	assert.Equal(t, folded, eval[int](t, ctx, `document.querySelectorAll("details:not([open])").length`))
	assert.Empty(t, complaints())

	pages := len(regexp.MustCompile(`/Type\s*/Page\b[^s]`).FindAll(pdf, -1))
	assert.Greater(t, pages, 3)
}
