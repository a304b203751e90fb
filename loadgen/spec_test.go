package loadgen

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
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

// What is written is read as the same spec, as YAML and as JSON.
func TestSpecRoundTrip(t *testing.T) {
	for _, name := range Presets() {
		spec, err := Preset(name)
		require.NoError(t, err)
		text, err := spec.YAML()
		require.NoError(t, err)
		again, err := ParseSpec(name, text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, spec, again)

		var decoded Spec
		text, err = json.Marshal(spec)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &decoded), "%s", text)
		require.Equal(t, *spec, decoded)
	}
}

func TestCompleteLeavesTheSpecAlone(t *testing.T) {
	spec := &Spec{Resources: []Resource{{Count: 5, Events: Events{Mix: Mix{Update: 1}, Count: 1}}}}
	complete, err := spec.Complete()
	require.NoError(t, err)
	require.Equal(t, "pods", complete.Resources[0].Name)
	require.Empty(t, spec.Resources[0].Name)
}

// A zero that means no limit, no seed or never stays one.
func TestZeroes(t *testing.T) {
	spec, err := ParseSpec("w.yaml", []byte(strings.Replace(full, "seed: 7", "seed: 0\nfaults: {gone: 0, disconnect: 0s, stale: 0}\nreconcile: {qps: 0, burst: 0, failure: 0, retries: 0, resync: 0s}", 1)))
	require.NoError(t, err)
	require.Equal(t, 5, spec.Reconcile.Workers)

	// What is not filled in is not written either, so that it may be read again.
	half := Spec{Name: "half", Resources: []Resource{{Kind: "pod", Count: 5, Events: Events{Mix: Mix{Update: 1}, Count: 1}}}, Readers: []Readers{{Kind: "get"}}}
	text, err := half.YAML()
	require.NoError(t, err)
	_, err = ParseSpec("w.yaml", text)
	require.NoError(t, err, "%s", text)
}

func TestSyntaxErrorLines(t *testing.T) {
	for text, want := range map[string]string{
		"name: x\nresources: [{kind: pod, count: 5\nseed: 1\n":             "w.yaml:2: invalid YAML: did not find expected ',' or '}'",
		"name: x\nresources:\n  - name: pods\n    count: 5\n\tkind: pod\n": "w.yaml:5: invalid YAML: found a tab character that violates indentation",
		"name: x\nseed: *foo\n":               "w.yaml:2: invalid YAML: unknown anchor 'foo' referenced",
		"name: x\nseed: 1\ndescription: @x\n": "w.yaml:3: invalid YAML: found character that cannot start any token",
	} {
		_, err := ParseSpec("w.yaml", []byte(text))
		require.EqualError(t, err, want)
	}
	_, err := ParseSpec("w.yaml", []byte(full+"...\nmore: [\n"))
	require.ErrorContains(t, err, "invalid YAML", "behind the workload")
}

func TestParseSpecErrors(t *testing.T) {
	const pods = "resources[0]."
	cases := []struct{ old, new, want string }{
		{"kind: zipf", "kind: zip", `w.yaml:15: ` + pods + `skew.kind: unknown value "zip", expected uniform, zipf, lognormal, hotset or movinghotset`},
		{"kind: zipf", "kind: [zipf]", `w.yaml:15: ` + pods + `skew.kind: found a list, expected text`},
		{"s: 1.1", "S: 1.1", `w.yaml:16: ` + pods + `skew: unknown field "S", expected kind, s, sigma, fraction, share or every`},
		{"s: 1.1", "s: -1", `w.yaml:16: ` + pods + `skew.s: found -1, expected a number above 0 and up to 10`},
		{"s: 1.1", "s: .nan", `w.yaml:16: ` + pods + `skew.s: found .nan, expected a number`},
		{"      s: 1.1\n", "", `w.yaml:14: ` + pods + `skew.s: missing or 0, expected a number above 0 and up to 10`},
		{"s: 1.1", "s: 1.1\n      share: 0.5", `w.yaml:17: ` + pods + `skew.share: found 0.5 with kind zipf, expected it with kind hotset or movinghotset only`},
		{"kind: metadata", "kind: pots", `w.yaml:7: ` + pods + `kind: unknown value "pots", expected pod, node, lease, endpointslice, custom or metadata`},
		{"kind: metadata", "kind: lease", `w.yaml:9: ` + pods + `namespaces: found 3 with kind lease, expected it with pod, metadata, endpointslice or custom only`},
		{"kind: metadata", "name: Pods", `w.yaml:7: ` + pods + `name: found "Pods", expected at most 40 small letters, digits and dashes`},
		{"count: 100", "count: ten", `w.yaml:8: ` + pods + `count: found "ten", expected a whole number`},
		{"    count: 100\n", "", `w.yaml:7: ` + pods + `count: missing or 0, expected a whole number from 1 to 10000000`},
		{"nodes: 9", "nodes: -9", `w.yaml:10: ` + pods + `nodes: found -9, expected a whole number from 1 to 1000000`},
		{"managedFields: false", "managedFields: 1", `w.yaml:12: ` + pods + `managedFields: found 1, expected true or false`},
		{"size: lognormal(4Ki, 9Ki)", "size: lognormal(9Ki, 4Ki)", `w.yaml:13: ` + pods + `size: found lognormal(9Ki, 4Ki), expected a median above 0 and a 99th percentile from it to a billion times it as in lognormal(5ms, 80ms)`},
		{"size: lognormal(4Ki, 9Ki)", "size: exp(5ms)", `w.yaml:13: ` + pods + `size: found exp(5ms), which is a duration, expected a size such as 8Ki`},
		{"name: mine", "name: mine\nreconcile: {service: 'exp(8Ki)'}", `w.yaml:2: reconcile.service: found exp(8Ki), which is a size, expected a duration such as 5ms`},
		{"name: mine", "name: mine\nreconcile: {calls: 5ms}", `w.yaml:2: reconcile.calls: found 5ms, which is a duration, expected a number such as 2`},
		{"size: lognormal(4Ki, 9Ki)", "size: [4Ki]", `w.yaml:13: ` + pods + `size: found a list, expected a value such as 5ms or a distribution such as exp(5ms)`},
		{"size: lognormal(4Ki, 9Ki)", "size: 4Gi", `w.yaml:13: ` + pods + `size: found 4Gi with a mean of 4.294967296e+09, expected at most 1.572864e+06`},
		{"seed: 7", "seed: -7", `w.yaml:4: seed: found -7, expected a whole number from 0 to 18446744073709551615`},
		{"seed: 7", "seed: 7\nseed: 8", `w.yaml:5: seed: given twice, first on line 4`},
		{"seed: 7", "sead: 7", `w.yaml:4: unknown field "sead", expected name, description, source, seed, duration, resources, faults, readers or reconcile`},
		{"seed: 7", "objects: {count: 7}", `w.yaml:4: objects: the form for one population is gone, expected it as an item of resources: - {kind: pod, count: 100, events: {...}}, with arrivals: {rate: ...} in its events`},
		{"name: mine", "name: 5", `w.yaml:1: name: found 5, expected text`},
		{"duration: 1m30s", "duration: 90", `w.yaml:5: duration: found 90, expected a duration such as 90s or 5m`},
		{"duration: 1m30s", "duration: -1s", `w.yaml:5: duration: found -1s, expected a duration from 0 to 10000h0m0s`},
		{"duration: 1m30s\n", "", `w.yaml:16: ` + pods + `events.count: no length, expected a count here, or a duration of the workload`},
		{"duration: 1m30s", "duration: 2000h", `w.yaml:20: ` + pods + `events.arrivals.rate: found 2000 events/s for 2000h0m0s, expected at most 2000000000 events`},
		{"pattern: mix", "pattern: rollout", `w.yaml:19: ` + pods + `events.mix: found weights with pattern rollout, expected them with pattern mix only`},
		{"pattern: mix", "pattern: follow", `w.yaml:18: ` + pods + `events.pattern: found follow with kind metadata, expected it with endpointslice only, after a resource of pods`},
		{"add: 1,", "add: -1,", `w.yaml:19: ` + pods + `events.mix.add: found -1, expected a weight from 0 to 1e9`},
		{"add: 1,", "", `w.yaml:19: ` + pods + `events.mix.add: found 0 with deletes, expected a weight above 0 or the objects run out`},
		{"mix: {add: 1, update: 2.5, delete: 1}", "parallel: 2", `w.yaml:19: ` + pods + `events.parallel: found 2 with pattern mix, expected it with rollout or node-failure only`},
		{"mix: {add: 1, update: 2.5, delete: 1}", "life: {age: 3s}", `w.yaml:19: ` + pods + `events.life: given with pattern mix, expected it with pattern lifecycle only`},
		{"pattern: mix\n      mix: {add: 1, update: 2.5, delete: 1}", "pattern: node-failure\n      parallel: 5", `w.yaml:19: ` + pods + `events.parallel: found 5, expected a whole number from 1 to 4`},
		{"rate: 2e3", "rate: fast", `w.yaml:20: ` + pods + `events.arrivals.rate: found "fast", expected a number`},
		{"rate: 2e3", "rate: -2", `w.yaml:20: ` + pods + `events.arrivals.rate: found -2, expected a number from 0 to 1e+09`},
		{"rate: 2e3", "rate: 0", `w.yaml:17: ` + pods + `events.count: missing with rate 0, expected how many events there are`},
		{"kind: constant", "kind: onof", `w.yaml:20: ` + pods + `events.arrivals.kind: unknown value "onof", expected poisson, constant, onoff, diurnal, ramp or step`},
		{"kind: constant", "kind: constant, swing: 0.5", `w.yaml:20: ` + pods + `events.arrivals.swing: given with kind constant, expected it with kind diurnal only`},
		{"kind: constant", "kind: onoff, on: 1ns, off: 0", `w.yaml:20: ` + pods + `events.arrivals.kind: found onoff whose rate changes every 1e-09 s at 2000 events/s, expected changes no faster than 1 ms and a thousandth of an event`},
		{"name: mine", "name: mine\nreaders: [{kind: scan}]", `w.yaml:2: readers[0].kind: unknown value "scan", expected list, by-index or get`},
		{"name: mine", "name: mine\nreaders: {kind: list}", `w.yaml:2: readers: found fields, expected a list, one item a line after a dash`},
		{"name: mine", "name: mine\nfaults: {stale: 1.5}", `w.yaml:2: faults.stale: found 1.5, expected a number from 0 to 1`},
		{"name: mine", "name: mine\nreconcile: {resync: 1ns}", `w.yaml:2: reconcile.resync: found 1ns, expected 0 or at least 1s, which is an informer's shortest`},
		{"name: mine", "name: mine\nreconcile: {burst: 5}", `w.yaml:2: reconcile.burst: found 5 without qps, expected both or none`},
		{"name: mine", "name: mine\nreconcile: {workers: 0}", `w.yaml:2: reconcile.workers: found 0, which would not be taken as such but as 5: leave the field out for that`},
		{"name: mine", "name: mine\nreconcile:\n  limiter: {baseDelay: 0s}", `w.yaml:3: reconcile.limiter.baseDelay: found 0s, which would not be taken as such but as 5ms: leave the field out for that`},
		{"name: mine", "name: mine\nreconcile: {qps: 20, burst: 0}", `w.yaml:2: reconcile.burst: found 0, which would not be taken as such but as 20: leave the field out for that`},
		{"namespaces: 3", "namespaces: 0", `w.yaml:9: ` + pods + `namespaces: found 0, which would not be taken as such but as 1: leave the field out for that`},
		{"name: mine", "name: mine\nreconcile: {requeueShare: 0.5}", `w.yaml:2: reconcile.requeueAfter: missing, expected a duration such as 30s beside requeueShare`},
		{"name: mine", "name: mine\nreconcile: {limiter: {baseDelay: 5s, maxDelay: 1s}}", `w.yaml:2: reconcile.limiter.maxDelay: found 1s, expected at least baseDelay, 5s`},
		{"name: mine", "name: mine\n---\nname: yours", `w.yaml:2: a second document, expected one workload a file`},
		{"name: mine", "name: mine: yours", `w.yaml:1: invalid YAML: mapping values are not allowed in this context`},
		{full, "", `w.yaml:1: the file is empty, expected a workload`},
		{full, "# nothing\n", `w.yaml:1: the file is empty, expected a workload`},
		{full, "- name: mine\n", `w.yaml:1: found a list, expected fields: name, description, source, seed, duration, resources, faults, readers, reconcile`},
		{full, "name: mine\n", `w.yaml:1: resources: missing or 0, expected 1 to 100 resources`},
		{full, "resources: [{count: 5}]\n", `w.yaml:1: resources: no events, expected at least one resource with events`},
	}
	for _, c := range cases {
		t.Run(c.new, func(t *testing.T) {
			require.Contains(t, full, c.old)
			_, err := ParseSpec("w.yaml", []byte(strings.Replace(full, c.old, c.new, 1)))
			require.EqualError(t, err, c.want)
		})
	}
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
	"65k-nodes", "crash-loop", "hot-keys", "job-burst", "lease-heartbeats", "list-without-end", "node-failure", "reader-pressure",
	"relist-storm", "restart-under-steady-load", "resync-storm", "retry-bucket", "rolling-update", "scale-up",
	"slow-failures", "steady-5k-nodes",
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
