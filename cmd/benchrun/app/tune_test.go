package app

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const scrapes = "../../../bench/tune/scrape/testdata/"

func tuneWith(t *testing.T, args ...string) (code int, stdout, stderr, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "tuned")
	code, stdout, stderr = benchrun(t, append([]string{"tune", "--seed", "1", "--out", dir}, args...)...)
	return code, stdout, stderr, dir
}

func TestTuneMetrics(t *testing.T) {
	code, stdout, stderr, dir := tuneWith(t, "--metrics", scrapes+"begin.txt", scrapes+"end.txt", "--interval", "150s", "--queue", "deployment", "--workers", "5", "--qps", "50", "--burst", "100", "--budget", "1ms", "--all")
	require.Equal(t, 2, code)
	assert.Contains(t, stderr, "no advice: the search ended before anything was predicted of deployment; it takes a longer --budget")
	assert.Contains(t, stdout, "begin.txt to end.txt, 2m30s by --interval (seed 1)")
	assert.Regexp(t, `concurrent workers +5 `, stdout)
	assert.NotContains(t, stdout, "testdata", "folders are nobody's business in a report")
	b, err := os.ReadFile(filepath.Join(dir, "tune.json"))
	require.NoError(t, err)
	var r advice.Result
	require.NoError(t, json.Unmarshal(b, &r))
	require.Len(t, r.Queues, 1)
	assert.InEpsilon(t, 1355.0/150, r.Queues[0].Model.AddRate, 1e-6)
	assert.InDelta(t, 0.022, r.Queues[0].Model.Work, 1e-4)
	assert.Equal(t, "given", r.Queues[0].Current.Told["workers"])
	for _, name := range []string{"report.html", "tune.md"} {
		assert.FileExists(t, filepath.Join(dir, name))
	}

	// Where another has written meanwhile nothing is mixed, and the advice is shown.
	var again bytes.Buffer
	cmd := testSuite().tuneCommand()
	cmd.SetOut(&again)
	require.ErrorContains(t, (&tuneCommandLine{dir: reportDir{path: dir}, out: "table"}).publish(cmd, &r), "is not empty")
	assert.Contains(t, again.String(), "2m30s by --interval (seed 1)")
	assert.NotContains(t, again.String(), "report.html")
}

// Each change that is asked for is a column of the table for machines, with
// everything that the settings file has a name for.
func TestTuneWhatIf(t *testing.T) {
	code, stdout, stderr, _ := tuneWith(t, "--workload", "rolling-update", "--service", "50ms", "--what-if", "workers=40", "--what-if", "workers=50, baseDelay=1s", "-o", "csv", "--budget", "0")
	require.Equal(t, 0, code, stderr)
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"why", "what if workers=40", "what if workers=50, baseDelay=1s"}, rows[0][6:])
	waits := map[string][]string{}
	for _, row := range rows[1:] {
		waits[row[1]] = row[7:]
	}
	assert.Equal(t, []string{"", ""}, waits["workers"])
	assert.Regexp(t, "^[0-9.]+m?s", waits["queue wait, p99"][0])
	assert.NotEqual(t, waits["queue wait, p99"][0], waits["queue wait, p99"][1])

	for text, expected := range map[string]string{
		"workers":             `found "workers", expected a setting and its value as in workers=8`,
		"workers=8,":          `found "", expected a setting`,
		"worker=8":            `unknown setting "worker", expected one of baseDelay, batch,`,
		"workers=8,workers=9": `found workers twice`,
		"workers=eight":       "workers: found eight, expected a whole number",
		"workers=~":           "workers: found ~, expected a whole number",
		"baseDelay=5":         "baseDelay: found 5, expected a duration as in 5ms",
		"workers=3.5":         "workers: found 3.5, expected a whole number",
		"qps=9,burst=12.5":    "burst: found 12.5, expected a whole number",
		"workers=-1e99":       "workers: found -1e99, expected a whole number",
		"workers=-.inf":       "workers: found -.inf, expected a whole number",
		"workers=1e99":        "workers: found 1e99, expected a whole number",
		"workers=1000000":     "workers: found 1000000, expected 1 to 100000",
		"workers=0":           "workers: found 0, expected 1 to 100000",
		"workers=-1":          "workers: found -1, expected 1 to 100000",
		"qps=NaN":             "qps: found NaN, expected a number",
		"qps=.nan":            "qps: found NaN, expected 0 to 1000000000",
		"qps=Inf":             "qps: found Inf, expected a number",
		"qps=.inf":            "qps: found +Inf, expected 0 to 1000000000",
		"resync=-5s":          "resync: found -5s, expected 0s to 10000h0m0s",
		"workers=3\nqps: 5":   "workers: found 3\nqps: 5, expected a whole number",
	} {
		_, err := parseWhatIf(text)
		assert.ErrorContains(t, err, expected, text)
	}
	_, err = parseWhatIf("workers=1e1,qps=7.5,bucketRate=0.5")
	assert.NoError(t, err)
}

func TestTuneScrapesURLsTwice(t *testing.T) {
	texts, asked := []string{"begin.txt", "end.txt"}, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := os.ReadFile(scrapes + texts[min(asked, 1)])
		asked++
		_, _ = w.Write(b)
	}))
	defer server.Close()
	code, stdout, stderr, _ := tuneWith(t, "--metrics", server.URL+"/metrics", "--interval", "100ms", "--queue", "garbage_collector_graph_changes", "-o", "json", "--budget", "1ms")
	// What was 150s of work is too much for so short a time, unless the machine takes
	// longer for it than was asked.
	require.Contains(t, []int{0, 2}, code, stderr)
	var r advice.Result
	require.NoError(t, json.Unmarshal([]byte(stdout), &r), stderr)
	assert.Regexp(t, `m?s by the scrapes' timestamps`, r.Source)
	assert.Equal(t, 2, asked)
}

func TestTuneSettingsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(file, []byte("workers: 7\nbaseDelay: 10ms\n"), 0o666))
	code, stdout, stderr, _ := tuneWith(t, "--metrics", scrapes+"begin.txt", scrapes+"end.txt", "--interval", "150s", "--queue", "endpoint", "--settings", file, "--workers", "9", "-o", "json", "--budget", "1ms")
	require.Equal(t, 2, code, stderr)
	var r advice.Result
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	assert.Equal(t, 9, r.Queues[0].Current.Workers, "a flag goes before the file")
	assert.Equal(t, "given", r.Queues[0].Current.Told["baseDelay"])
	assert.Equal(t, "default of kube-controller-manager", r.Queues[0].Current.Told["qps"])
	assert.Equal(t, "budget", r.Stopped)
}

// oneQueue is of a controller that tells nothing of its workers.
const oneQueue = `workqueue_adds_total{name="mine"} 250
workqueue_queue_duration_seconds_bucket{name="mine",le="0.1"} 200
workqueue_queue_duration_seconds_bucket{name="mine",le="+Inf"} 250
workqueue_queue_duration_seconds_sum{name="mine"} 30
workqueue_queue_duration_seconds_count{name="mine"} 250
workqueue_work_duration_seconds_bucket{name="mine",le="0.1"} 200
workqueue_work_duration_seconds_bucket{name="mine",le="+Inf"} 250
workqueue_work_duration_seconds_sum{name="mine"} 25
workqueue_work_duration_seconds_count{name="mine"} 250
`

func TestTuneBadInput(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	both := []string{"--metrics", scrapes + "begin.txt", scrapes + "end.txt", "--interval", "150s"}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing":            {nil, "found no load, expected --metrics, --prometheus, --workload or --trace"},
		"two loads":          {append(both, "--workload", "hot-keys"), "found several loads"},
		"no third scrape":    {append(both, "third.txt"), "third.txt: no such file"},
		"swapped":            {[]string{"--metrics", scrapes + "end.txt", scrapes + "begin.txt", "--interval", "1m"}, "begin and end are swapped"},
		"empty":              {[]string{"--metrics", file(""), file(""), "--interval", "1m"}, "is empty, expected a controller's metrics"},
		"unrelated":          {[]string{"--metrics", file("up 1\n"), "--duration", "1m"}, "found no workqueue_… family"},
		"no interval":        {both[:3], "expected --interval"},
		"one scrape":         {both[:2], "found one scrape"},
		"years":              {append(both[:3:3], "--interval", "100000h"), "error: interval: found 100000h0m0s by --interval, expected at most 9000h0m0s"},
		"negative interval":  {append(both[:3:3], "--interval", "-1s"), "--interval: found -1s"},
		"no file":            {[]string{"--metrics", "/none", "/none", "--interval", "1m"}, "no such file"},
		"unknown queue":      {append(both, "--queue", "x"), `unknown queue "x", expected one of deployment`},
		"objective":          {append(both, "--objective", "fast"), `--objective: objective "fast": found no bound`},
		"workers":            {append(both, "--workers", "0"), "--workers: found 0"},
		"too many keys":      {append(both, "--keys", "2000000000"), "error: --keys: found 2000000000, expected 1 to 10000000 objects"},
		"delay, longest set": {append(both, "--settings", file("maxDelay: 2s\n"), "--base-delay", "3s"), "error: --base-delay: found 3s, expected at most the maximum delay, 2s"},
		"what if":            {append(both, "--what-if", "workers=3.5"), "error: --what-if: workers: found 3.5, expected a whole number"},
		"too many workers":   {append(both, "--workers", "1000000"), "--workers: found 1000000, expected 1 to 100000"},
		"no number":          {append(both, "--qps", "NaN"), "--qps: found NaN, expected 0 to 1000000000"},
		"settings, a part":   {append(both, "--settings", file("qps: 5\nworkers: 3.5\n")), `:2: workers: found 3.5, expected a whole number`},
		"settings, less":     {append(both, "--settings", file("qps: 5\nworkers: 0\n")), `:2: workers: found 0, expected 1 to 100000`},
		"burst":              {append(both, "--qps", "5", "--burst", "0"), "--burst: found 0"},
		"no run":             {append(both, "--run", filepath.Dir(file(""))), "expected a directory that benchrun run wrote"},
		"run without":        {append(both, "--run", "../../../reports/testdata/schema-1"), "found no queue's cost, expected samples of rate-limiting-queue/op=success"},
		"all the workers":    {append(both, "--objective", "max workers 1e9"), `found the bound "1e9", expected a whole number of workers up to 100000`},
		"work that is told":  {append(both, "--service", "5ms"), "--service and --failure are of a workload or recording"},
		"retry burst":        {append(both, "--retry-burst", "0"), "error: --retry-burst: found 0, expected at least 1"},
		"series twice":       {[]string{"--metrics", file("workqueue_adds_total{name=\"a\"} 1\nworkqueue_adds_total{name=\"a\"} 1\n"), "--duration", "1m"}, `workqueue_adds_total{name="a"}: found it twice`},
		"queue variant":      {append(both, "--settings", file("queue: mine\n")), `queue: found "mine", expected one of client-go, heap4, fused`},
		"endless workload":   {[]string{"--workload", file("name: w\nresources: [{name: a, kind: custom, count: 9, events: {pattern: mix, mix: {update: 1}, arrivals: {kind: poisson, rate: 40}}}]\n")}, "no length, expected a count here, or a duration"},
		"endless retries":    {[]string{"--workload", "hot-keys", "--service", "1ms", "--failure", "1"}, "no key would ever be settled"},
		"too many calls":     {[]string{"--workload", "hot-keys", "--calls", "20000"}, "error: --calls: found 20000"},
		"long delay":         {[]string{"--workload", "hot-keys", "--base-delay", "2000s"}, "error: --base-delay: found 33m20s, expected at most the maximum delay, 16m40s"},
		"selector":           {[]string{"--prometheus", "http://localhost:1"}, "--prometheus: expected --selector beside it"},
		"no Prometheus":      {append(both, "--selector", "{}"), "--selector, --range and --http-config are of Prometheus"},
		"an API server":      {[]string{"--metrics", file("apiserver_request_total 1\n"), "--duration", "1m"}, "these are an API server's metrics"},
		"unknown workers":    {[]string{"--metrics", file(oneQueue), "--duration", "100s"}, "error: no advice: mine\n"},
		"short delay":        {[]string{"--workload", "hot-keys", "--max-delay", "1ms"}, "error: --max-delay: found 1ms, expected at least the base delay, 5ms"},
		"client":             {append(both, "--client", "mine"), `--client: found "mine"`},
		"settings of a sort": {append(both, "--settings", file("qps: 5\nworkers: many\n")), `:2: workers: found many, expected a whole number`},
		"settings, a list":   {append(both, "--settings", file("workers:\n- 3\n")), `:2: found a list, expected a whole number`},
		"settings, a word":   {append(both, "--settings", file("many\n")), `:1: found many, expected settings such as workers: 5`},
		"settings, a time":   {append(both, "--settings", file("resync: 5s\nbaseDelay: soon\n")), `:2: baseDelay: found soon, expected a duration as in 5ms`},
		"settings":           {append(both, "--settings", file("workers: 5\nworkres: 6\n")), `:2: unknown field "workres", expected one of baseDelay, `},
		"full directory":     {[]string{"--workload", "hot-keys", "--out", filepath.Dir(file("")), "--service", "1ms"}, "--out: "},
		"two instances": {[]string{"--metrics", file(strings.ReplaceAll(oneQueue, "{", `{pod="a",`)), file(strings.ReplaceAll(oneQueue, "{", `{pod="b",`)), "--interval", "100s"},
			"found one scrape each of 2 instances (a, b), expected two of one and the same"},
		"no time": {[]string{"--metrics", scrapes + "begin.txt", "--since-start"}, "doesn't tell when it was taken: expected --duration"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr, dir := tuneWith(t, c.args...)
			assert.Equal(t, 2, code)
			assert.Contains(t, stderr, c.want)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
			if name != "unknown workers" { // whose report says so
				assert.NoDirExists(t, dir, "nothing is half written")
			}
		})
	}
}

// A workload that is tuned within a second, whatever the machine.
func quickWorkload(t *testing.T) string {
	t.Helper()
	return workloadFile(t, `
name: small
seed: 1
duration: 10s
resources: [{name: a, kind: custom, count: 500, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: poisson, rate: 20}}}]
reconcile: {workers: 3, service: exp(50ms)}
`)
}

// Why there is no advice on a queue is said once, whatever the format.
func TestTuneSaysReasonsOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "two")
	require.NoError(t, os.WriteFile(file, []byte(oneQueue+strings.ReplaceAll(oneQueue, "mine", "yours")), 0o666))
	for format, gap := range map[string]string{"table": ".\n  Record instead", "csv": "; record instead"} {
		code, stdout, stderr, _ := tuneWith(t, "--metrics", file, "--duration", "100s", "-o", format)
		assert.Equal(t, 2, code)
		assert.Equal(t, "error: no advice: mine, yours\n", stderr)
		for _, queue := range []string{"mine", "yours"} {
			assert.Equal(t, 1, strings.Count(stdout, "neither its metrics nor a default say how many workers it has"+gap+": the same scrapes, with --queue "+queue+" "), stdout)
		}
	}
}

// Impossible objectives are reported, and an error.
func TestTuneImpossible(t *testing.T) {
	const reason = "p99 settle < 1us: the nearest possible within the limits is"
	for _, format := range []string{"table", "csv"} {
		code, stdout, stderr, dir := tuneWith(t, "--workload", quickWorkload(t), "--objective", "p99 settle < 1us", "--budget", "0", "-o", format)
		assert.Equal(t, 2, code)
		assert.Equal(t, 1, strings.Count(stdout, reason), stdout)
		assert.Contains(t, stderr, "error: objectives out of reach: small\n")
		assert.FileExists(t, filepath.Join(dir, "report.html"))
	}
}

// Too few workers are, too, for a workload whose load no counter tells.
func TestTuneOverloaded(t *testing.T) {
	code, stdout, stderr, _ := tuneWith(t, "--workload", quickWorkload(t), "--service", "exp(120ms)", "--objective", "max workers 1", "--budget", "0")
	assert.Equal(t, 2, code)
	assert.Regexp(t, `No settings within the limits carry this load: 1 worker: the load is 2\d\d% of what that carries \(workers\), so no setting is stable; the nearest possible is 3 workers`, stdout)
	assert.Contains(t, stderr, "error: objectives out of reach: small\n")
}

// Commands that end in the same second write into directories of their own.
func TestReportsOfOneSecond(t *testing.T) {
	t.Chdir(t.TempDir())
	dirs := make([]string, 8)
	var wg sync.WaitGroup
	for i := range dirs {
		wg.Go(func() {
			l := reportDir{kind: "tune"}
			assert.NoError(t, l.write(func(dir string) error { dirs[i] = dir; return nil }))
		})
	}
	wg.Wait()
	slices.Sort(dirs)
	assert.Len(t, slices.Compact(dirs), 8)
}

// So are those for which the budget didn't suffice, as what they are.
func TestTuneCutOff(t *testing.T) {
	const unmet = "p99 queue wait < 2ms: not reached in the time given; nothing that carries the load was found yet"
	cut := []string{"--metrics", scrapes + "begin.txt", scrapes + "end.txt", "--interval", "150s", "--queue", "replicaset", "--objective", "p99 queue wait < 2ms", "--budget", "1ns"}
	code, stdout, stderr, dir := tuneWith(t, cut...)
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "error: no settings found that keep the objectives: replicaset\n")
	assert.Contains(t, stdout, "Not reached: "+unmet)
	for name, want := range map[string]string{"tune.md": "Not reached in the time given:\n\n- " + unmet, "report.html": "<h3>Not reached in the time given</h3>"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Contains(t, strings.ReplaceAll(string(b), "&lt;", "<"), want, name)
	}

	code, stdout, _, _ = tuneWith(t, append(cut, "-o", "json")...)
	assert.Equal(t, 2, code)
	var r advice.Result
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	assert.Equal(t, "budget", r.Stopped)
	assert.Equal(t, []string{unmet}, r.Queues[0].Unmet)

	code, stdout, _, _ = tuneWith(t, append(cut, "--objective", "p99 settle < 1us")...)
	assert.Equal(t, 2, code)
	assert.Contains(t, stdout, "p99 settle < 1us: not reached in the time given")
	assert.Contains(t, stdout, unmet)
}
