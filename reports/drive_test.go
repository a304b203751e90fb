package reports

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/loadgen/drive"
	"github.com/informerbench/informerbench/loadgen/durations"
)

func driven3(t *testing.T) (*driven, []string) {
	t.Helper()
	dir := t.TempDir()
	madeDrives(t, dir)
	return readAll(t, dir)
}

func readAll(t *testing.T, dir string) (*driven, []string) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	d, warnings := readDrives(root, "")
	var texts []string
	for _, w := range warnings {
		texts = append(texts, w.Scope+": "+w.Text)
	}
	return d, texts
}

// Rounds come together as their median, with the smallest and largest beside
// it; the baseline is the arm that ran twice and comes first.
func TestDrivesAreMerged(t *testing.T) {
	d, warnings := driven3(t)
	assert.Empty(t, warnings)
	require.Len(t, d.Arms, 3)
	assert.Equal(t, []string{"client-go", "flagship", "client-go-again"}, []string{d.Arms[0].Name, d.Arms[1].Name, d.Arms[2].Name})
	assert.True(t, d.Arms[0].Baseline)
	assert.True(t, d.Arms[2].Control)

	p99, ok := d.Arms[0].at(drive.Settled, 0.99)
	require.True(t, ok)
	one := d.Arms[0].rounds
	require.Len(t, one, 3)
	for i, round := range []int{1, 0, 2} { // median, smallest, largest
		assert.InDelta(t, time.Duration(one[round].Latency(drive.Settled).At(0.99)).Seconds(), float64(p99[i+1]), 1e-12)
	}
	assert.Equal(t, 2, d.Arms[0].Round, "the round with the median p99 gives the timeline")
	assert.Len(t, d.Arms[0].Ticks, 60)
	assert.Len(t, d.Latency.Rows, 9)
	assert.Equal(t, []string{drive.Watch, "client-go"}, d.Latency.Rows[0].Names)
	assert.Len(t, d.Balance.Rows, 3)
}

// A long timeline keeps its peaks and its totals.
func TestThin(t *testing.T) {
	var ticks []drive.Tick
	for s := 1; s <= 3600; s++ {
		tick := drive.Tick{At: time.Duration(s) * time.Second, Sent: 10, Reconciles: 5, CPU: 1}
		if s == 1234 {
			tick.Depth = 777
		}
		ticks = append(ticks, tick)
	}
	ticks = append(ticks, drive.Tick{At: 3600 * time.Second, Sent: 10}) // a clock that stood still
	thinned := thin(ticks)
	assert.LessOrEqual(t, len(thinned), maxTicks)
	depth := figure(0)
	for _, tick := range thinned {
		assert.InDelta(t, 10, float64(tick[1]), 1)
		assert.InDelta(t, 5, float64(tick[2]), 1)
		depth = max(depth, tick[3])
	}
	assert.Equal(t, figure(777), depth)
	assert.Equal(t, figure(3600), thinned[len(thinned)-1][0])
}

// What is no drive, is torn, too new or unsound is said and hurts nothing else.
func TestDoubtfulDrives(t *testing.T) {
	run, stats := fixture(1)
	dir := resultDir(t, stats)
	madeDrives(t, dir)
	write := func(name, text string) {
		path := filepath.Join(dir, "drive", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("torn/1.json", `{"schema": 1, "lat`)
	write("other/1.json", `{"schema": 1, "arm": "other"}`)
	write("newer/1.json", fmt.Sprintf(`{"schema": %d}`, drive.SchemaVersion+1))
	evil := `</script><img src=x onerror="window.hit=1">`
	lossy := drive.Result{Schema: 1, Arm: evil, Round: 1, Workload: evil, Accounting: drive.Accounting{Sent: 10, Delivered: 7, Lost: 3, Bad: []string{evil}}, Warnings: []string{evil},
		Latencies: []drive.Latency{{Name: drive.Settled, Distribution: durations.Distribution{Points: []durations.Point{{Quantile: -1, Value: 3}, {Quantile: 0.5, Value: -3}, {Quantile: 0.9, Value: 3}, {Quantile: 7, Value: 1}}}}}}
	b, err := json.Marshal(lossy)
	require.NoError(t, err)
	write("lossy/1.json", string(b))

	d, warnings := readAll(t, dir)
	require.Len(t, d.Arms, 4)
	all := strings.Join(warnings, "\n")
	for _, want := range []string{"drive/torn/1.json: not shown: unexpected end of JSON input", "drive/other/1.json: not shown: found no latencies", "is newer than this program's"} {
		assert.Contains(t, all, want)
	}
	require.NoError(t, Write(dir, run, stats))
	html, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	assert.Contains(t, string(html), "Not every event is accounted for")
	assert.Contains(t, string(html), "3 events lost")
	assert.NotContains(t, own(string(html)), "<img")
	markdown, err := os.ReadFile(filepath.Join(dir, "report.md"))
	require.NoError(t, err)
	assert.Contains(t, string(markdown), "3 events lost")
	assert.NotRegexp(t, "(?m)^[^`\n]*<(script|img)", string(markdown))
}

// Warnings that differ in their numbers only are one.
func TestDoubtsAreGathered(t *testing.T) {
	arm := driveArm{rounds: []drive.Result{
		{Round: 0, Warnings: []string{"the load was late by 25.4ms (p99)", "something else"}},
		{Round: 1, Warnings: []string{"the load was late by 454.03ms (p99)"}}, {Round: 2, Warnings: []string{"the load was late by 1s (p99)"}}}}
	assert.Equal(t, []string{"round 0: the load was late by 25.4ms (p99) (and likewise in 2 more rounds)", "round 0: something else"}, arm.doubts())
}

func TestFiguresAsPeopleSayThem(t *testing.T) {
	for v, want := range map[float64]string{0: "0 B", 1000: "0.98 KiB", 80 << 20: "80 MiB", 3 << 30: "3 GiB"} {
		assert.Equal(t, want, bytesText(v))
	}
}

// One drive compares nothing: its outcome stands where a decision would.
func TestASingleDriveDecidesNothing(t *testing.T) {
	d, warnings := driven3(t)
	require.Empty(t, warnings)
	d.Arms = d.Arms[:1]
	d.Arms[0].rounds = d.Arms[0].rounds[:1]
	c := experiment.PlannedCase{Component: "drive", Name: "workload=x"}
	compared := experiment.Warning{Scope: c.Key(), Text: "no samples of client-go-again"}
	again := verdict.Row{Arm: experiment.Arm{Name: "client-go-again", Control: true}, Comparison: &verdict.Comparison{Verdict: verdict.NoResult}}
	p := newPage(input{name: "drive", drive: d, profiles: &profileSet{}, run: experiment.Run{Plan: experiment.Plan{Cases: []experiment.PlannedCase{c}}}, stats: verdict.Stats{
		Decision:   "Nothing to compare was measured.",
		Warnings:   []experiment.Warning{compared, {Scope: "run", Text: "it is hot"}},
		Components: []verdict.ComponentStats{{Component: c.Component, Cases: []verdict.CaseStats{{Name: c.Name, Rows: []verdict.Row{{}, again}}}}},
	}}, 100)
	assert.True(t, p.Alone)
	assert.Equal(t, []experiment.Warning{{Scope: "run", Text: "it is hot"}}, p.Warnings, "of the comparison that it is not")
	assert.Contains(t, p.Decision, "all accounted for")
	assert.Contains(t, p.Decision, "99% within")
	html, err := renderHTML(p)
	require.NoError(t, err)
	assert.NotContains(t, string(html), `id="ranking"`)
	markdown, err := renderMarkdown(p)
	require.NoError(t, err)
	assert.NotContains(t, string(markdown), "Confidence")

	d.Arms[0].rounds[0].Accounting.Lost = 3
	p = newPage(input{name: "drive", drive: d, profiles: &profileSet{}}, 100)
	assert.Contains(t, p.Decision, "3 events lost")
}
