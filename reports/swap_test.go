package reports

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/swap"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// swapFixture is what a swap of eight rounds leaves: the library's arm takes a tenth less
// CPU time.
func swapFixture(t *testing.T) (dir string, run experiment.Run, stats verdict.Stats) {
	t.Helper()
	dir = t.TempDir()
	summary, err := json.Marshal(swap.Summary{
		Schema: experiment.SchemaVersion, Program: "example.com/cmd/manager", Load: "make | e2e", Layout: []string{"a copy of go.mod"},
		Share: swap.Share{Direct: 0.15, Collector: 0.1, Allocated: 0.2, Bound: 0.17}, Ends: "all rounds of all arms end in the same state", Alike: true,
		Coverage: []swap.Coverage{{Arm: "library", Constructor: "NewQueue", Made: 2, Swapped: 1, Adds: 100, SwappedAdds: 60, Traffic: 1}},
		Queues:   []swap.QueueWait{{Queue: "pods (string)", Arm: "library", Adds: 60, P50: 8 * time.Microsecond, P99: time.Millisecond, Work: 2 * time.Second}},
		Unnamed:  []swap.Unnamed{{Type: "keys.local", Why: "it is declared in a function"}},
		Metrics:  map[string][]string{"library": {"lacks workqueue_depth"}, "queues": {}},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, swap.SummaryFile), summary, 0o666))
	run, _ = fixture(1)
	run.Plan.Profile = experiment.Swap
	arms := []experiment.Arm{{Name: "client-go", Variant: "client-go", Peer: true}, {Name: "library", Variant: "library"}, {Name: "client-go-again", Variant: "client-go", Control: true}}
	run.Plan.Cases = []experiment.PlannedCase{{Component: swap.Component, Name: "program=manager", Unit: swap.Unit, Baseline: "client-go", Arms: arms}}
	run.Schedule = nil
	var samples []experiment.Measurement
	for round := range 8 {
		for i, cpu := range []float64{10, 9, 10.01} {
			cpu *= 1 + 0.001*float64(round*(i+1)%5)
			samples = append(samples, experiment.Measurement{Round: round, Case: "swap/program=manager", Arm: arms[i].Name, Values: experiment.NewValues(map[string]float64{swap.Unit: cpu, "collections/op": 0})})
		}
	}
	return dir, run, verdict.Analyse(run, samples)
}

// The pages of a swap say what the program gains in CPU time and could gain at most, what
// was swapped, who waited how long and what is in doubt.
func TestSwapPages(t *testing.T) {
	dir, run, stats := swapFixture(t)
	assert.Regexp(t, `^manager takes 10(\.\d)?% less CPU time with library than with client-go \(`, stats.Decision)
	require.NoError(t, Write(dir, run, stats))
	to := t.TempDir()
	names, err := WriteResults(to, dir, []experiment.Run{run}, stats)
	require.NoError(t, err)
	require.Equal(t, []string{"swap-manager.md"}, names)
	for _, file := range []string{filepath.Join(dir, "report.md"), filepath.Join(dir, "report.html"), filepath.Join(to, names[0])} {
		page, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, want := range []string{
			"Queues and caches are 17% of the program", "NewQueue", "pods (string)", "8µs", "1ms", "2s", "all rounds of all arms end in the same state",
			"keys.local are swapped with their keys as any", "a copy of go.mod", "the same names",
		} {
			assert.True(t, strings.Contains(string(page), want), "%s lacks %q", file, want)
		}
	}
	page, err := os.ReadFile(filepath.Join(to, names[0]))
	require.NoError(t, err)
	assert.Contains(t, string(page), `make \| e2e`, "what Markdown would act on")
	assert.Regexp(t, `\| CPU time, s/op \| 10.0\d* .*\| 9.0\d* .*\| 0.90 \(0.90 to 0.90\) \|`, string(page))
	assert.Contains(t, string(page), "AMD EPYC 7B13")

	require.NoError(t, os.Remove(filepath.Join(dir, swap.SummaryFile)))
	_, err = WriteResults(to, dir, []experiment.Run{run}, stats)
	assert.ErrorContains(t, err, "has no swap.json: the swap did not come to its end")
	require.NoError(t, os.WriteFile(filepath.Join(dir, swap.SummaryFile), []byte("{"), 0o666))
	require.NoError(t, Write(dir, run, stats), "a report without what can't be read")
	text, err := os.ReadFile(filepath.Join(dir, "report.md"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "not shown: swap.json")
}

// Where no difference is shown, the sentence says between what the truth lies.
func TestSwapWithoutDifference(t *testing.T) {
	_, run, stats := swapFixture(t)
	c := &stats.Components[0].Cases[0]
	require.Equal(t, verdict.Faster, c.Rows[1].Comparison.Verdict)
	var samples []experiment.Measurement
	for round := range 8 {
		for _, arm := range run.Plan.Cases[0].Arms {
			cpu := 10 + float64((round*7+len(arm.Name))%5)
			samples = append(samples, experiment.Measurement{Round: round, Case: "swap/program=manager", Arm: arm.Name, Values: experiment.NewValues(map[string]float64{swap.Unit: cpu})})
		}
	}
	assert.Regexp(t, `^manager: no difference in CPU time was shown beyond noise and chance between library and client-go \(.* (more|less) to .* (more|less); noise floor `, verdict.Analyse(run, samples).Decision)
	assert.Equal(t, "manager: there are too few rounds to compare library with client-go.", verdict.Analyse(run, samples[:6]).Decision)
}
