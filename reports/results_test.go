package reports

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A target of a case or variant that is gone would never be reached again.
func TestTargetsExist(t *testing.T) {
	cases, err := bench.Cases(bench.Options{})
	require.NoError(t, err)
	variants := map[string][]string{}
	for _, c := range cases {
		variants[c.Component+"/"+c.Name] = c.Variants
	}
	for _, x := range targets {
		assert.Contains(t, variants[x.component+"/"+x.name], x.variant, "%s/%s", x.component, x.name)
		assert.Positive(t, x.atLeast)
	}
}

func TestTargetIsMeasured(t *testing.T) {
	summary := func(values ...float64) verdict.Summary { return verdict.Summary{Values: values} }
	of := func(live, reads, ratio float64) verdict.Row {
		rising := func(x float64) verdict.Summary {
			return summary(x, 1.01*x, 1.02*x, 0.99*x, 0.98*x, 1.03*x, 0.97*x)
		}
		r := verdict.Row{Metrics: map[string]verdict.Summary{"live-B/item": rising(live), "reads/s": rising(reads)}}
		if ratio > 0 {
			r.Comparison = &verdict.Comparison{Ratio: ratio, Low: 0.9 * ratio, High: 1.1 * ratio, Verdict: verdict.Faster}
		}
		return r
	}
	theirs, mine := of(100, 10, 0), of(50, 30, 4)
	theirs.Arm, mine.Arm = experiment.Arm{Name: "client-go"}, experiment.Arm{Name: "mine"}
	stats := verdict.Stats{Components: []verdict.ComponentStats{{Component: "indexer", Cases: []verdict.CaseStats{{Name: "op=x", Baseline: "client-go", Rows: []verdict.Row{theirs, mine}}}}}}
	for _, x := range []struct {
		target
		ratio float64
		judge string
	}{
		{target{component: "indexer", name: "op=x", variant: "mine", atLeast: 3.5}, 4, "reached"},
		{target{component: "indexer", name: "op=x", variant: "mine", atLeast: 3.9}, 4, "reached, not shown"},
		{target{component: "indexer", name: "op=x", variant: "mine", atLeast: 4.2}, 4, "not shown"},
		{target{component: "indexer", name: "op=x", variant: "mine", atLeast: 4.5}, 4, "missed"},
		{target{component: "indexer", name: "op=x", variant: "mine", unit: "live-B/item", atLeast: 2}, 2, "reached"},
		{target{component: "indexer", name: "op=x", variant: "mine", unit: "reads/s", more: true, atLeast: 3}, 3, "reached"},
		{target{component: "indexer", name: "op=x", variant: "theirs", atLeast: 1}, 0, "not measured"},
		{target{component: "indexer", name: "op=y", variant: "mine", atLeast: 1}, 0, "not measured"},
		{target{component: "queue", name: "op=x", variant: "mine", atLeast: 1}, 0, "not measured"},
	} {
		got := x.measure(experiment.Run{}, stats)
		assert.InDelta(t, x.ratio, got.Ratio, 1e-9, "%+v", x.target)
		if x.unit != "" { // both sides differ by the same in each round, or by rounding
			got.Low = got.Ratio
			x.atLeast -= 1e-9
		}
		assert.Equal(t, x.judge, x.target.judge(got), "%+v", x.target)
	}
}

func TestWriteResults(t *testing.T) {
	run, stats := fixture(1)
	dir := filepath.Join(t.TempDir(), "results")
	names, err := WriteResults(dir, "", []experiment.Run{run, {Command: []string{"again"}}}, stats)
	require.NoError(t, err)
	assert.Equal(t, []string{"delaying-queue.md", "delta-fifo.md", "headlines.md", "indexer.md", "queue.md", "slower.md"}, names)
	page, err := os.ReadFile(filepath.Join(dir, "queue.md"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "| Command | benchrun again |", "each run is named")
	for _, want := range []string{
		"| **sharded** | how sharded works and what it costs | fifo-order |", // what it relaxes
		`| \~ |`, // nulls are shown
		"AMD EPYC 7B13", "go1.26.0", "2026-11-20 20:15:00 UTC", "benchrun run --profile quick --seed 42", "v0.37.2",
	} {
		assert.Contains(t, string(page), want)
	}
	for _, m := range madeUp[0].cases {
		assert.Equal(t, 1, strings.Count(string(page), "`"+m+"`"), m)
	}
	assert.NotContains(t, string(page), "-again")
}

// An ablation's arms lack something: what the others take longer is its gain.
func TestTechniquesPage(t *testing.T) {
	run, _ := fixture(1)
	run.Plan.Profile = experiment.Ablation
	arm := func(name string, ratio float64, v verdict.Verdict) verdict.Row {
		return verdict.Row{Arm: experiment.Arm{Name: experiment.Without + name, Summary: "saves | time"}, Comparison: &verdict.Comparison{Ratio: ratio, Low: 0.9 * ratio, High: 1.1 * ratio, Verdict: v}}
	}
	stats := verdict.Stats{Components: []verdict.ComponentStats{{Component: "queue", Cases: []verdict.CaseStats{
		{Name: "op=a/of=ring", Unit: "cpu-sec/op", Rows: []verdict.Row{{Arm: experiment.Arm{Name: "as-it-is"}}, arm("links", 0.5, verdict.Slower), arm("hashes", 1.25, verdict.Faster)}},
		{Name: "op=b/of=ring", Unit: "queue-wait-p50-sec", Rows: []verdict.Row{{Arm: experiment.Arm{Name: "as-it-is"}}, arm("links", 0.8, verdict.Same)}},
	}}}}
	page := string(techniquesPage(run, stats))
	for _, want := range []string{
		"## queue/ring",
		`| **links**: saves \| time | op=a, CPU time | 2.00× | 1.82 to 2.22× | 0% | – | gain |`,
		`|  | op=b, queue-wait-p50 | 1.25× | 1.14 to 1.39× | 0% | – | \~ |`,
		"| op=a, CPU time | 0.80× | 0.73 to 0.89× | 0% | – | loss |",
		"AMD EPYC 7B13",
	} {
		assert.Contains(t, page, want)
	}
}

func TestPeersAheadAreListed(t *testing.T) {
	row := func(name string, peer bool, ratio float64, relaxes ...string) verdict.Row {
		return verdict.Row{Arm: experiment.Arm{Name: name, Peer: peer, Relaxes: relaxes}, Comparison: &verdict.Comparison{Ratio: ratio, Verdict: verdict.Faster}}
	}
	of := func(rows ...verdict.Row) string {
		var lines []string
		rows = append(rows, verdict.Row{Arm: experiment.Arm{Name: "client-go", Peer: true}})
		writeAhead(verdict.ComponentStats{Cases: []verdict.CaseStats{{Name: "op=x", Unit: "sec/op", Rows: rows}}}, func(format string, args ...any) {
			lines = append(lines, fmt.Sprintf(format, args...))
		})
		return strings.Join(lines, "\n")
	}
	assert.Empty(t, of(row("ring", false, 2)), "the baseline is no peer beside itself")
	assert.Contains(t, of(row("ring", false, 2), row("other", true, 1.9)), "No peer does better than the best of ours in 1 case.")
	failed := row("failed", true, 9)
	failed.Comparison.Verdict = verdict.NoResult
	page := of(row("other", true, 3, "one-moment"), failed, row("ring", false, 2), row("slice", false, 1))
	assert.Contains(t, page, "| `op=x`, time | other | 3.00× | ring, 2.00× | one-moment |")
	assert.NotContains(t, page, "failed")
}

// Releases have a column each, in the order in which they were given.
func TestReleasesPage(t *testing.T) {
	run, _ := fixture(1)
	arms := []experiment.Arm{{Name: "v0.36.0"}, {Name: "v0.36.2"}, {Name: "v0.36.1"}, {Name: "v0.36.0-again", Control: true}}
	run.Versions = map[string]string{"k8s.io/client-go": "v0.36.0, v0.36.2, v0.36.1"}
	run.Plan.Profile, run.Plan.Cases = experiment.Releases, []experiment.PlannedCase{{Baseline: "v0.36.0", Arms: arms}}
	stats := verdict.Stats{Decision: "One is the same. The other is slower.", Components: []verdict.ComponentStats{{Component: "queue", Cases: []verdict.CaseStats{{
		Name: "op=a", Unit: "sec/op", NoiseFloor: 0.03, Rows: []verdict.Row{
			{Arm: arms[0]},
			{Arm: arms[2], Comparison: &verdict.Comparison{Ratio: 1.01, Low: 0.98, High: 1.04, Verdict: verdict.Same}},
			{Arm: arms[1], Comparison: &verdict.Comparison{Ratio: 0.5, Low: 0.4, High: 0.6, Verdict: verdict.Slower}},
		},
	}, {Name: "op=b", Unit: "sec/op", Rows: []verdict.Row{{Arm: arms[2], Comparison: &verdict.Comparison{Verdict: verdict.NoResult}}}}}}}}
	page := string(releasesPage(run, stats))
	for _, want := range []string{
		"# Releases of client-go compared with v0.36.0\n",
		"- One is the same.\n- The other is slower.\n",
		"| case | v0.36.2 | v0.36.1 | noise floor |",
		"| `queue/op=a`, time | **0.50×, 0.40 to 0.60×** | 1.01×, 0.98 to 1.04× | 3% |",
		"| `queue/op=b`, time | – | – | 0% |",
		"AMD EPYC 7B13",
	} {
		assert.Contains(t, page, want)
	}
}

func TestSlowerIsListed(t *testing.T) {
	row := func(name string, ratio float64, v verdict.Verdict) verdict.Row {
		return verdict.Row{Arm: experiment.Arm{Name: name}, Comparison: &verdict.Comparison{Ratio: ratio, Low: ratio - 0.02, High: ratio + 0.02, Verdict: v}}
	}
	of := func(rows ...verdict.Row) string {
		stats := verdict.Stats{Components: []verdict.ComponentStats{{Component: "queue", Cases: []verdict.CaseStats{{Name: "op=x", Unit: "sec/op", Rows: rows}}}}}
		return string(slowerPage(nil, stats))
	}
	control := row("client-go again", 0.5, verdict.Slower)
	control.Control = true
	assert.Contains(t, of(row("ring", 0.96, verdict.Same), control, row("bare", 0, verdict.NoResult)), "No variant is below 0.95× of upstream in 1 case.")
	page := of(row("ring", 0.94, verdict.Same), row("compact", 0.5, verdict.Slower), row("sharded", 2, verdict.Faster))
	assert.Contains(t, page, "| `queue/op=x`, time | ring | 0.94× | 0.92 to 0.96× | \\~ |")
	assert.Contains(t, page, "| compact | 0.50× | 0.48 to 0.52× | slower |")
	assert.NotContains(t, page, "sharded")
}
