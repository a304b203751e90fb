package loadgen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkStream measures what an event costs before anything consumes it.
func BenchmarkStream(b *testing.B) {
	run := func(name string, workload string, change func(*Spec)) {
		b.Run(name, func(b *testing.B) {
			spec, err := Preset(workload)
			require.NoError(b, err)
			change(spec)
			spec.Resources[0].Events.Count = maxEvents
			_, load, err := spec.ListWatch()
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := load.Next(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
	for _, name := range Presets() {
		run("workload="+name+"/kind=pod/managed=true", name, func(*Spec) {})
	}
	run("workload=hot-keys/kind=pod/managed=false", "hot-keys", func(s *Spec) { s.Resources[0].ManagedFields = false })
	run("workload=hot-keys/kind=metadata/managed=false", "hot-keys", func(s *Spec) {
		s.Resources[0].ManagedFields, s.Resources[0].Kind = false, kindMetadata
	})
	run("workload=uniform/kind=metadata/managed=false", "hot-keys", func(s *Spec) {
		s.Resources[0].ManagedFields, s.Resources[0].Kind, s.Resources[0].Skew = false, kindMetadata, Skew{}
	})
}
