package compare

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchmath"
	"golang.org/x/text/encoding/unicode"
)

func textFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// samples prints ten lines of a benchmark around value.
func samples(name string, value float64, unit string) string {
	var s strings.Builder
	for i := range 10 {
		fmt.Fprintf(&s, "Benchmark%s-4 \t 1000\t %.4g %s\n", name, value*(1+float64(i%5)/200), unit)
	}
	return s.String()
}

// stock reads what benchstat prints: the old center, the new one, the change and
// p of every comparison, table by table.
func stock(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"tool", "benchstat", "-format", "csv"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	reader := csv.NewReader(bytes.NewReader(output))
	reader.FieldsPerRecord = -1
	records, err := reader.ReadAll()
	require.NoError(t, err)
	var rows []string
	for _, r := range records {
		for at := 3; at+3 < len(r); at += 4 {
			if r[0] != "" && r[0] != "geomean" && r[1] != "" && r[at] != "" {
				rows = append(rows, fmt.Sprint(r[0], " ", r[1], " ", r[at], " ", r[at+2], " ", r[at+3]))
			}
		}
	}
	return rows
}

// What belongs together, and what it says, is what benchstat says of the files.
func TestGroupsAsBenchstat(t *testing.T) {
	config := func(goarch, pkg, cpu string) string {
		return fmt.Sprintf("goos: linux\ngoarch: %s\npkg: %s\ncpu: %s\n", goarch, pkg, cpu)
	}
	old := textFile(t, "old.txt", config("amd64", "a", "x")+samples("Queue/n=1/impl=slice", 100, "ns/op")+samples("Queue/n=1/impl=ring", 90, "ns/op")+
		config("arm64", "a", "x")+samples("Queue/n=1/impl=slice", 300, "ns/op")+
		config("arm64", "b", "x")+samples("Queue/n=1/impl=slice", 30, "ns/op")+"commit: 1\n"+samples("Heap/n=1", 5, "ns/op")+
		"Unit text-bytes assume=exact\nBenchmarkSize 1 1000 text-bytes\nBenchmarkSame 1 7 text-bytes\n")
	changed := textFile(t, "new.txt", config("amd64", "a", "x")+samples("Queue/n=1/impl=slice", 200, "ns/op")+samples("Queue/n=1/impl=ring", 90, "ns/op")+
		config("arm64", "a", "y")+samples("Queue/n=1/impl=slice", 900, "ns/op")+
		config("arm64", "b", "x")+samples("Queue/n=1/impl=slice", 31, "ns/op")+"commit: 1\n"+samples("Heap/n=1", 5, "ns/op")+
		"Unit text-bytes assume=exact\nBenchmarkSize 1 1010 text-bytes\nBenchmarkSame 1 7 text-bytes\n")
	for name, c := range map[string]struct {
		o     Options
		args  []string
		files []string
		want  int
	}{
		"by default": {Options{}, nil, []string{old, changed}, 6},
		"ignore":     {Options{Ignore: "cpu,goarch,commit"}, []string{"-ignore", "cpu,goarch,commit"}, []string{old, changed}, 6},
		"row":        {Options{Row: ".name"}, []string{"-row", ".name"}, []string{old, changed}, 5},
		"filter":     {Options{Filter: "goarch:amd64 /impl:ring"}, []string{"-filter", "goarch:amd64 /impl:ring"}, []string{old, changed}, 1},
		"col":        {Options{Col: "/impl"}, []string{"-col", "/impl"}, []string{old}, 1},
		"col config": {Options{Col: "goarch"}, []string{"-col", "goarch"}, []string{changed}, 0},
		"col, some":  {Options{Col: "/impl@(ring slice)", Ignore: "cpu"}, []string{"-col", "/impl@(ring slice)", "-ignore", "cpu"}, []string{old, changed}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			want := stock(t, append(c.args, c.files...)...)
			require.Len(t, want, c.want)
			result, err := Diff(c.o, c.files...)
			if c.want == 0 {
				assert.ErrorContains(t, err, "no benchmark in common")
				return
			}
			require.NoError(t, err)
			var got []string
			for _, x := range result.Changes {
				p := benchmath.Comparison{P: x.P, N1: len(x.Old.Values), N2: len(x.New.Values), Alpha: 0.05}
				got = append(got, fmt.Sprint(strings.TrimPrefix(x.Benchmark, "Benchmark"), " ", x.Old.Center, " ", x.New.Center, " ", p.FormatDelta(x.Old.Center, x.New.Center), " ", p))
			}
			assert.ElementsMatch(t, want, got)
		})
	}
	result, err := Diff(Options{}, old, changed)
	require.NoError(t, err)
	assert.Equal(t, "BenchmarkQueue/n=1/impl=slice-4 (goarch=amd64 pkg=a cpu=x)", result.Changes[0].Name())
	assert.Contains(t, fmt.Sprint(result.Warnings), "only "+changed+" has results of goarch=arm64 pkg=a cpu=y")
	points, _, err := Measure(Options{}, old)
	require.NoError(t, err)
	assert.Len(t, points, 7, "none is of two configurations")
	assert.Equal(t, map[string]string{"goos": "linux", "goarch": "amd64", "pkg": "a", "cpu": "x"}, points[0].Config)

	for flag, o := range map[string]Options{"--col": {Col: "a b("}, "--row": {Row: "x@("}, "--ignore": {Ignore: "x y@("}, "--filter": {Filter: "a:(b"}, "no result matches --filter": {Filter: "goarch:none"}, "one column alone": {Col: ".name", Filter: ".name:Heap"}} {
		_, err := Diff(o, old, changed)
		assert.ErrorContains(t, err, flag, "%+v", o)
	}
	_, err = Diff(Options{}, old, textFile(t, "pooled.txt", "goarch: amd64\n"+samples("X", 1, "ns/op")))
	assert.ErrorContains(t, err, "have no benchmark in common: found")
	result, err = Diff(Options{Row: ".name"}, old, changed)
	require.NoError(t, err)
	assert.Contains(t, fmt.Sprint(result.Warnings), "results that differ count as one: .fullname is")
}

// The A/A control's noise floor holds for the variants in columns too.
func TestColumnsHaveTheirNoiseFloor(t *testing.T) {
	path := textFile(t, "raw.txt", samples("Queue/impl=client-go", 100, "ns/op")+samples("Queue/impl=client-go-again", 130, "ns/op")+samples("Queue/impl=ring", 110, "ns/op")+samples("Queue/impl=list", 150, "ns/op")+samples("Queue/impl="+bench.NullSink, 1, "ns/op"))
	result, err := Diff(Options{Col: "/impl"}, path)
	require.NoError(t, err)
	shown := map[string]bool{}
	for _, c := range result.Changes {
		shown[c.Column] = c.Shown()
	}
	assert.Equal(t, map[string]bool{"client-go → ring": false, "client-go → list": true}, shown)
}

// However a benchmark ends badly, the result says so, wherever that stands in it;
// what only looks like it does not.
func TestFailureOfGoTest(t *testing.T) {
	old := textFile(t, "old.txt", samples("A", 100, "ns/op"))
	for text, want := range map[string]string{
		"panic: boom\n\ngoroutine 1 [running]:\nexit status 2\nFAIL\tpkg\t1.2s\n": "new.txt:11: panic: boom",
		"FAIL\n":                                                            "new.txt:11: FAIL",
		"FAIL\tpkg [build failed]\n":                                        "new.txt:11: FAIL\tpkg [build failed]",
		"--- FAIL: BenchmarkA\n":                                            "new.txt:11: --- FAIL: BenchmarkA",
		"BenchmarkB-4 \t--- FAIL: BenchmarkB":                               "new.txt:11: BenchmarkB-4 \t--- FAIL: BenchmarkB",
		"BenchmarkB-4 \tpanic: boom\n":                                      "panic: boom",
		"fatal error: all goroutines are asleep - deadlock!\n":              "fatal error: ",
		"signal: killed\nFAIL\tpkg\t1s\n":                                   "signal: killed",
		"*** Test killed with quit: ran too long (11m0s).\n":                "*** Test killed",
		"FAIL\r\n" + samples("A", 100, "ns/op") + "PASS\n":                  "new.txt:11: FAIL",
		"panic: with no end of the line":                                    "panic: with no end",
		"\x1b[31mFAIL\x1b[0m\n":                                             "new.txt:11: FAIL",
		"\x1b[31m--- FAIL: BenchmarkA\x1b[0m\n":                             "new.txt:11: --- FAIL: BenchmarkA",
		"exit status\x1b[0m 1\n":                                            "new.txt:11: exit status 1",
		"\x1b[38;5;196mpanic: x\x1b[0m":                                     "new.txt:11: panic: x",
		"BenchmarkB-4 \t    --- FAIL: BenchmarkB/sub-4\n":                   "new.txt:11: BenchmarkB-4",
		"    --- FAIL: BenchmarkB/x (0.00s)\n":                              "--- FAIL: BenchmarkB/x",
		"=== FAIL: pkg BenchmarkB (0.00s)\n":                                "=== FAIL: pkg",
		" FAIL\n":                                                           "new.txt:11: FAIL",
		"    FAIL\tpkg\t1.2s\n":                                             "new.txt:11: FAIL",
		"\rFAIL\tpkg\n":                                                     "new.txt:11: FAIL",
		"FAIL: BenchmarkB\n":                                                "new.txt:11: FAIL",
		"running 1/2\rFAIL\n":                                               "FAIL",
		"2026-11-20T10:00:00.12Z FAIL\tpkg\t1.2s\n":                         "new.txt:11: 2026",
		"make: *** [Makefile:12: bench] Error 2\n":                          "new.txt:11: make: ***",
		"make[1]: *** No rule to make target 'bench'.  Stop.\n":             "make[1]: ***",
		"make: [Makefile:12: bench] Error 1 (ignored)\n":                    "",
		"[10:00:00] exit status 2\n":                                        "exit status 2",
		"2026-11-20T10:00:00Z stderr F panic: boom\n":                       "panic: boom",
		"\tpanic: boom [recovered]\n":                                       "panic: boom",
		"WARNING: DATA RACE\nRead at 0x00c by goroutine 8:\n":               "new.txt:11: WARNING",
		"Found 1 data race(s)\n":                                            "Found 1 data race",
		"Segmentation fault (core dumped)\n":                                "Segmentation fault",
		"x.sh: line 3: 123 Killed\n":                                        "Killed",
		"##[error]Process completed with exit code 1.\n":                    "exit code 1",
		"Error: Process completed with exit code 2.\n":                      "exit code 2",
		"::error::boom\n":                                                   "::error",
		"::error file=a.go,line=1::boom\n":                                  "::error",
		"2026-11-20T10:00:00.12Z ##[error]The operation was canceled.\n":    "canceled",
		"\x1b[31;1mERROR: Job failed: exit code 1\x1b[0;m\n":                "new.txt:11: ERROR: Job failed",
		"ERROR: script returned exit code 2\nFinished: FAILURE\n":           "script returned exit code 2",
		"[10:00:00] Finished: ABORTED\n":                                    "Finished: ABORTED",
		"🚨 Error: The command exited with status 1\n":                       "exited with status 1",
		"Finished: SUCCESS\nERROR: script returned exit code 0\n":           "",
		"##[error]Process completed with exit code 0.\n":                    "",
		"2026/11/20 10:00:00 retry: FAILED to connect, will panic: later\n": "",
		"--- BENCH: BenchmarkA-4\n    x_test.go:5: expect FAIL here\n        FAIL rate 0\n        panic: as is expected\n": "",
		"2026-11-20T10:00:00Z a FAIL of the queue, exit status 2\n":                                                        "",
		"    FAIL over to the other after 5 s\n":                                                                           "",
		"BenchmarkX/--- FAIL: x-4 \t1\t5 ns/op\n":                                                                          "",
		"PASS\nok  \tpkg\t1s\n":                        "",
		"    a_test.go:7: FAIL\nfailed: 0\nFAILURES\n": "",
		"BenchmarkFAIL-4 \t1\t5 ns/op\n":               "",
	} {
		changed := textFile(t, "new.txt", samples("A", 100, "ns/op")+text)
		result, err := Diff(Options{}, old, changed)
		require.NoError(t, err, text)
		assert.Contains(t, result.Failure, want)
		assert.Equal(t, want == "", result.Failure == "", "%s: %s", text, result.Failure)
		require.Len(t, result.Changes, 1, text)
		assert.False(t, result.Changes[0].Shown())
		back, err := Diff(Options{}, changed, old)
		require.NoError(t, err)
		assert.Empty(t, back.Failure, "the old result's failure is no news")
		assert.Equal(t, want != "", strings.Contains(fmt.Sprint(back.Warnings), "a benchmark failed"), text)
	}
}

// What Windows' shells, editors and archives make of a result is read, or refused
// with the way to unpack it.
func TestEncodings(t *testing.T) {
	plain := samples("A", 100, "ns/op") + "PASS\n"
	old := textFile(t, "old.txt", plain)
	encode := func(order unicode.Endianness, bom unicode.BOMPolicy) string {
		s, err := unicode.UTF16(order, bom).NewEncoder().String(strings.ReplaceAll(plain, "\n", "\r\n"))
		require.NoError(t, err)
		return s
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write([]byte(encode(unicode.LittleEndian, unicode.UseBOM)))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for name, text := range map[string]string{
		"UTF-16 LE": encode(unicode.LittleEndian, unicode.UseBOM), "UTF-16 BE": encode(unicode.BigEndian, unicode.UseBOM),
		"UTF-16 LE, no mark": encode(unicode.LittleEndian, unicode.IgnoreBOM), "UTF-16 BE, no mark": encode(unicode.BigEndian, unicode.IgnoreBOM),
		"UTF-8 mark": "\ufeff" + plain, "CRLF": strings.ReplaceAll(plain, "\n", "\r\n"), "gzip": zipped.String(),
		"a long line of a log": plain + strings.Repeat("x", 1<<20) + "\n" + plain,
	} {
		result, err := Diff(Options{}, old, textFile(t, "new.txt", text))
		require.NoError(t, err, name)
		require.Len(t, result.Changes, 1, name)
		assert.Equal(t, 1.0, result.Changes[0].Ratio, name)
		assert.Empty(t, result.Warnings, name)
	}
	var twice bytes.Buffer
	z = gzip.NewWriter(&twice)
	_, err = z.Write(zipped.Bytes())
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for text, want := range map[string]string{
		"\x28\xb5\x2f\xfd....": "unpack it with zstd -d", "\xfd7zXZ\x00": "xz -d", "BZh9....": "bzip2 -d", "PK\x03\x04....": "unzip",
		zipped.String()[:zipped.Len()/2]: "unexpected EOF",
		twice.String():                   "is packed by gzip twice",
		"raw.txt" + strings.Repeat("\x00", 250) + "ustar\x0000": "is a tar archive",
		"\xff\xfe\x00\x00B\x00\x00\x00":                         "is UTF-32", "\x00\x00\xfe\xff\x00\x00\x00B": "is UTF-32",
		"B\x00\x00\x00e\x00\x00\x00": "iconv -f UTF-32LE", "\x00\x00\x00B\x00\x00\x00e": "iconv -f UTF-32BE",
		`{"Time":"2026-01-01T00:00:00Z","Action":"output","Output":"BenchmarkA 1 5 ns/op\n"}` + "\n": `jq -rj 'select(.Action == "output").Output'`,
		"2026-01-01T00:00:00Z " + `{"Action": "output","Output":"BenchmarkA 1 5 ns/op\n"}` + "\n":    "go test -json",
		"\xff\xfe" + strings.Join(strings.Split(`{"Action":"start"}`+"\n", ""), "\x00") + "\x00":     "go test -json",
		"goos: linux\n,old.txt,,new.txt\n,sec/op,CI,sec/op,CI,vs base,P\nA-8,1e-07,1%,2e-07,1%\n":    "this is what benchstat prints",
		"goos: linux\n      │ old.txt │ new.txt │\nA-8     100.0n ± 1%\n":                            "this is what benchstat prints",
		"BenchmarkA-8   \tI0101 log\n    1\t5 ns/op\n":                                               "new.txt:2: figures come apart from the name of their benchmark",
		"BenchmarkA" + strings.Repeat("x", 1<<20) + "\n":                                             "longer than",
	} {
		_, err := Diff(Options{}, old, textFile(t, "new.txt", text))
		assert.ErrorContains(t, err, want)
	}
}

// Colours and a terminal's other commands are no part of a line.
func TestColours(t *testing.T) {
	plain := "tag: x\n" + samples("A", 100, "ns/op")
	old := textFile(t, "old.txt", plain)
	for _, around := range [][2]string{{"\x1b[32m", "\x1b[0m"}, {"", "\x1b[K"}, {"\x1b]0;title\a\x1b[38;5;196m", "\x1b(B\x1b[m"}, {"\x1b_bk;t=1700000000000\a", "\x1b]8;;http://x\x1b\\"}} {
		coloured := around[0] + strings.ReplaceAll(strings.TrimSuffix(plain, "\n"), "\n", around[1]+"\n"+around[0]) + around[1] + "\n"
		result, err := Diff(Options{}, old, textFile(t, "new.txt", coloured))
		require.NoError(t, err, "%q", coloured)
		require.Len(t, result.Changes, 1)
		assert.Equal(t, "sec/op", result.Changes[0].Unit)
		assert.Len(t, result.Changes[0].New.Values, 10)
		assert.Empty(t, result.Warnings, "%q", coloured)
	}
}

// What the go command and logs say is no configuration.
func TestSaidBetween(t *testing.T) {
	plain := samples("A", 100, "ns/op")
	old := textFile(t, "old.txt", plain)
	for _, line := range []string{"go: downloading example.com/x v1.2.3", "testing: warning: no tests to run", "warning: slow disk", "error: retried"} {
		result, err := Diff(Options{}, old, textFile(t, "new.txt", line+"\n"+plain+line+"\n"+plain))
		require.NoError(t, err, line)
		require.Len(t, result.Changes, 1, line)
		assert.Len(t, result.Changes[0].New.Values, 20, line)
		assert.Empty(t, result.Warnings, line)
	}
	_, err := Diff(Options{}, old, textFile(t, "new.txt", "go: go1.26\n"+plain))
	assert.ErrorContains(t, err, `go is "" and "go1.26"`)
}

// A log's prefix is named with a command that takes it away: the results behind it
// don't count.
func TestPrefixes(t *testing.T) {
	plain := samples("A", 100, "ns/op")
	old := textFile(t, "old.txt", plain)
	for prefix, sed := range map[string]string{
		"2026-11-20T10:00:00.1234567Z ":    `'s/^[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+.[0-9]+Z[[:space:]]+//'`,
		"2026-11-20T10:00:00.123456Z 01O ": `Z[[:space:]]+[0-9]+O[[:space:]]+//'`,
		"2026-11-20T10:00:00Z stdout F ":   `Z[[:space:]]+stdout[[:space:]]+F[[:space:]]+//'`,
		"[pod/x/y] ":                       `'s/^.pod.x.y.[[:space:]]+//'`, "bench-1  | ": `'s/^bench-[0-9]+[[:space:]]+.[[:space:]]+//'`,
		"    ": `'s/^[[:space:]]+//'`, "+": `'s/^.//'`, "'; rm x; '": `'s/^..[[:space:]]+rm[[:space:]]+x.[[:space:]]+.//'`,
	} {
		logged := "goos: linux\n" + prefix + strings.ReplaceAll(plain, "\n", "\n"+prefix) + "\n"
		want := fmt.Sprintf("new.txt:2: found %q before a result, sed -E ", prefix)
		_, err := Diff(Options{}, old, textFile(t, "new.txt", logged))
		assert.ErrorContains(t, err, "holds no benchmark result")
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, sed)
		result, err := Diff(Options{}, old, textFile(t, "new.txt", plain+logged))
		require.NoError(t, err, prefix)
		assert.Contains(t, fmt.Sprint(result.Warnings), strings.Replace(want, ":2:", ":12:", 1))
	}
	result, err := Diff(Options{}, old, textFile(t, "new.txt", "# BenchmarkA-4 1 5 ns/op\n"+plain))
	require.NoError(t, err)
	assert.Empty(t, result.Warnings)
}

// A file that unpacks to more than is read of a plain one is refused while it
// is unpacked.
func TestGzipBomb(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bomb.gz")
	f, err := os.Create(path)
	require.NoError(t, err)
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	require.NoError(t, err)
	line := append(bytes.Repeat([]byte("# "), 1<<14), '\n')
	for range (300 << 20) / len(line) {
		_, err := z.Write(line)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	_, err = Diff(Options{}, path, path)
	assert.ErrorContains(t, err, "holds more than 256 MiB")
}
