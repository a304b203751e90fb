package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/impl"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary play benchrun's child processes and, for
// scripts, benchrun compare.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "sample" || os.Args[1] == "drive-sample" || os.Args[1] == "pace" || os.Args[1] == "elections" || os.Args[1] == "memory-sample" || os.Args[1] == "clauses" || os.Args[1] == "compare") {
		os.Exit(testSuite().Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// testSuite has a component whose variants cost nothing, panic and hang.
func testSuite() Suite {
	about := []impl.Variant[any]{
		{Name: "fast", Summary: "does half"}, {Name: "loose", Summary: "does less", Relaxes: []string{"order"}},
		{Name: "broken", Summary: "panics"}, {Name: "wrong", Summary: "loses items"}, {Name: "client-go", Peer: true, Summary: "does all"},
	}
	names := []string{"fast", "loose", "broken", "wrong", "client-go"}
	work := func(b *testing.B, variant string) {
		n := map[string]int{"fast": 300, "loose": 100, "client-go": 3000}[variant]
		x := 1.0
		for b.Loop() {
			for range n {
				x = math.Sqrt(x + 1)
			}
		}
		switch variant {
		case "broken":
			panic(longWords("a bug in a variant"))
		case "wrong":
			b.Fatal("2 items were lost")
		}
	}
	return Suite{
		timeout: time.Hour, // no variant hangs, but a machine with other work may stand still for minutes
		Cases: func(o bench.Options) ([]bench.Case, error) {
			return []bench.Case{
				{Component: "queue", Name: "op=cycle", Summary: "a cycle", Unit: "sec/op", Quick: true, Variants: names, About: about, Baseline: "client-go", Run: work},
				{Component: "queue", Name: "op=backlog/n=10k", Summary: "a backlog", Unit: "sec/op", Variants: names, About: about, Baseline: "client-go", Run: work},
			}, nil
		},
		Check: func(o bench.Options) error {
			if o.Trace == "bad" {
				return fmt.Errorf("bad:3: invalid JSON")
			}
			return nil
		},
		Workloads: func() [][2]string { return [][2]string{{"steady", "a quiet cluster"}} },
		Conformance: func() []testing.InternalTest {
			return []testing.InternalTest{
				{Name: "queue/good", F: func(t *testing.T) {
					t.Run("fifo", func(t *testing.T) {})
					t.Run("drain", func(t *testing.T) { t.Skip("relaxed") })
				}},
				{Name: "queue/bad", F: func(t *testing.T) {
					t.Run("fifo", func(t *testing.T) {})
					t.Run("re-queue", func(t *testing.T) { t.Error("an item added while processed was lost") })
				}},
				{Name: "queue/hangs", F: func(t *testing.T) {
					t.Run("fifo", func(t *testing.T) {})
					t.Run("shutdown", func(t *testing.T) { <-t.Context().Done(); <-make(chan int, 1) })
				}},
			}
		},
		Report: func(dir string, _ experiment.Run, stats verdict.Stats) error {
			return os.WriteFile(filepath.Join(dir, "report.html"), []byte(stats.Decision), 0o666)
		},
	}
}

// longWords is an error that takes a while to tell: long enough for a process
// that panics with it to print what it should not.
type longWords string

func (w longWords) Error() string {
	x := 1.0
	for range 20_000_000 {
		x = math.Sqrt(x + 1)
	}
	return strings.TrimSuffix(string(w), fmt.Sprint(x))
}

func benchrun(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return benchrunWith(t.Context(), args...)
}

func benchrunWith(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	return testSuite().printed(ctx, args...)
}

// printed runs a command line and returns what it prints.
func (s Suite) printed(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, err strings.Builder
	code = s.Main(ctx, args, &out, &err)
	return code, out.String(), err.String()
}

func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "result")
	code, stdout, stderr := benchrun(t, "run", "--rounds", "8", "--seed", "5", "--out", dir)
	require.Equal(t, 0, code, stderr)
	assert.Contains(t, stdout, "Use fast: ")
	assert.Contains(t, stdout, "COMPONENT   VARIANT")
	assert.Contains(t, stdout, "Report: "+filepath.Join(dir, "report.html"))
	assert.Contains(t, stderr, "seed 5")

	run, samples, err := experiment.Load(dir)
	require.NoError(t, err)
	assert.Len(t, samples, 8*4, "of the baseline, its control and two variants that work")
	assert.Equal(t, []string{"run", "--out=" + dir, "--rounds=8"}, run.Command[:3])
	warnings := fmt.Sprint(run.Warnings)
	assert.Contains(t, warnings, "queue/op=cycle/broken sample 1 failed, so there is no result: exit status 2: panic: a bug in a variant")
	assert.Contains(t, warnings, "2 items were lost")

	var stats verdict.Stats
	b, err := os.ReadFile(filepath.Join(dir, "stats.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &stats))
	assert.Contains(t, stats.Components[0].Decision, "loose is ")
	assert.Contains(t, stats.Components[0].Decision, "but relaxes order")
	for _, kind := range []string{"cpu", "heap", "mutex", "block"} {
		assert.FileExists(t, filepath.Join(dir, "profiles", "queue_op=cycle", "fast", kind+".pb.gz"))
	}

	t.Run("report", func(t *testing.T) {
		code, again, stderr := benchrun(t, "report", dir)
		require.Equal(t, 0, code, stderr)
		assert.Equal(t, stdout, again)
		code, csv, _ := benchrun(t, "report", dir, "-o", "csv")
		assert.Zero(t, code)
		assert.True(t, strings.HasPrefix(csv, "component,variant,ratio,"))
	})
	t.Run("compare", func(t *testing.T) {
		code, stdout, stderr := benchrun(t, "compare", dir, filepath.Join(dir, "raw.txt"), "--fail-on", "time>0,allocs>0")
		require.Equal(t, 0, code, stderr)
		assert.Contains(t, stdout, "Queue/op=cycle/impl=fast")

		slower := filepath.Join(t.TempDir(), "slower.txt")
		raw, err := os.ReadFile(filepath.Join(dir, "raw.txt"))
		require.NoError(t, err)
		swapped := strings.NewReplacer("impl=fast", "impl=client-go", "impl=client-go-again", "impl=x", "impl=client-go", "impl=fast").Replace(string(raw))
		require.NoError(t, os.WriteFile(slower, []byte(swapped), 0o666))
		code, _, stderr = benchrun(t, "compare", dir, slower, "--fail-on", "time>50%")
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, "failed: BenchmarkQueue/op=cycle/impl=fast")
		assert.Contains(t, stderr, "the limit is time>50%")
	})
}

// An arm that failed has no ratio, so that none is as precise as wanted.
func TestRunOfAnArmThatFails(t *testing.T) {
	code, stdout, stderr := benchrun(t, "run", "--variant", "broken", "--out", filepath.Join(t.TempDir(), "result"))
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "Sampling ended because every ratio is as precise as wanted, where samples did not fail. ")
}

// A disk that is full at the end does not keep the decision from the screen.
func TestRunWithoutReport(t *testing.T) {
	s := testSuite()
	s.Report = func(string, experiment.Run, verdict.Stats) error { return errors.New("no space left") }
	var stdout, stderr bytes.Buffer
	code := s.Main(t.Context(), []string{"run", "--rounds", "1", "--out", filepath.Join(t.TempDir(), "result")}, &stdout, &stderr)
	assert.Equal(t, 2, code)
	assert.Contains(t, stdout.String(), "COMPONENT   VARIANT")
	assert.NotContains(t, stdout.String(), "report.html")
	assert.Contains(t, stderr.String(), "error: no space left")
}

// Nor does one that is full earlier take the samples along: here a directory
// stands where the record of the run is to be written at its end.
func TestRunWithoutRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "result")
	s := testSuite()
	ctx, cancel := context.WithCancel(t.Context())
	blocked := make(chan struct{})
	go func() {
		defer close(blocked)
		for ctx.Err() == nil {
			if b, _ := os.ReadFile(filepath.Join(dir, "raw.txt")); bytes.Contains(b, []byte("ns/op")) {
				_ = os.Remove(filepath.Join(dir, "run.json"))
				_ = os.MkdirAll(filepath.Join(dir, "run.json", "x"), 0o777)
				return
			}
		}
	}()
	var stdout, stderr bytes.Buffer
	code := s.Main(ctx, []string{"run", "--rounds", "1", "--out", dir}, &stdout, &stderr)
	cancel()
	<-blocked
	assert.Equal(t, 2, code)
	assert.Contains(t, stdout.String(), "COMPONENT   VARIANT")
	assert.Regexp(t, `error: .*result: .*run.json is a directory, expected a file`, stderr.String())
}

func TestRunInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "result")
	ctx, cancel := context.WithCancel(t.Context())
	s := testSuite()
	var out bytes.Buffer
	// The first progress line comes with the first sample, later ones with time:
	// cancel when raw.txt holds a sample.
	watch := make(chan struct{})
	go func() {
		defer close(watch)
		for ctx.Err() == nil {
			if b, _ := os.ReadFile(filepath.Join(dir, "raw.txt")); bytes.Contains(b, []byte("ns/op")) {
				cancel()
			}
		}
	}()
	code := s.Main(ctx, []string{"run", "--rounds", "1000", "--out", dir}, &out, &bytes.Buffer{})
	cancel()
	<-watch
	assert.Zero(t, code)
	assert.Contains(t, out.String(), "Sampling ended because it was interrupted")
	assert.FileExists(t, filepath.Join(dir, "report.html"))

	early := filepath.Join(t.TempDir(), "x")
	code, _, stderr := benchrunWith(ctx, "run", "--out", early)
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "interrupted before the first sample")
	assert.NoDirExists(t, early, "the same command can be tried again")
}

func TestVerify(t *testing.T) {
	code, stdout, stderr := benchrun(t, "verify", "--timeout", "2s")
	assert.Equal(t, 1, code, stderr)
	assert.Regexp(t, `queue +good +pass +1 +0`, stdout)
	assert.Regexp(t, `queue +bad +fail +1 +1 +fail: re-queue: app_test.go:\d+: an item added while processed was lost`, stdout)
	assert.Regexp(t, `queue +hangs +hang +1 +1 +did not end: shutdown: timed out after 2s`, stdout)

	code, stdout, _ = benchrun(t, "verify", "--variant", "good", "-v")
	assert.Zero(t, code)
	assert.Regexp(t, `skip: drain: app_test.go:\d+: relaxed`, stdout)
}

func TestVerifyInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	results, err := verifyAll(ctx, []string{"queue/good", "queue/hangs"}, newProgressLine(io.Discard), func(ctx context.Context, name string) ([]byte, error) {
		if name == "queue/hangs" {
			cancel()
			return nil, ctx.Err()
		}
		return []byte("=== RUN   queue/good\n=== RUN   queue/good/fifo\n--- PASS: queue/good/fifo (0.00s)\n--- PASS: queue/good (0.00s)\n"), nil
	})
	require.EqualError(t, err, "interrupted: 1 of 2 variants verified")
	require.Len(t, results, 1)
	assert.Equal(t, "good", results[0].Variant)
	assert.Equal(t, "pass", results[0].Result)

	code, stdout, stderr := benchrunWith(ctx, "verify")
	assert.Equal(t, 2, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "error: interrupted: 0 of 3 variants verified")
}

func TestBadInput(t *testing.T) {
	full, fresh := t.TempDir(), filepath.Join(t.TempDir(), "fresh")
	require.NoError(t, os.WriteFile(filepath.Join(full, "notes"), nil, 0o666))
	for line, want := range map[string]string{
		"walk":                  `unknown command "walk", expected one of ablation, calibrate, compare, `,
		"help rnu":              `unknown command "rnu", expected one of ablation, calibrate, compare`,
		"help trace nosuch":     `unknown command "nosuch", expected one of anonymize, convert`,
		"completion ksh":        `unknown command "ksh", expected one of bash, fish, powershell, zsh`,
		"run --speed":           "unknown flag: --speed, did you mean --seed? (see benchrun run --help)",
		"run now":               `benchrun run takes no arguments, found "now"`,
		"run --profile slow":    `unknown profile "slow", expected one of quick, full`,
		"run --component cache": `unknown component "cache", expected one of queue`,
		"run --component cache --workload hot-keys": `unknown component "cache", expected one of queue`,
		"run --variant rin":                         `unknown variant "rin", expected one of broken, client-go, fast, loose, wrong`,
		"run --case op=lost":                        `unknown case "op=lost", expected part of one of queue/op=cycle, queue/op=backlog/n=10k`,
		"run --budget soon":                         `invalid argument "soon" for "--budget"`,
		"run --budget 0s":                           "--budget: found 0s, expected more than 0",
		"run --rounds -1":                           "--rounds: found -1, expected more than 0",
		"run --seed -1":                             `--seed: found "-1", expected a whole number of 0 or more (see benchrun run --help)`,
		"run --rounds x":                            `--rounds: found "x", expected a whole number (see`,
		"run --component queue --workload steady":   "expected --component pipeline",
		"run --workload=":                           `--workload: found "", expected a name`,
		"run --trace=":                              `--trace: found "", expected a name`,
		"run --precision 500%":                      `invalid argument "500%" for "--precision" flag: expected a share between 0 and 1, as in 5% or 0.05`,
		"run --rounds 0":                            "--rounds: found 0, expected more than 0",
		"run --budget 1ns --out " + fresh:           "sampling ended because the budget is spent, and no sample succeeded",
		"run --trace bad":                           "bad:3: invalid JSON",
		"run -o xml":                                "expected one of table, json, yaml, csv",
		"run --out " + full:                         "is not empty (it holds notes), expected a new or empty directory",
		"run --out " + full + "/notes/x":            "not a directory",
		"run --cpu 0":                               "--cpu: found 0, expected 1 to 1024",
		"run --cpu 1,2,1":                           "--cpu: found 1 twice, expected different numbers",
		"run --cpu 1,two":                           `--cpu: found "1,two", expected whole numbers, as in 1,2,4`,
		"list nodes":                                `unknown list "nodes", expected one of components, variants, cases, workloads`,
		"report":                                    "benchrun report: found 0 arguments, expected DIR",
		"report " + full:                            "has no run.json, expected a directory that benchrun run wrote",
		"report " + full + "/notes":                 "has no run.json, expected a directory that benchrun run wrote",
		"compare a":                                 "found 1 argument, expected OLD NEW",
		"compare /none /none":                       "no such file or directory",
		"sim rolling-update --oldest-every 2":       "--oldest-every: has no effect without --priority",
		"compare a b --label x":                     "--label: has no effect without --history",
		"compare a b --fail-on speed":               `--fail-on: found "speed", expected METRIC>AMOUNT`,
		"compare a b --fail-on speed>5%":            `--fail-on: unknown metric "speed", expected one of allocs, bytes, cpu, p50, p90, p99, p999, time`,
		"verify --component cache":                  `--component: unknown component "cache", expected one of queue`,
		"verify --variant ring":                     `--variant: unknown variant "ring", expected one of bad, good, hangs`,
		"verify --timeout 0s":                       "--timeout: found 0s, expected more than 0s",
		"sample --case queue/op=x":                  `--case: unknown case "queue/op=x"`,

		"swap":                          "benchrun swap: found 0 arguments, expected one main package, as in ./cmd/manager",
		"swap a b --load x":             "found 2 arguments, expected one main package",
		"swap -- a":                     "found 0 arguments, expected one main package",
		"swap a":                        "--load: found nothing, expected a command that brings the load",
		"swap a --load x --arm all":     `--arm: found "all", expected library, queues, informers or outside`,
		"swap a --load x --stop 0s":     "--stop: found 0s, expected more than 0s",
		"swap a --load x --rounds 0":    "--rounds: found 0, expected more than 0",
		"swap a --load x --out " + full: "--out: " + full + " is not empty (it holds notes)",
		"swap ./none --load x":          "none",
		"swap . --load x":               "found no main package, expected one, as in ./cmd/manager",
		"swap . --load x --library=":    "expected --library with its folder",
		"ablation --out " + full:        "--out: " + full + " is not empty (it holds notes)",
		"ablation --technique haste":    `--technique: unknown technique "haste", expected one of `,
		"ablation --component elector":  "no technique is left by these components and techniques",
		"ablation --source " + full:     "--source: " + full + " is not in a clone of github.com/informerbench/informerbench",
		"results":                       "benchrun results: found 0 arguments, expected at least one DIR",
		"results " + full:               full + " has no run.json",
		"releases client-go@v0.36.3 client-go@v0.37.2 --out " + full: "--out: " + full + " is not empty (it holds notes)",
	} {
		t.Run(line, func(t *testing.T) {
			code, stdout, stderr := benchrun(t, strings.Fields(line)...)
			assert.Equal(t, 2, code)
			assert.Contains(t, stderr, want)
			assert.True(t, strings.HasPrefix(stderr[strings.LastIndex(strings.TrimSpace(stderr), "\n")+1:], "error: "), "one line, the last: %q", stderr)
			assert.Empty(t, stdout)
		})
	}
}

func TestCommandLineRepeatsTheRun(t *testing.T) {
	cmd := testSuite().runCommand()
	require.NoError(t, cmd.ParseFlags([]string{"--variant", "fast,loose", "--case", "n=[0-9]", "--seed", "5", "-o", "json"}))
	assert.Equal(t, []string{"run", "--case=n=[0-9]", "--seed=5", "--variant=fast,loose"}, commandLine(cmd))
}

func TestList(t *testing.T) {
	code, stdout, _ := benchrun(t, "list")
	assert.Zero(t, code)
	assert.Regexp(t, `queue +loose +order +does less`, stdout)
	assert.Regexp(t, `steady +a quiet cluster`, stdout)

	_, stdout, _ = benchrun(t, "list", "cases", "-o", "json")
	var l listing
	require.NoError(t, json.Unmarshal([]byte(stdout), &l))
	assert.Len(t, l.Cases, 2)
	assert.Empty(t, l.Variants)
	_, stdout, _ = benchrun(t, "list", "components", "-o", "yaml")
	assert.Contains(t, stdout, "components:\n- baseline: client-go\n")
}

// Every command's help has an example, and the root's is as in testdata.
func TestHelp(t *testing.T) {
	for _, c := range testSuite().root().Commands() {
		if !c.Hidden {
			assert.NotEmpty(t, c.Example, c.Name())
		}
	}
	for _, args := range [][]string{{"--help"}, {"run", "--help"}, {"compare", "--help"}} {
		code, stdout, _ := benchrun(t, args...)
		assert.Zero(t, code)
		golden := filepath.Join("testdata", strings.Trim(strings.Join(args, ""), "-")+".txt")
		golden = strings.ReplaceAll(golden, "--", "-")
		if os.Getenv("UPDATE_GOLDEN") != "" {
			require.NoError(t, os.WriteFile(golden, []byte(stdout), 0o666))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err, "write it with UPDATE_GOLDEN=1 go test")
		assert.Equal(t, string(want), stdout)
	}
	code, stdout, _ := benchrun(t, "--version")
	assert.Zero(t, code)
	assert.Regexp(t, `^benchrun version \S+, client-go .*, controller-runtime .*, go1\.\S+\n$`, stdout) // a test knows no versions of modules
	code, stdout, _ = benchrun(t, "completion", "bash")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "bash completion")
	_, stdout, _ = benchrun(t, "__complete", "run", "--profile", "")
	assert.Contains(t, stdout, "quick\nfull\n")
	_, stdout, _ = benchrun(t, "__complete", "run", "--workload", "")
	assert.Contains(t, stdout, "hot-keys\n")
}
