package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rawFile writes ten samples each of a queue, an indexer and a percentile.
func rawFile(t *testing.T, queue, list, p99, reads float64) string {
	t.Helper()
	var s strings.Builder
	for i := range 10 {
		x := 1 + float64(i)/1000
		fmt.Fprintf(&s, "BenchmarkQueue/op=cycle/impl=ring-2\t1\t%g ns/op\t0 allocs/op\n", queue*x)
		fmt.Fprintf(&s, "BenchmarkDeltaFifo/op=list/n=10k/impl=ring-2\t1\t%g ns/op\t%g p99-ns\t50 sched-p99-ns\n", list*x, p99*x)
		fmt.Fprintf(&s, "BenchmarkInformer/op=event/impl=plain-2\t1\t%g ns/op\t%g reads/s\n", 100*x, reads*x)
	}
	path := filepath.Join(t.TempDir(), "raw.txt")
	require.NoError(t, os.WriteFile(path, []byte(s.String()), 0o666))
	return path
}

func TestCompareLimits(t *testing.T) {
	old, changed := rawFile(t, 100, 100, 100, 100), rawFile(t, 110, 130, 150, 80)
	for limits, failed := range map[string][]string{
		"time>5%":                     {"BenchmarkQueue", "BenchmarkDeltaFifo"},
		"time>20%":                    {"BenchmarkDeltaFifo"},
		"time>0.00000002":             {"BenchmarkDeltaFifo"},
		"queue:time>5%":               {"BenchmarkQueue"},
		"delta-fifo : time>5%":        {"BenchmarkDeltaFifo"},
		"DeltaFifo/op=list:time>5%":   {"BenchmarkDeltaFifo"},
		"delta-fifo/op=l*:p99>20%":    {"BenchmarkDeltaFifo"},
		"*/impl=ring:ns/op>20%":       {"BenchmarkDeltaFifo"},
		"queue:time>20%, p99>90%":     nil,
		"allocs>0,queue:time>10.5%":   nil,
		"informer:reads/s<10%":        {"BenchmarkInformer"},
		"reads/s<30%":                 nil,
		"queue:time>1%,queue:time>2%": {"BenchmarkQueue", "BenchmarkQueue"},
	} {
		t.Run(limits, func(t *testing.T) {
			code, _, stderr := benchrun(t, "compare", old, changed, "--fail-on", limits)
			var got []string
			for line := range strings.Lines(stderr) {
				if name, ok := strings.CutPrefix(line, "failed: "); ok {
					got = append(got, strings.SplitN(name, "/", 2)[0])
				}
			}
			assert.Equal(t, failed, got, stderr)
			assert.Equal(t, len(failed) > 0, code == exitGate, "code %d", code)
			verdict := "Gate passed: "
			if len(failed) > 0 {
				verdict = "Gate failed: "
			}
			lines := strings.Split(strings.TrimSpace(stderr), "\n")
			assert.True(t, strings.HasPrefix(lines[len(lines)-1], verdict), "the last line is %q", lines[len(lines)-1])
			assert.LessOrEqual(t, code, exitGate, stderr)
		})
	}
	for limits, want := range map[string]string{
		"fifo:time>5%":    "--fail-on: fifo:time>5%: no benchmark in both results that measures time is in this scope, expected one as in queue, delta-fifo, informer",
		"p999>5%":         "--fail-on: no benchmark measures p999, found allocs/op, p99-sec, reads/s, sec/op, sched-p99-sec",
		"time>1.2.3%":     `found "1.2.3", expected a number`,
		"time>":           `--fail-on: found "time>", expected METRIC>AMOUNT`,
		"queue:>5%":       "expected METRIC>AMOUNT",
		"time>5%,":        `--fail-on: found "", expected`,
		"":                `--fail-on: found "", expected limits, as in 'time>5%,queue:allocs>0': a gate without limits passes everything`,
		"queue:speed>5%":  `unknown metric "speed", expected one of allocs, bytes, cpu, p50, p90, p99, p999, time`,
		"queue:time>-5%":  "expected METRIC>AMOUNT",
		"queue:time>NaN%": "expected METRIC>AMOUNT",
	} {
		code, _, stderr := benchrun(t, "compare", old, changed, "--fail-on", limits)
		assert.Equal(t, exitUsage, code, limits)
		want, _, _ = strings.Cut(want, ", found allocs/op")
		assert.Contains(t, stderr, want)
	}
}

// The limits in the help have their scope in what benchrun run writes by default.
// A limit without its % sign is an amount in seconds that nothing reaches.
func TestCompareLooseLimit(t *testing.T) {
	old, changed := rawFile(t, 100, 100, 100, 100), rawFile(t, 500, 100, 100, 100)
	for limits, warned := range map[string]bool{"time>5": true, "delta-fifo:p99>1,time>5%": true, "time>5%": false, "time>0.00000005": false, "reads/s<1000": false, "allocs>5": false} {
		_, _, stderr := benchrun(t, "compare", old, changed, "--fail-on", limits)
		assert.Equal(t, warned, strings.Contains(stderr, "lets every benchmark more than double"), "%s: %s", limits, stderr)
	}
	_, _, stderr := benchrun(t, "compare", old, changed, "--fail-on", "time>5")
	assert.Contains(t, stderr, "warning: --fail-on: time>5 is in seconds and lets every benchmark more than double, the longest takes 1e-07 s; a share has a % sign, as in time>5%\n")
}

func TestCompareHelpLimits(t *testing.T) {
	const sample = "../../../reports/sample"
	_, help, _ := benchrun(t, "compare", "--help")
	for _, example := range strings.Split(help, "--fail-on '")[1:] {
		limits, _, _ := strings.Cut(example, "'")
		code, _, stderr := benchrun(t, "compare", sample, sample, "--fail-on", limits)
		assert.Zero(t, code, stderr)
	}
}

func TestCompareFiles(t *testing.T) {
	old, changed := rawFile(t, 100, 100, 100, 100), rawFile(t, 110, 130, 150, 80)
	dir := t.TempDir()
	summary, junit := filepath.Join(dir, "summary.md"), filepath.Join(dir, "junit.xml")
	args := []string{"compare", old, changed, "--fail-on", "time>5%", "--markdown", summary, "--junit", junit}

	code, stdout, stderr := benchrun(t, append(args, "--annotate", "github")...)
	assert.Equal(t, exitGate, code)
	assert.Contains(t, stdout, "BENCHMARK")
	assert.NotContains(t, stdout, "::", "stdout is the table")
	assert.Contains(t, stderr, "\n::error title=slower%3A BenchmarkQueue/op=cycle/impl=ring-2::BenchmarkQueue")
	b, err := os.ReadFile(summary)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(b), "### Gate failed: 2 of 3 comparisons"), "%s", b)
	x, err := os.ReadFile(junit)
	require.NoError(t, err)
	assert.Contains(t, string(x), `tests="3" failures="2"`)

	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	code, stdout, stderr = benchrun(t, append(args, "--annotate", "gitlab")...)
	assert.Equal(t, exitGate, code)
	assert.True(t, strings.HasPrefix(stdout, "[\n  {\n"), "a report alone: %s", stdout)
	assert.Contains(t, stderr, "BENCHMARK")
	twice, err := os.ReadFile(summary)
	require.NoError(t, err)
	assert.Equal(t, string(b)+string(b), string(twice))

	code, _, stderr = benchrun(t, "compare", old, changed, "--annotate", "jenkins")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "expected one of github, gitlab, none")
	code, _, stderr = benchrun(t, "compare", old, changed, "--junit", filepath.Join(dir, "none", "x"))
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "x: found no directory ")
}

// A name in a foreign file can't give commands to the terminal or a CI system.
func TestCompareHostileNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "raw.txt")
	require.NoError(t, os.WriteFile(path, []byte("Benchmark::error::x\t1\t5 ns/op\nBenchmark##[error]\t1\t5 ns/op\nBenchmarkX\x1b[2J\t1\t5 ns/op\npanic: at\t\u202ex.go\n"), 0o666))
	code, stdout, stderr := benchrun(t, "compare", path, path, "--annotate", "github")
	require.Equal(t, exitGate, code, stderr)
	assert.Contains(t, stderr, "raw.txt:4: panic: at ?x.go.\n", "a quoted line keeps its gaps")
	assert.NotContains(t, stdout, "\x1b")
	for line := range strings.Lines(stdout) {
		assert.NotRegexp(t, `^\s*(::|##)`, line)
	}
}
