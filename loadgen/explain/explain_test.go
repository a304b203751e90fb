package explain

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen"
)

// What is expected of every preset is what its schedule yields, within five
// standard deviations of a Poisson count and 2%.
func TestExplainForetellsThePresets(t *testing.T) {
	for _, name := range loadgen.Presets() {
		t.Run(name, func(t *testing.T) {
			spec, err := loadgen.Preset(name)
			require.NoError(t, err)
			e, err := Explain(spec)
			require.NoError(t, err)
			schedule, err := spec.Schedule()
			require.NoError(t, err)
			counts := make([]map[watch.EventType]float64, len(spec.Resources))
			for i := range counts {
				counts[i] = map[watch.EventType]float64{}
			}
			var last loadgen.Draw
			for {
				d, ok := schedule.Next()
				if !ok {
					break
				}
				counts[d.Resource][d.Type]++
				last = d
			}
			require.InDelta(t, e.Seconds, last.At.Seconds(), e.Seconds/5, "length; the last event may come a while before the end")
			for i, r := range e.Resources {
				for kind, want := range map[watch.EventType]float64{watch.Added: r.Events.Added, watch.Modified: r.Events.Modified, watch.Deleted: r.Events.Deleted} {
					t.Logf("%s %s: expected %.1f, got %.0f", r.Name, kind, want, counts[i][kind])
					require.InDelta(t, want, counts[i][kind], 0.02*want+5*math.Sqrt(want), "%s of %s", kind, r.Name)
				}
			}
		})
	}
}
