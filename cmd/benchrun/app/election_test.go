package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/lease"
	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/election"
	"github.com/informerbench/informerbench/loadgen/sim/failover"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/leaderelection"
)

func TestElection(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	code, stdout, stderr := benchrun(t, "election", "--failover", "10s", "--api-budget", "1", "--runs", "20", "--seed", "1", "--elector", "deadline", "--out", dir)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "Report: "+filepath.Join(dir, "report.html"))
	for _, name := range []string{"report.html", "election.json", "election.md"} {
		assert.FileExists(t, filepath.Join(dir, name))
	}
	assert.Contains(t, stdout, "15s/10s/2s")
	assert.Regexp(t, `API outage survived for sure +6s`, stdout, "of this elector; client-go's survives 8s")
	assert.Contains(t, stdout, "runs in which two led at once             ")
	assert.Contains(t, stdout, "the same, partitions with a clock 2.0")
	assert.Contains(t, stdout, "--leader-elect-lease-duration=")
	assert.Contains(t, stdout, "RenewDeadline: ptr.To(")

	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "kept"), nil, 0o666))
	for want, args := range map[string]string{
		"--lease: found \"15s\"":             "--lease=15s",
		"--lease: found \"x\"":               "--lease=15s/10s/x",
		"--lease: renew deadline: found 2s":  "--lease=15s/2s/2s",
		"--elector: unknown elector \"zab\"": "--elector=zab",
		"--api-latency:":                     "--api-latency=soon",
		"--api-stall:":                       "--api-stall=soon",
		"--candidates: found -1":             "--candidates=-1",
		"--candidates: found 0, expected 2":  "--candidates=0",
		"--candidates: found 1, expected 2":  "--candidates=1",
		"--candidates: found 101":            "--candidates=101",
		"--runs: found 0":                    "--runs=0",
		"--api-errors: found 1":              "--api-errors=1",
		"--api-stall-every: expected":        "--api-stall-every=1m",
		"--failover: found 0s":               "--failover=0",
		"--api-budget: found -1":             "--api-budget=-1",
		"--api-budget: found +Inf, expected": "--api-budget=Inf",
		"--clock-skew: found 0":              "--clock-skew=0",
		"--clock-skew: found NaN, expected":  "--clock-skew=NaN",
		"unknown flag: --workers":            "--workers=5",
		"--out: ":                            "--out=" + full,
		"no settings fail over in 2s":        "--failover=2s",
		"0.0001 API calls/s are too few":     "--api-budget=0.0001",
		"--clock-skew: found 1, expected":    "--clock-skew=1",
	} {
		code, _, stderr := benchrun(t, "election", "--runs=20", "--seed=1", args)
		assert.Equal(t, 2, code, args)
		assert.Contains(t, stderr, want, args)
		assert.Equal(t, 1, strings.Count(stderr, "error:"), stderr)
	}
	code, _, stderr = benchrun(t, "tune", "--election", "--failover", "0", "--runs=20")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "tune --election is benchrun election now, with the same flags\nerror: --failover: found 0s", "the flags of earlier versions work")
}

// An elector of one's own is simulated itself, not ours in its place.
func TestAddedElector(t *testing.T) {
	asked := errors.New("mine was asked")
	mine := impl.Variant[impl.NewElector]{
		Name: "mine", New: func(leaderelection.LeaderElectionConfig) (impl.Elector, error) { return nil, asked },
	}
	_, err := newSimulated(mine)(leaderelection.LeaderElectionConfig{}, election.Options{})
	assert.ErrorIs(t, err, asked)
	assert.False(t, takesClock(mine))
}

// Ctrl-C before any settings are known to do says that there are none; scenarios
// that it left out are no zeros.
func TestElectionInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout strings.Builder
	dir := filepath.Join(t.TempDir(), "new")
	stderr := trigger{word: "measuring", then: cancel}
	code := testSuite().Main(ctx, []string{"election", "--runs", "20", "--seed", "1", "--out", dir}, &stdout, &stderr)
	assert.Equal(t, 2, code)
	assert.Empty(t, stdout.String())
	assert.NoDirExists(t, dir)
	assert.Contains(t, stderr.String(), "error: interrupted before any settings were seen to keep the objectives: nothing is recommended\n")

	steady := failover.Result{Config: failover.Config{Scenario: failover.Steady}, LeaderCalls: 0.5}
	table := electionTable(lease.Advice{Problem: lease.Problem{Current: failover.Defaults}, Recommended: failover.Defaults, Before: []failover.Result{steady}})
	cells := map[string][]string{}
	for _, row := range table.rows {
		cells[row[0]] = row[1:]
	}
	assert.Equal(t, []string{"0.50, 0.00", "-"}, cells["API calls a second: leader, each other"])
	assert.Equal(t, []string{"0", "-"}, cells["runs in which two led at once"])
	assert.Equal(t, []string{"-", "-"}, cells["leader kept though API calls take 3s, for one renew deadline"])
}

func TestElectionRefusesALongFailover(t *testing.T) {
	code, _, stderr := benchrun(t, "election", "--failover", "99999h")
	assert.Equal(t, exitUsage, code)
	assert.Equal(t, "error: --failover: found 99999h0m0s, expected at most 24h0m0s\n", stderr)
}
