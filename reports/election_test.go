package reports

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/lease"
	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/informerbench/informerbench/loadgen/sim/failover"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// elected is an advice whose crashes are told of both settings, clean ends of the
// current ones alone.
func elected() lease.Advice {
	latency, _ := randvar.Parse("exp(5ms)")
	config := failover.Config{Settings: failover.Defaults, Candidates: 3, Runs: 100, Seed: 7, Latency: latency}
	result := func(scenario failover.Scenario, longest time.Duration) failover.Result {
		r := failover.Result{Config: config}
		r.Config.Scenario = scenario
		var h durations.Histogram
		for i := range 100 {
			h.Record(longest * time.Duration(i+1) / 100)
		}
		r.Failover = h.Distribution()
		return r
	}
	shorter := failover.Settings{LeaseDuration: 8 * time.Second, RenewDeadline: 5300 * time.Millisecond, RetryPeriod: time.Second}
	return lease.Advice{
		Schema: lease.SchemaVersion, Elector: "<b>mine</b>", Stopped: "interrupted", Recommended: shorter,
		Problem: lease.Problem{Current: failover.Defaults, World: config, Objectives: lease.Objectives{Failover: 10 * time.Second, Calls: 2, Skew: 1.5}},
		Choices: []lease.Choice{{Settings: shorter, Failover: 9 * time.Second, Calls: 1.6, Outage: 4300 * time.Millisecond}},
		Before:  []failover.Result{result(failover.Release, 4*time.Second), result(failover.Crash, 20*time.Second)},
		After:   []failover.Result{result(failover.Crash, 9*time.Second)},
	}
}

func TestWriteElection(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, WriteElection(dir, elected()))
	md, err := os.ReadFile(filepath.Join(dir, "election.md"))
	require.NoError(t, err)
	assert.Contains(t, string(md), "| failover after a crash | 10.0 / 19.8 / 20.0 s | 4.5 / 8.9 / 9.0 s |")
	assert.Contains(t, string(md), "| failover after a clean end | 2.0 / 4.0 / 4.0 s | - |")
	assert.Contains(t, string(md), "--leader-elect-renew-deadline=5.3s\n")
	html, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	assert.NotContains(t, string(html), "<b>mine</b>")
	assert.Contains(t, string(html), "another leads within 9.0 s in 99 of 100 cases, for 1.6 API calls a second, and a leader survives an API outage of 4.3s")
	assert.Contains(t, string(html), "the best of what was tried")
	assert.Less(t, len(html), maxPageBytes)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 3, "no temporary file is left")
	assert.ErrorContains(t, WriteElection(filepath.Join(dir, "none"), elected()), "directory of the report")
}

func TestElectionPageInBrowser(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, WriteElection(dir, elected()))
	ctx, complaints := openTab(t, filepath.Join(dir, "report.html"))
	lines := func(i string) []string {
		return eval[[]string](t, ctx, `echarts.getInstanceByDom(document.querySelectorAll(".chart")[`+i+`]).getOption().series.filter(s => s.type === "line").map(s => s.name + " " + s.data.length)`)
	}
	assert.Equal(t, 2, eval[int](t, ctx, `document.querySelectorAll(".chart").length`), "of the scenarios that were simulated")
	assert.Equal(t, []string{"current 21", "recommended 21"}, lines("0"))
	assert.Equal(t, []string{"current 21"}, lines("1"))
	assert.Equal(t, "20.00", eval[string](t, ctx, `document.querySelector("#times tbody tr td:last-child").textContent`))
	assert.True(t, eval[bool](t, ctx, `document.documentElement.scrollWidth <= innerWidth`), "nothing is wider than the page")
	assert.Empty(t, complaints())
}
