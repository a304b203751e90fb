package bench

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain shortens the benchmarks, unless told how long they are to run, so
// that all of them fit into go test's time limit of ten minutes.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.benchtime" })
	if !given {
		flag.Set("test.benchtime", "100ms")
	}
	os.Exit(m.Run())
}

func BenchmarkStorage(b *testing.B)           { benchmark(b, "storage") }
func BenchmarkQueue(b *testing.B)             { benchmark(b, "queue") }
func BenchmarkPriorityQueue(b *testing.B)     { benchmark(b, "priority-queue") }
func BenchmarkDelayingQueue(b *testing.B)     { benchmark(b, "delaying-queue") }
func BenchmarkRateLimiter(b *testing.B)       { benchmark(b, "rate-limiter") }
func BenchmarkRateLimitingQueue(b *testing.B) { benchmark(b, "rate-limiting-queue") }
func BenchmarkFifo(b *testing.B)              { benchmark(b, "fifo") }
func BenchmarkDeltaFifo(b *testing.B)         { benchmark(b, "delta-fifo") }
func BenchmarkInOrderFifo(b *testing.B)       { benchmark(b, "in-order-fifo") }
func BenchmarkIndexer(b *testing.B)           { benchmark(b, "indexer") }
func BenchmarkInformer(b *testing.B)          { benchmark(b, "informer") }
func BenchmarkElector(b *testing.B)           { benchmark(b, "elector") }
func BenchmarkPipeline(b *testing.B)          { benchmark(b, "pipeline") }

func benchmark(b *testing.B, component string) {
	cases, err := Cases(Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range cases {
		if c.Component != component {
			continue
		}
		for _, variant := range c.Variants {
			b.Run(c.Name+"/impl="+variant, func(b *testing.B) { c.Run(b, variant) })
		}
		b.Run(c.Name+"/impl="+NullSink, c.Load)
	}
}

func TestCasesAreWellFormed(t *testing.T) {
	cases, err := Cases(Options{})
	require.NoError(t, err)
	seen := map[string]bool{}
	quick := map[string]bool{}
	components := map[string]bool{}
	for _, c := range cases {
		id := c.Component + "/" + c.Name
		require.False(t, seen[id], "%s is there twice", id)
		seen[id] = true
		components[c.Component] = true
		quick[c.Component] = quick[c.Component] || c.Quick
		require.Regexp(t, `^([a-z]+=[a-z0-9-]+/)*([a-z-]+=[A-Za-z0-9-]+)(/[a-z-]+=[A-Za-z0-9-]+)*$`, c.Name)
		require.NotEmpty(t, c.Summary, id)
		require.Contains(t, c.Variants, c.Baseline, id)
		require.Contains(t, []string{cpuTime, wallTime, "late-p99-sec", latency}, c.Unit, id)
	}
	for component := range components {
		require.True(t, quick[component], "%s has no case in the quick profile", component)
	}
}

// Every quick case runs on every variant and passes its own check.
func TestQuickCasesRun(t *testing.T) {
	cases, err := Cases(Options{})
	require.NoError(t, err)
	for _, c := range cases {
		if !c.Quick {
			continue
		}
		for _, variant := range append(slices.Clone(c.Variants), NullSink) {
			t.Run(c.Component+"/"+c.Name+"/impl="+variant, func(t *testing.T) {
				result := runOnce(c, variant)
				require.Positive(t, result.N, "the case failed its own check")
				for _, unit := range []string{"ns/op", "cpu-ns/op", "B/op", "allocs/op"} {
					require.Contains(t, result.Extra, unit)
				}
			})
		}
	}
}

func TestUnknownVariantFails(t *testing.T) {
	cases, err := Cases(Options{})
	require.NoError(t, err)
	i := slices.IndexFunc(cases, func(c Case) bool { return c.Component == "queue" })
	require.Zero(t, runOnce(cases[i], "no-such-variant").N)
}

func TestUnknownWorkloadIsAnError(t *testing.T) {
	_, err := Cases(Options{Workload: "no-such-preset"})
	require.ErrorContains(t, err, "no-such-preset")
	require.Error(t, Options{Trace: "no-such-file"}.Validate())
	require.ErrorContains(t, Options{Trace: "a", Workload: "b"}.Validate(), "expected one of them")
}

// A workload's name may be any text, a benchmark's may not.
func TestWorkloadsWithAnyName(t *testing.T) {
	for name, want := range map[string]string{"my load": "my-load", "team/a=b": "team-a-b", "größer": "gr-er", "v1.2_x": "v1.2_x"} {
		path := filepath.Join(t.TempDir(), "w.yaml")
		require.NoError(t, os.WriteFile(path, []byte("name: "+name+"\nresources: [{count: 5, events: {count: 10, mix: {update: 1}}}]\n"), 0o600))
		cases, err := Cases(Options{Workload: path})
		require.NoError(t, err)
		last := cases[len(cases)-1]
		require.Equal(t, "op=stream/source="+want, last.Name)
	}
}

// A workload in which nothing happens in time has no figures per event.
func TestWorkloadWithoutEventsIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.yaml")
	const idle = "name: idle\nduration: 1s\nresources: [{count: 5, events: {mix: {update: 1}, arrivals: {rate: 0.01}}}]\n"
	require.NoError(t, os.WriteFile(path, []byte(idle), 0o600))
	o := Options{Workload: path}
	require.ErrorContains(t, o.Validate(), path+": no events")
	cases, err := Cases(o)
	require.NoError(t, err)
	for _, variant := range []string{"client-go", NullSink} {
		require.Zero(t, runOnce(cases[len(cases)-1], variant).N, "%s: the case fails", variant)
	}
}

// An item that is given out for each of its two adds fails the case.
func TestDuplicatesAreCounted(t *testing.T) {
	result := testing.Benchmark(func(b *testing.B) {
		duplicates(b, &nullQueue[string]{turn: turn[string]{keys: stringKeys(100)}, adds: 1})
	})
	require.Zero(t, result.N, "a queue that keeps duplicates passed")
}

// runOnce runs a case for as short as it can.
func runOnce(c Case, variant string) testing.BenchmarkResult {
	benchtime := flag.Lookup("test.benchtime").Value
	defer benchtime.Set(benchtime.String())
	benchtime.Set("1x")
	return testing.Benchmark(func(b *testing.B) {
		if variant == NullSink {
			c.Load(b)
		} else {
			c.Run(b, variant)
		}
	})
}
