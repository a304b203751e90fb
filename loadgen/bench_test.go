package loadgen

import (
	"math"
	"testing"
	"time"

	"github.com/informerbench/informerbench/loadgen/cputime"
	"github.com/stretchr/testify/require"
)

// endless is a preset without an end.
func endless(b testing.TB, name string) *Spec {
	b.Helper()
	spec, err := Preset(name)
	require.NoError(b, err)
	spec.Duration = 0
	for i := range spec.Resources {
		r := &spec.Resources[i]
		if p := r.Events.Pattern; p != patternFollow && p != patternNone {
			r.Events.Count = maxEvents
		}
		if a := &r.Events.Arrivals; a.Kind == arrivalsStep { // to nothing
			*a = Arrivals{Rate: a.Rate}
		}
	}
	return spec
}

// perEvent reports the CPU time of all threads, the garbage collector's too:
// on a busy machine it tells more than the time on the wall.
func perEvent(b *testing.B, begin time.Duration) {
	cpu := cputime.Process() - begin
	b.ReportMetric(float64(cpu)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(b.N)/cpu.Seconds()/1e6, "M/cpu-s")
}

// BenchmarkSchedule measures what a draw costs: an event without an object.
func BenchmarkSchedule(b *testing.B) {
	for _, name := range Presets() {
		b.Run("workload="+name, func(b *testing.B) {
			schedule, err := endless(b, name).Schedule()
			require.NoError(b, err)
			b.ReportAllocs()
			begin := cputime.Process()
			for b.Loop() {
				if _, ok := schedule.Next(); !ok {
					b.Fatal("the schedule has ended")
				}
			}
			perEvent(b, begin)
		})
	}
}

// BenchmarkStream measures what an event with its object costs before anything
// consumes it. The objects exist: making them is not part of the load.
func BenchmarkStream(b *testing.B) {
	run := func(name string, workload string, change func(*Spec)) {
		b.Run(name, func(b *testing.B) {
			spec := endless(b, workload)
			change(spec)
			g, err := spec.Generator()
			require.NoError(b, err)
			for range 3 * spec.Resources[0].Count {
				if _, err := g.Next(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			begin := cputime.Process()
			for b.Loop() {
				if _, err := g.Next(); err != nil {
					b.Fatal(err)
				}
			}
			perEvent(b, begin)
		})
	}
	for _, name := range Presets() {
		run("workload="+name+"/resources=all", name, func(*Spec) {})
	}
	for _, name := range []string{"rolling-update", "node-failure", "reader-pressure", "job-burst", "steady-5k-nodes", "hot-keys"} {
		run("workload="+name+"/resources=pods", name, func(s *Spec) { s.Resources = s.Resources[:1] })
	}
	run("workload=hot-keys/managed=false", "hot-keys", func(s *Spec) { s.Resources[0].ManagedFields = false })
	run("workload=hot-keys/kind=metadata/managed=false", "hot-keys", func(s *Spec) {
		s.Resources[0].ManagedFields, s.Resources[0].Kind = false, kindMetadata
	})
}

// BenchmarkPreset makes all events of a preset, from its begin to its end: what
// the command does before anything consumes them.
func BenchmarkPreset(b *testing.B) {
	for _, name := range Presets() {
		b.Run("workload="+name, func(b *testing.B) {
			spec, err := Preset(name)
			require.NoError(b, err)
			b.ReportAllocs()
			events, begin := 0, cputime.Process()
			for b.Loop() {
				g, err := spec.Generator()
				require.NoError(b, err)
				_, n, err := Cost(g, math.MaxInt)
				require.NoError(b, err)
				events += n
			}
			cpu := cputime.Process() - begin
			b.ReportMetric(float64(cpu)/float64(events), "cpu-ns/event")
			b.ReportMetric(float64(events)/cpu.Seconds()/1e6, "M/cpu-s")
			b.ReportMetric(float64(events)/float64(b.N), "events/op")
		})
	}
}
