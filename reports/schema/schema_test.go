package schema

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/reports"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const raw = `# round 0 of queue/op=x
BenchmarkQueue/op=x/impl=client-go-2	10	100 ns/op	16 B/op
BenchmarkQueue/op=x/impl=ring-2	10	50 ns/op	0 B/op
BenchmarkQueue/op=x/impl=client-go-again-2	10	101 ns/op	16 B/op
BenchmarkQueue/op=x/impl=null-sink-2	10	9 ns/op	0 B/op
`

// everyField has no zero value, so that no field is left out of its JSON.
func everyField() experiment.Run {
	return experiment.Run{
		Schema: experiment.SchemaVersion, Started: time.Now(), Finished: time.Now(), Stopped: "budget", Command: []string{"run"},
		Plan: experiment.Plan{Profile: "quick", Workload: "steady", Trace: "pods.json", Seed: 1 << 63, Budget: time.Minute, Profiling: time.Second,
			Precision: 0.05, Confidence: 0.95, MinRounds: 6, MaxRounds: 9, SampleTime: time.Second, Timeout: time.Minute, Shard: "2/5",
			Cases: []experiment.PlannedCase{{Component: "queue", Name: "op=x", Summary: "a case", Unit: "sec/op", Baseline: "client-go", LoadRounds: 5, Arms: []experiment.Arm{
				{Name: "client-go", Variant: "client-go", Summary: "upstream's", Peer: true},
				{Name: "ring", Variant: "ring", Summary: "ours", Relaxes: []string{"order"}},
				{Name: "client-go-again", Variant: "client-go", Summary: "upstream's", Peer: true, Control: true},
			}}}},
		Environment: experiment.Environment{Go: "go1.26", OS: "linux", Arch: "amd64", CPU: "a cpu", Cores: 2, GOMAXPROCS: 2, Memory: 1 << 33, Kernel: "6"},
		Machines: []experiment.Machine{{Shard: "2/5", Environment: experiment.Environment{Go: "go1.26", OS: "linux", Arch: "amd64", CPU: "a cpu", Cores: 2, GOMAXPROCS: 2, Memory: 1 << 33, Kernel: "6"},
			Started: time.Now(), Finished: time.Now(), Stopped: "budget", Cases: []string{"queue/op=x"}}},
		Versions: map[string]string{"k8s.io/client-go": "v0.37.2"},
		Schedule: []experiment.Sample{{Round: 0, Case: "queue/op=x", Arm: "broken", Took: time.Second, Failure: "timed out", Forgiven: true}},
		Warnings: []experiment.Warning{{Scope: "run", Text: "a doubt"}},
	}
}

// write gives the run.json and stats.json that a run leaves.
func write(t *testing.T) (run, stats []byte) {
	t.Helper()
	dir := t.TempDir()
	run, err := json.Marshal(everyField())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), run, 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "raw.txt"), []byte(raw), 0o666))
	loaded, samples, err := experiment.Load(dir)
	require.NoError(t, err)
	require.NoError(t, verdict.Write(dir, verdict.Analyse(loaded, samples)))
	stats, err = os.ReadFile(filepath.Join(dir, "stats.json"))
	require.NoError(t, err)
	return run, stats
}

func check(t *testing.T, name string, document []byte) []string {
	t.Helper()
	schema, ok := Get(name)
	require.True(t, ok)
	problems, err := validate(schema, document)
	require.NoError(t, err)
	return problems
}

func TestWrittenFilesFollowTheirSchema(t *testing.T) {
	run, stats := write(t)
	assert.Empty(t, check(t, "run", run), "describe new fields in run.schema.json")
	assert.Empty(t, check(t, "stats", stats), "describe new fields in stats.schema.json")
	var rows struct {
		Components []struct {
			Cases []struct {
				Load map[string]any
				Rows []map[string]any
			}
		}
	}
	require.NoError(t, json.Unmarshal(stats, &rows))
	assert.Len(t, rows.Components[0].Cases[0].Rows, 3)
	assert.NotEmpty(t, rows.Components[0].Cases[0].Load)

	empty, err := json.Marshal(experiment.Run{Schema: experiment.SchemaVersion, Plan: experiment.Plan{Confidence: 0.95}})
	require.NoError(t, err)
	assert.Empty(t, check(t, "run", empty), "a run that has just begun")
}

// Every line of stats.csv is an object of its schema, and its columns are the
// schema's properties in their order.
func TestWrittenCSVFollowsItsSchema(t *testing.T) {
	dir := t.TempDir()
	run, _ := write(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), run, 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "raw.txt"), []byte(raw), 0o666))
	loaded, samples, err := experiment.Load(dir)
	require.NoError(t, err)
	require.NoError(t, reports.Write(dir, loaded, verdict.Analyse(loaded, samples)))
	f, err := os.Open(filepath.Join(dir, "stats.csv"))
	require.NoError(t, err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 1+3*2, "three arms, two units")

	var described struct {
		Required   []string
		Properties map[string]struct{ Type any }
	}
	text, _ := Get("csv")
	require.NoError(t, json.Unmarshal(text, &described))
	require.Equal(t, described.Required, lines[0])
	for _, line := range lines[1:] {
		object := map[string]any{}
		for i, field := range line {
			object[lines[0][i]] = field
			if kind := described.Properties[lines[0][i]].Type; kind != nil && kind != "string" {
				var value any
				require.NoError(t, json.Unmarshal([]byte(cmp.Or(field, "null")), &value), "%s: %q", lines[0][i], field)
				object[lines[0][i]] = value
			}
		}
		document, err := json.Marshal(object)
		require.NoError(t, err)
		assert.Empty(t, check(t, "csv", document))
	}
}

func TestSampleReportFollowsItsSchema(t *testing.T) {
	for _, name := range []string{"run", "stats"} {
		b, err := os.ReadFile(filepath.Join("..", "sample", name+".json"))
		if errors.Is(err, os.ErrNotExist) {
			t.Skip("there is no sample report")
		}
		require.NoError(t, err)
		assert.Empty(t, check(t, name, b))
	}
}

func TestSchemaRefuses(t *testing.T) {
	run, stats := write(t)
	for _, c := range []struct{ name, old, new, want string }{
		{"run", `"schema":1`, `"schema":2`, "$.schema: found 2, expected 1"},
		{"run", `"stopped":"budget"`, `"stopped":"bored"`, "$.stopped: found bored"},
		{"run", `"confidence":0.95`, `"confidence":1`, "$.plan.confidence: found 1, expected less than 1"},
		{"run", `"cores":2`, `"cores":-2`, "$.environment.cores: found -2, expected at least 0"},
		{"run", `"cores":2`, `"cores":2.5`, "$.environment.cores: found float64, expected integer"},
		{"run", `"component":"queue",`, ``, "$.plan.cases[0]: component is missing"},
		{"run", `"scope":"run"`, `"scope":""`, "$.warnings[0].scope"},
		{"run", `"v0.37.2"`, `37`, "$.versions.k8s.io/client-go: found float64"},
		{"stats", `"verdict": "too few samples"`, `"verdict": "better"`, "comparison.verdict: found better"},
		{"stats", `"pPaired": 1`, `"pPaired": 2`, "pPaired: found 2, expected at most 1"},
		{"stats", `"center": `, `"centre": `, "center is missing"},
	} {
		document := map[string][]byte{"run": run, "stats": stats}[c.name]
		changed := strings.Replace(string(document), c.old, c.new, 1)
		require.NotEqual(t, string(document), changed, c.old)
		assert.Contains(t, strings.Join(check(t, c.name, []byte(changed)), "\n"), c.want)
	}
	_, ok := Get("../run")
	assert.False(t, ok)
}
