package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every example of the commands about loads runs as it stands, where the files that it
// names are. A recording is replayed and driven for a moment only.
func TestLoadHelpExamples(t *testing.T) {
	programs(t)
	bin := build(t)
	work := t.TempDir()
	path := "PATH=" + filepath.Dir(bin) + ":" + work + ":" + os.Getenv("PATH")
	run := func(line string) {
		t.Helper()
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", line)
		cmd.Dir, cmd.Env = work, append(os.Environ(), path)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", line, out)
	}
	recordings(t, work)
	run("benchrun trace import pods.json --out pods.ibt")
	run("cp pods.ibt monday.ibt; benchrun trace import pods.json nodes.jsonl --out cluster.ibt")
	run("gzip -k pods.json; mkdir workloads; benchrun workload show rolling-update | tee mine.yaml > workloads/a.yaml")
	window := regexp.MustCompile(`--from \S+ --to \S+`) // the recording has thirteen seconds
	for _, command := range []string{"trace info", "trace import", "trace convert", "trace anonymize", "trace fit", "trace replay",
		"workload", "workload show", "workload validate", "workload explain", "sim", "drive"} {
		for _, line := range examples(t, bin, strings.Fields(command)...) {
			line = window.ReplaceAllString(line, "--from 1s --to 9s")
			switch {
			case line == "benchrun sim validate": // it takes minutes, and has tests of its own
				continue
			case strings.HasPrefix(line, "benchrun drive pods.json"):
				line += " --duration 1s --budget 8s"
			case strings.HasPrefix(line, "benchrun drive"):
				line = strings.Replace(line, ":9090", ":0", 1) + " --duration 1s"
			case strings.HasPrefix(line, "benchrun trace replay"):
				line = strings.Replace(line, "pods.ibt", "pods.ibt --to 1s", 1)
			case strings.Contains(line, "| head"):
				line += " || [ $? = 141 ]" // head has what it wants
			}
			run(line)
		}
	}
}

// recordings writes the files that the examples name.
func recordings(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Open(filepath.Join(root, "loadgen/trace/sample/rolling-update-pods.jsonl.gz"))
	require.NoError(t, err)
	defer f.Close()
	lines, err := gzip.NewReader(f)
	require.NoError(t, err)
	pods, err := io.ReadAll(lines)
	require.NoError(t, err)
	node := `{"ts":"2026-11-20T21:00:00Z","resource":"nodes","type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"7"}}}`
	lease := `{"ts":"2026-11-20T21:00:00Z","resource":"leases","type":"ADDED","object":{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"namespace":"n","name":"a","uid":"u","resourceVersion":"8"}}}`
	var audit strings.Builder
	for i := range 40 {
		kind, where, uri := "pods", `"namespace":"n",`, "/api/v1/namespaces/n/pods"
		if i%4 == 0 {
			kind, where, uri = "nodes", "", "/api/v1/nodes"
		}
		fmt.Fprintf(&audit, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"%d","stage":"ResponseComplete","requestURI":%q,"verb":"create",`+
			`"objectRef":{"resource":%q,%s"name":"object-%d","apiVersion":"v1"},"responseStatus":{"code":201},`+
			`"requestReceivedTimestamp":"2026-11-20T10:00:%02d.000000Z","stageTimestamp":"2026-11-20T10:00:%02d.000000Z"}`+"\n", i, uri, kind, where, i, i, i)
	}
	for name, text := range map[string]string{
		"pods.json": string(pods), "pods.jsonl": string(pods), "nodes.jsonl": node + "\n", "leases.jsonl": lease + "\n", "audit.log": audit.String(),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "my-consumer"), []byte("#!/bin/sh\nexec cat >/dev/null\n"), 0o777))
	out, err := exec.Command("gzip", "-k", filepath.Join(dir, "audit.log")).CombinedOutput()
	require.NoError(t, err, "%s", out)
}
