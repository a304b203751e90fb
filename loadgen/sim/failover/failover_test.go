package failover

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl/election"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/leaderelection"
)

func ours(c leaderelection.LeaderElectionConfig, o election.Options) (election.Elector, error) {
	return election.NewWithOptions(c, o)
}

func upstream(c leaderelection.LeaderElectionConfig, _ election.Options) (election.Elector, error) {
	return leaderelection.NewLeaderElector(c)
}

func simulate(t *testing.T, elector NewElector, c Config) Result {
	t.Helper()
	if c.LeaseDuration == 0 {
		c.Settings = Defaults
	}
	c.Runs, c.Seed = 200, 1
	r, err := Simulate(t, elector, c)
	require.NoError(t, err)
	return r
}

// The bounds follow from the settings: a standby looks every 2 to 4.4 s (retry
// period with jitter), sees the last change at most one look late, waits 15 s
// from there, and acts at its next look.
func TestFailoverTimes(t *testing.T) {
	const look = 4400 * time.Millisecond
	for name, elector := range map[string]NewElector{"ours": ours, "client-go": upstream} {
		t.Run(name, func(t *testing.T) {
			start := simulate(t, elector, Config{Scenario: Start})
			assert.EqualValues(t, 200, start.Failover.Count)
			assert.Less(t, start.Failover.Max, 4*time.Second)

			released := simulate(t, elector, Config{Scenario: Release})
			assert.EqualValues(t, 200, released.Failover.Count)
			assert.Less(t, released.Failover.Max, look+time.Second)

			crashed := simulate(t, elector, Config{Scenario: Crash})
			assert.EqualValues(t, 200, crashed.Failover.Count)
			assert.Greater(t, crashed.Failover.At(0.5), 12*time.Second)
			assert.Less(t, crashed.Failover.Max, 15*time.Second+2*look)
			assert.Zero(t, crashed.Overlaps)

			cut := simulate(t, elector, Config{Scenario: Partition})
			assert.EqualValues(t, 200, cut.Failover.Count)
			assert.Zero(t, cut.Overlaps)
			assert.Less(t, cut.Leaderless.At(0.5), cut.Failover.At(0.5), "the cut-off leader goes on for some time")

			slow := simulate(t, elector, Config{Scenario: SlowAPI, Slow: dist("1s"), SlowFor: time.Minute})
			assert.Equal(t, 200, slow.Kept, "answers within the renew deadline lose nothing")
			dead := simulate(t, elector, Config{Scenario: SlowAPI, Slow: dist("1h"), SlowFor: time.Minute})
			assert.Zero(t, dead.Kept)
		})
	}
}

func TestSteady(t *testing.T) {
	quiet := simulate(t, ours, Config{Scenario: Steady, Candidates: 3})
	assert.Zero(t, quiet.Losses)
	assert.InDelta(t, 0.5, quiet.LeaderCalls, 0.02, "one write a retry period")
	assert.InDelta(t, 1/(2*1.6), quiet.StandbyCalls, 0.02, "one read in a retry period with jitter, 1.6 on average")

	stalls := simulate(t, ours, Config{Scenario: Steady, SpikeEvery: 2 * time.Minute, Spike: dist("12s")})
	assert.Positive(t, stalls.Losses, "a stall of 12 s is longer than the renew deadline")
	short := simulate(t, ours, Config{Scenario: Steady, SpikeEvery: 2 * time.Minute, Spike: dist("3s")})
	assert.Zero(t, short.Losses)
}

func TestClockRates(t *testing.T) {
	safe := simulate(t, ours, Config{Scenario: Partition, Rates: []float64{1, 1.45}})
	assert.Zero(t, safe.Overlaps)
	beyond := simulate(t, ours, Config{Scenario: Partition, Rates: []float64{1, 2}})
	assert.Positive(t, beyond.Overlaps, "rates that differ by more than 15/10 break it")
	assert.Positive(t, beyond.LongestBoth)
}

func TestSameSeedSameRuns(t *testing.T) {
	c := Config{Scenario: Crash, Errors: 0.1, SpikeEvery: 30 * time.Second, Spike: dist("exp(1s)")}
	assert.Equal(t, simulate(t, ours, c), simulate(t, ours, c))
}

func TestBadConfig(t *testing.T) {
	good := Config{Settings: Defaults, Scenario: Crash, Runs: 1}
	for want, change := range map[string]func(*Config){
		"retry period: found 0s":                            func(c *Config) { c.RetryPeriod = 0 },
		"renew deadline: found 2s, expected more than 1.2":  func(c *Config) { c.RenewDeadline = 2 * time.Second },
		"lease duration: found 10s, expected more than the": func(c *Config) { c.LeaseDuration = 10 * time.Second },
		"scenario: unknown value \"x\"":                     func(c *Config) { c.Scenario = "x" },
		"candidates: found -1":                              func(c *Config) { c.Candidates = -1 },
		"runs: found -1":                                    func(c *Config) { c.Runs = -1 },
		"errors: found 1":                                   func(c *Config) { c.Errors = 1 },
		"spike: missing":                                    func(c *Config) { c.SpikeEvery = time.Second },
		"rates: found 1":                                    func(c *Config) { c.Rates = []float64{1} },
		"rates: found 0":                                    func(c *Config) { c.Rates = []float64{1, 0} },
	} {
		c := good
		change(&c)
		_, err := Simulate(t, ours, c)
		assert.ErrorContains(t, err, want)
	}
}
