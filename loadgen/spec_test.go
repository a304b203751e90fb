package loadgen

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/require"
)

const full = `name: mine
description: all fields
source: none
seed: 7
duration: 1m30s
resources:
  - kind: metadata
    count: 100
    namespaces: 3
    nodes: 9
    replicas: 5
    managedFields: false
    size: lognormal(4Ki, 9Ki)
    skew:
      kind: zipf
      s: 1.1
    events:
      pattern: mix
      mix: {add: 1, update: 2.5, delete: 1}
      arrivals: {kind: constant, rate: 2e3}
`

func TestParseSpec(t *testing.T) {
	spec, err := ParseSpec("mine.yaml", []byte(full))
	require.NoError(t, err)
	size, err := randvar.Parse("lognormal(4Ki, 9Ki)")
	require.NoError(t, err)
	require.Equal(t, &Spec{
		Name: "mine", Description: "all fields", Source: "none", Seed: 7, Duration: 90 * time.Second,
		Resources: []Resource{{
			Name: "pods", Kind: kindMetadata, Count: 100, Namespaces: 3, Nodes: 9, Replicas: 5, Size: size, Skew: Skew{Kind: skewZipf, S: 1.1},
			Events: Events{Pattern: patternMix, Mix: Mix{1, 2.5, 1}, Arrivals: Arrivals{Kind: arrivalsConstant, Rate: 2000}},
		}},
		Faults:    Faults{Bookmarks: time.Minute},
		Reconcile: Reconcile{Workers: 5, Batch: 1000, Limiter: Limiter{5 * time.Millisecond, 1000 * time.Second, 10, 100}},
	}, spec)
}

// FuzzParseSpec: any input is a valid spec or an error of one line that names
// the file and the line.
func FuzzParseSpec(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("resources: [&a {skew: *a}]\n"))
	f.Add([]byte("<<: {name: x}\n? [a]\n: b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		spec, err := ParseSpec("w.yaml", data)
		if err != nil {
			require.Regexp(t, `^w\.yaml:[1-9][0-9]*: [^\n]+$`, err.Error())
			return
		}
		_, err = spec.Complete()
		require.NoError(t, err)
	})
}

var presetNames = []string{
	"65k-nodes", "crash-loop", "hot-keys", "job-burst", "lease-heartbeats", "node-failure", "reader-pressure",
	"relist-storm", "resync-storm", "rolling-update", "scale-up", "steady-5k-nodes",
}

func TestPresets(t *testing.T) {
	require.Equal(t, presetNames, Presets())
	for _, name := range Presets() {
		spec, err := Open(name)
		require.NoError(t, err)
		require.Equal(t, name, spec.Name)
		require.NotEmpty(t, spec.Description)
		require.NotEmpty(t, spec.Source, "a preset says which published figure it models")
	}
	_, err := Preset("steady")
	require.EqualError(t, err, `unknown workload "steady", expected `+choice(presetNames))
}

func TestOpen(t *testing.T) {
	_, err := Open("steady")
	require.EqualError(t, err, `unknown workload "steady": no such file, and no preset: expected `+choice(presetNames))

	path := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(path, []byte(full), 0o600))
	spec, err := Open(path)
	require.NoError(t, err)
	require.Equal(t, "mine", spec.Name)
}
