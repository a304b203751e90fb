package loadgen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const full = `name: mine
description: all fields
source: none
seed: 7
objects:
  kind: metadata
  count: 100
  namespaces: 3
  nodes: 9
  replicas: 5
  managedFields: false
  skew:
    kind: zipf
    s: 1.1
events:
  pattern: mix
  mix: {add: 1, update: 2.5, delete: 1}
  rate: 2e3
  duration: 1m30s
`

func TestParseSpec(t *testing.T) {
	spec, err := ParseSpec("mine.yaml", []byte(full))
	require.NoError(t, err)
	require.Equal(t, &Spec{
		Name: "mine", Description: "all fields", Source: "none", Seed: 7,
		Objects: Objects{Kind: kindMetadata, Count: 100, Namespaces: 3, Nodes: 9, Replicas: 5, Skew: Skew{Kind: skewZipf, S: 1.1}},
		Events:  Events{Pattern: patternMix, Mix: Mix{1, 2.5, 1}, Rate: 2000, Duration: 90 * time.Second},
	}, spec)
	require.Equal(t, 180_000, spec.Events.length())
}

func TestParseSpecDefaults(t *testing.T) {
	spec, err := ParseSpec("mine.yaml", []byte("objects: {count: 61}\nevents: {mix: {update: 1}, count: 5}\n"))
	require.NoError(t, err)
	require.Equal(t, Objects{Kind: kindPod, Count: 61, Namespaces: 1, Nodes: 3, Replicas: 20, ManagedFields: true, Skew: Skew{Kind: skewUniform}}, spec.Objects)
	require.Equal(t, patternMix, spec.Events.Pattern)
}

func TestParseSpecErrors(t *testing.T) {
	cases := []struct{ old, new, want string }{
		{"kind: zipf", "kind: zip", `w.yaml:13: objects.skew.kind: unknown value "zip", expected uniform, zipf or hotset`},
		{"kind: zipf", "kind: [zipf]", `w.yaml:13: objects.skew.kind: found a list, expected text`},
		{"  s: 1.1", "  S: 1.1", `w.yaml:14: objects.skew: unknown field "S", expected kind, s, fraction or share`},
		{"  s: 1.1", "  s: -1", `w.yaml:14: objects.skew.s: found -1, expected a number above 0 and up to 10`},
		{"  s: 1.1", "  s: .nan", `w.yaml:14: objects.skew.s: found .nan, expected a number`},
		{"    s: 1.1\n", "", `w.yaml:12: objects.skew.s: missing or 0, expected a number above 0 and up to 10`},
		{"  s: 1.1", "  s: 1.1\n    share: 0.5", `w.yaml:15: objects.skew.share: found 0.5 with kind zipf, expected it with kind hotset only`},
		{"count: 100", "count: many", `w.yaml:7: objects.count: found "many", expected a whole number`},
		{"count: 100", "count: 1.5", `w.yaml:7: objects.count: found 1.5, expected a whole number`},
		{"count: 100", "count:", `w.yaml:7: objects.count: found nothing, expected a whole number`},
		{"count: 100", "count: 0", `w.yaml:7: objects.count: missing or 0, expected a whole number from 1 to 10000000`},
		{"count: 100", "count: 99999999999999999999", `w.yaml:7: objects.count: found 99999999999999999999, expected a whole number`},
		{"  count: 100\n", "", `w.yaml:5: objects.count: missing or 0, expected a whole number from 1 to 10000000`},
		{"nodes: 9", "nodes: -9", `w.yaml:9: objects.nodes: found -9, expected a whole number from 1 to 1000000`},
		{"managedFields: false", "managedFields: 1", `w.yaml:11: objects.managedFields: found 1, expected true or false`},
		{"seed: 7", "seed: -7", `w.yaml:4: seed: found -7, expected a whole number from 0 to 18446744073709551615`},
		{"seed: 7", "seed: 7\nseed: 8", `w.yaml:5: seed: given twice, first on line 4`},
		{"seed: 7", "sead: 7", `w.yaml:4: unknown field "sead", expected name, description, source, seed, objects or events`},
		{"name: mine", "name: 5", `w.yaml:1: name: found 5, expected text`},
		{"pattern: mix", "pattern: rollout", `w.yaml:17: events.mix: found weights with pattern rollout, expected them with pattern mix only`},
		{"add: 1,", "add: -1,", `w.yaml:17: events.mix.add: found -1, expected a weight from 0 to 1e9`},
		{"add: 1,", "", `w.yaml:17: events.mix.add: found 0 with deletes, expected a weight above 0 or the objects run out`},
		{"mix: {add: 1, update: 2.5, delete: 1}", "parallel: 2", `w.yaml:15: events.mix: no weights, expected at least one of add, update and delete above 0`},
		{"pattern: mix\n  mix: {add: 1, update: 2.5, delete: 1}", "pattern: node-failure\n  parallel: 5", `w.yaml:17: events.parallel: found 5, expected a whole number from 1 to 4`},
		{"rate: 2e3", "rate: fast", `w.yaml:18: events.rate: found "fast", expected a number`},
		{"rate: 2e3", "rate: -2", `w.yaml:18: events.rate: found -2, expected events a second from 0 (as fast as possible) to 1000000000`},
		{"rate: 2e3", "rate: 0", `w.yaml:19: events.duration: given without a rate, expected events.rate, or events.count in its place`},
		{"duration: 1m30s", "duration: 90", `w.yaml:19: events.duration: found 90, expected a duration such as 90s or 5m`},
		{"duration: 1m30s", "duration: 1m30s\n  count: 5", `w.yaml:19: events.duration: given beside count, expected one of them`},
		{"duration: 1m30s", "duration: -1s", `w.yaml:19: events.duration: found -1s, expected more than 0`},
		{"duration: 1m30s", "duration: 10000h", `w.yaml:19: events.duration: found 10000h0m0s at 2000 events/s, expected at most 2000000000 events`},
		{"  duration: 1m30s\n", "", `w.yaml:15: events: no length, expected count or duration above 0`},
		{"  mix: {add: 1, update: 2.5, delete: 1}", "  mix: 5", `w.yaml:17: events.mix: found 5, expected fields: add, update, delete`},
		{"name: mine", "name: mine\n---\nname: yours", `w.yaml:2: a second document, expected one workload a file`},
		{"  duration: 1m30s\n", "  duration: 1m30s\n---\nname: yours\n", `w.yaml:20: a second document, expected one workload a file`},
		{"name: mine", "name: mine: yours", `w.yaml:1: invalid YAML: mapping values are not allowed in this context`},
		{full, "", `w.yaml:1: the file is empty, expected a workload`},
		{full, "# nothing\n", `w.yaml:1: the file is empty, expected a workload`},
		{full, "- name: mine\n", `w.yaml:1: found a list, expected fields: name, description, source, seed, objects, events`},
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
	f.Add([]byte("objects: &a {skew: *a}\n"))
	f.Add([]byte("<<: {name: x}\n? [a]\n: b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		spec, err := ParseSpec("w.yaml", data)
		if err != nil {
			require.Regexp(t, `^w\.yaml:[1-9][0-9]*: [^\n]+$`, err.Error())
			return
		}
		require.Positive(t, spec.Events.length())
	})
}

func TestPresets(t *testing.T) {
	require.Equal(t, []string{"hot-keys", "node-failure", "rolling-update", "steady"}, Presets())
	for _, name := range Presets() {
		spec, err := Open(name)
		require.NoError(t, err)
		require.Equal(t, name, spec.Name)
		require.NotEmpty(t, spec.Description)
		require.NotEmpty(t, spec.Source, "a preset says which published figure it models")
	}
	_, err := Preset("stedy")
	require.EqualError(t, err, `unknown workload "stedy", expected hot-keys, node-failure, rolling-update or steady`)
}

func TestOpen(t *testing.T) {
	_, err := Open("stedy")
	require.EqualError(t, err, `unknown workload "stedy": no such file, and no preset: expected hot-keys, node-failure, rolling-update or steady`)

	path := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(path, []byte(full), 0o600))
	spec, err := Open(path)
	require.NoError(t, err)
	require.Equal(t, "mine", spec.Name)
}

func TestRate(t *testing.T) {
	cases := []struct {
		why     string
		rate    Rate
		elapsed time.Duration
		n       int
		want    time.Duration
	}{
		{"the first event is due at once", 1000, 0, 0, 0},
		{"the next one a millisecond later", 1000, 0, 1, time.Millisecond},
		{"part of the wait has passed", 1000, 400 * time.Microsecond, 1, 600 * time.Microsecond},
		{"a late event does not wait, and does not move the next", 1000, 5 * time.Millisecond, 1, 0},
		{"nor does its lateness add up", 1000, 5 * time.Millisecond, 6, time.Millisecond},
		{"no rate is as fast as possible", 0, 0, 1_000_000, 0},
		{"slower than one a second", 0.5, time.Second, 1, time.Second},
	}
	for _, c := range cases {
		require.Equal(t, c.want, c.rate.Wait(c.elapsed, c.n), c.why)
	}
}
