package upstream

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/impl"
)

var wanted = flag.String("impl", "", "variants to run, separated by commas: a component takes the first that it has (default upstream's own)")

// variant is the constructor that -impl asks for, by default of upstream's own
// type. A component that has none of the variants, or none that keeps the clauses
// which the benchmark needs, skips.
func variant[New any](b *testing.B, variants []impl.Variant[New], needs ...string) New {
	b.Helper()
	if *wanted == "" {
		i := slices.IndexFunc(variants, func(v impl.Variant[New]) bool { return v.Peer })
		return variants[i].New
	}
	variants = keeping(variants, needs)
	for name := range strings.SplitSeq(*wanted, ",") {
		if v, err := impl.Find(variants, name); err == nil {
			return v.New
		}
	}
	_, err := impl.Find(variants, *wanted)
	b.Skip("-impl: ", err)
	panic("unreachable")
}

func keeping[New any](variants []impl.Variant[New], clauses []string) []impl.Variant[New] {
	return slices.DeleteFunc(variants, func(v impl.Variant[New]) bool {
		return slices.ContainsFunc(clauses, func(clause string) bool { return slices.Contains(v.Relaxes, clause) })
	})
}

// TestMain refuses a name that no component has, before it skips everything.
func TestMain(m *testing.M) {
	flag.Parse()
	var names []string
	names = appendNames(names, impl.Queues[string]())
	names = appendNames(names, impl.DelayingQueues[string]())
	names = appendNames(names, impl.PriorityQueues[int]())
	names = appendNames(names, impl.InOrderFIFOs())
	names = appendNames(names, impl.Indexers())
	names = appendNames(names, impl.Informers())
	slices.Sort(names)
	names = slices.Compact(names)
	for name := range strings.SplitSeq(*wanted, ",") {
		if *wanted != "" && !slices.Contains(names, name) {
			_, _ = os.Stderr.WriteString("error: -impl: unknown variant \"" + name + "\", expected some of " + strings.Join(names, ", ") + "\n")
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}

func appendNames[New any](names []string, variants []impl.Variant[New], needs ...string) []string {
	for _, v := range keeping(variants, needs) {
		names = append(names, v.Name)
	}
	return names
}

var benchmarkFunc = regexp.MustCompile(`(?m)^func (Benchmark\w+)\(`)

// TestNamesAreUpstreams looks each benchmark up in the tests of the versions that
// are measured here.
func TestNamesAreUpstreams(t *testing.T) {
	var theirs []byte
	for module, folders := range map[string][]string{
		"k8s.io/client-go":               {"tools/cache", "util/workqueue"},
		"sigs.k8s.io/controller-runtime": {"pkg/controller/priorityqueue"},
	} {
		dir := goOutput(t, "list", "-m", "-f", "{{.Dir}}", module)
		for _, folder := range folders {
			theirs = append(theirs, sources(t, filepath.Join(dir, folder))...)
		}
	}
	var apiserver struct{ Dir string } // not among our dependencies: it only has the benchmark's text
	version := goOutput(t, "list", "-m", "-f", "{{.Version}}", "k8s.io/client-go")
	require.NoError(t, json.Unmarshal([]byte(goOutput(t, "mod", "download", "-json", "k8s.io/apiserver@"+version)), &apiserver))
	theirs = append(theirs, sources(t, filepath.Join(apiserver.Dir, "pkg/storage/cacher"))...)
	benchmarks, err := os.ReadFile(filepath.Join(apiserver.Dir, "pkg/storage/testing/store_benchmarks.go"))
	require.NoError(t, err)
	theirs = append(theirs, benchmarks...)
	ours := benchmarkFunc.FindAllStringSubmatch(string(sources(t, ".")), -1)
	require.NotEmpty(t, ours)
	for _, name := range ours {
		assert.Contains(t, string(theirs), "\nfunc "+name[1]+"(b *testing.B)")
	}
	for _, part := range []string{
		`"podCount=%d"`, `"readers=%d"`, `"unlockWhileProcessing=%t"`, "{10_000, 20_000, 40_000, 80_000, 160_000}", "{0, 1, 10, 20, 40, 80}",
		`"Namespaces=%d/Pods=%d/Nodes=%d"`, `"Traffic=%s"`, `"Parallelism=%d"`, `"Background=%s/UseIndex=%v"`,
		`"DeleteCreate"`, `"Patch"`, `"None"`, `"Watcher"`, `"Lister"`,
	} {
		assert.Contains(t, string(theirs), part)
	}
}

func goOutput(t *testing.T, args ...string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", args...).Output()
	require.NoError(t, err)
	return string(bytes.TrimSpace(output))
}

func sources(t *testing.T, dir string) (all []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all = append(append(all, '\n'), text...)
	}
	return all
}

// TestEveryVariantRuns runs a little of each benchmark with every variant that it
// can take; the benchmarks check what was done.
func TestEveryVariantRuns(t *testing.T) {
	benchtime := flag.Lookup("test.benchtime")
	before := benchtime.Value.String()
	require.NoError(t, benchtime.Value.Set("20x"))
	defer func() { require.NoError(t, benchtime.Value.Set(before)) }()
	defer func(before string) { *wanted = before }(*wanted)
	for _, run := range []struct {
		f     func(*testing.B)
		names []string
	}{
		{BenchmarkQueue, appendNames(nil, impl.Queues[string]())},
		{BenchmarkDelayingQueue_AddAfter, appendNames(nil, impl.DelayingQueues[string](), "injected-clock")},
		{BenchmarkAddGetDone, appendNames(nil, impl.PriorityQueues[int]())},
		{BenchmarkAddOnly, appendNames(nil, impl.PriorityQueues[int]())},
		{BenchmarkIndexer, appendNames(nil, impl.Indexers())},
		{BenchmarkLister_Match_1k_100, appendNames(nil, impl.Indexers())},
		{func(b *testing.B) { informUnderReaders(b, variant(b, impl.Informers()), createPods(100), 2) }, appendNames(nil, impl.Informers())},
		{func(b *testing.B) {
			storeWriteThroughput(b, variant(b, impl.Informers()), podGrid{namespaces: 2, podsPerNamespace: 50, nodes: 10})
		}, appendNames(nil, impl.Informers())},
	} {
		for _, name := range run.names {
			*wanted = name
			assert.NotZero(t, testing.Benchmark(run.f).N, name)
		}
	}
}
