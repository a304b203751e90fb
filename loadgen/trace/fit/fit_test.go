package fit

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/trace/summary"
)

// What a known workload does is fitted by one that does nearly the same.
func TestFitOfAWorkload(t *testing.T) {
	for _, text := range []string{
		"seed: 7\nduration: 60s\nresources:\n- {kind: node, count: 300, events: {mix: {update: 1}, arrivals: {rate: 50}}, skew: {kind: zipf, s: 0.9}}\n",
		"seed: 7\nduration: 60s\nresources:\n- {kind: lease, count: 100, events: {pattern: heartbeat, arrivals: {kind: constant, rate: 20}}}\n",
		"seed: 7\nduration: 120s\nresources:\n- {kind: pod, count: 10, events: {pattern: lifecycle, life: {modifications: '5', between: '500ms', age: '2s'}, arrivals: {rate: 5}}}\n",
	} {
		spec, err := loadgen.ParseSpec("x.yaml", []byte(text))
		require.NoError(t, err)
		recording, err := Measure(t.Context(), spec)
		require.NoError(t, err)
		kinds := map[string]string{"nodes": "Node", "leases": "Lease", "pods": "Pod"}
		for i := range recording.Resources {
			recording.Resources[i].Kind = kinds[recording.Resources[i].Resource]
		}
		fitted, err := Workload(recording, "like")
		require.NoError(t, err)
		require.Equal(t, spec.Resources[0].Kind, fitted.Resources[0].Kind)
		workload, err := Measure(t.Context(), fitted)
		require.NoError(t, err)
		for _, d := range Compare(recording, fitted, workload) {
			limit := 0.15
			if d.Figure == "dispersion" || d.Figure == "peak/s" {
				limit = 0.5
			}
			if strings.HasPrefix(d.Figure, "life") {
				limit = 0.3
			}
			require.False(t, d.Far, "%s", d.Figure)
			require.Less(t, math.Abs(d.Distance), limit, "%s: %s is %g and becomes %g", recording.Resources[0].Resource, d.Figure, d.Recording, d.Workload)
		}
	}
}

// A short recording cuts lives off: old objects go and new ones stay, which no
// pattern of lives does.
func TestFitOfAShortRecording(t *testing.T) {
	pods := summary.Traffic{Resource: "pods", Kind: "Pod", Events: 1625, Added: 321, Modified: 1172, Deleted: 132, Existing: 215, Objects: 536, Spaces: 6, Rate: 125,
		Size: summary.Spread{Min: 4946, Median: 6487, P90: 6674, P99: 6730, Max: 6745}, Skew: summary.Skew{Top1Percent: 0.012, ZipfS: 0.2, Busiest: 4},
		Bursts: summary.Bursts{Dispersion: 6, Peak: 164, On: 7}, Lives: summary.Lives{Between: summary.Spread{Median: 1.6, P90: 4.6, P99: 8.6, Max: 9.4}}}
	spec, distances, err := Nearest(t.Context(), summary.Summary{Duration: 13 * time.Second, All: pods, Resources: []summary.Traffic{pods}}, "like")
	require.NoError(t, err)
	require.Equal(t, "mix", spec.Resources[0].Events.Pattern)
	require.Zero(t, countFar(distances), "%+v", distances)
}

// A recording may see objects go and none come: a workload that has deletes must
// have adds, so that it has next to none.
func TestFitOfDeletesAlone(t *testing.T) {
	for _, modified := range []int{0, 55} {
		nodes := summary.Traffic{Resource: "nodes", Kind: "Node", Events: modified + 5, Modified: modified, Deleted: 5, Existing: 40, Objects: 40,
			Rate: float64(modified+5) / 60, Size: summary.Spread{Min: 4000, Max: 4000}, Bursts: summary.Bursts{Dispersion: 1}}
		spec, err := Workload(summary.Summary{Duration: time.Minute, All: nodes, Resources: []summary.Traffic{nodes}}, "like")
		require.NoError(t, err)
		workload, err := Measure(t.Context(), spec)
		require.NoError(t, err)
		require.Zero(t, workload.All.Added)
		require.Positive(t, workload.All.Deleted)
	}
}

// A load that comes in bursts and whose objects go is not one that is even and
// whose objects stay.
func TestFarDistances(t *testing.T) {
	recording := summary.Traffic{Events: 100, Added: 42, Modified: 42, Deleted: 16, Objects: 42, Rate: 10, Bursts: summary.Bursts{Dispersion: 25, Peak: 90}, Size: summary.Spread{Median: 1000}, Lives: summary.Lives{Whole: 16}}
	workload := summary.Traffic{Events: 100, Added: 48, Modified: 48, Deleted: 4, Objects: 48, Rate: 11, Bursts: summary.Bursts{Dispersion: 2, Peak: 60}, Size: summary.Spread{Median: 1100}, Lives: summary.Lives{Whole: 4}}
	var far []string
	for _, d := range Compare(summary.Summary{All: recording}, nil, summary.Summary{All: workload}) {
		if d.Far {
			far = append(far, d.Figure)
		}
	}
	require.Equal(t, []string{"added", "modified", "deleted", "dispersion", "whole lives"}, far)
}

func TestFitErrors(t *testing.T) {
	some := []summary.Traffic{{Resource: "pods", Kind: "Pod", Events: 1}}
	for want, s := range map[string]summary.Summary{
		"found no events but bookmarks, expected some":                                                   {Duration: time.Minute},
		"found events without times, expected a recording that has them, as benchrun trace record makes": {Resources: some},
		"found events of 500ms in all, expected them of a second or more":                                {Resources: some, Begin: time.Unix(1, 0), Duration: 500 * time.Millisecond},
	} {
		_, err := Workload(s, "x")
		require.EqualError(t, err, want)
	}
}
