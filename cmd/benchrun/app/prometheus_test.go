package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A real Prometheus server scrapes a drive, and tune asks it what it saw.
func TestTunePrometheus(t *testing.T) {
	server, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("no prometheus in PATH, as of Debian's package of that name")
	}
	address := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close()
		return l.Addr().String()
	}
	driven, asked := address(), address()
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "scrape_configs:\n- job_name: drive\n  scrape_interval: 1s\n  static_configs: [{targets: [%q]}]\n", driven), 0o666))
	workload := filepath.Join(dir, "load.yaml")
	require.NoError(t, os.WriteFile(workload, []byte(`
name: load
seed: 1
duration: 15s
resources: [{name: a, kind: custom, count: 5000, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: poisson, rate: 60}}}]
reconcile: {workers: 3, service: exp(20ms)}
`), 0o666))

	ctx, cancel := context.WithCancel(t.Context())
	p := exec.CommandContext(ctx, server, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"), "--web.listen-address="+asked)
	var log bytes.Buffer
	p.Stderr = &log
	require.NoError(t, p.Start())
	defer func() { cancel(); _ = p.Wait() }() // which was killed
	for {
		answer, err := http.Get("http://" + asked + "/-/ready")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				break
			}
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal(log.String())
		}
	}
	var drive sync.WaitGroup
	drive.Go(func() {
		code, _, stderr := benchrun(t, "drive", workload, "--metrics-addr", driven, "--out", filepath.Join(dir, "drive"))
		assert.Zero(t, code, stderr)
	})
	drive.Wait()
	code, stdout, stderr := benchrun(t, "tune", "--prometheus", "http://"+asked, "--selector", `{job="drive"}`, "--range", "5m", "--workers", "3", "-o", "json", "--out", filepath.Join(dir, "tuned"))
	require.Zero(t, code, stderr+log.String())
	var r advice.Result
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	require.Len(t, r.Queues, 1)
	require.Empty(t, r.Queues[0].Refused)
	assert.Contains(t, r.Source, "http://"+asked+` {job="drive"}`)
	assert.Regexp(t, `by 1\d scrapes`, r.Source)
	assert.InDelta(t, 60, r.Queues[0].Model.AddRate, 15)
	assert.InDelta(t, 0.02, r.Queues[0].Model.Work, 0.008)
}
