package schema

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/lease"
	"github.com/informerbench/informerbench/impl/election"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/informerbench/informerbench/loadgen/sim/failover"
	"github.com/informerbench/informerbench/reports"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/leaderelection"
)

func TestWrittenElectionFollowsItsSchema(t *testing.T) {
	stall, err := randvar.Parse("1s")
	require.NoError(t, err)
	a, err := lease.Advise(t.Context(), lease.Problem{
		Current: failover.Defaults, Clocks: true, FromLastRenewal: true,
		World: failover.Config{Candidates: 2, Runs: 5, Seed: 7, Errors: 0.01, Spike: stall, SpikeEvery: 60e9, Slow: stall},
		Simulate: func(_ context.Context, c failover.Config) (failover.Result, error) {
			return failover.Simulate(t, func(c leaderelection.LeaderElectionConfig, o election.Options) (election.Elector, error) {
				return election.NewWithOptions(c, o)
			}, c)
		},
	})
	require.NoError(t, err)
	require.NotEmpty(t, a.BeyondSkew)
	dir := t.TempDir()
	require.NoError(t, reports.WriteElection(dir, a))
	b, err := os.ReadFile(filepath.Join(dir, "election.json"))
	require.NoError(t, err)
	assert.Empty(t, check(t, "election", b), "describe new fields in election.schema.json")
}
