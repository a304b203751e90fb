package tune

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// More work than workers can have done proves that their number or the interval is
// wrong, so there is no advice on it.
func TestMoreWorkThanWorkersCanDo(t *testing.T) {
	s := system{rate: 100, service: exponentially(0.025), mean: 0.025, workers: 3}
	seen := s.run(*seed, 600)
	for _, c := range []struct {
		workers  int
		interval time.Duration
		why      string
	}{
		{3, 10 * time.Minute, ""},
		{3, time.Minute, `^2[45].* workers were busy on average in 1m0s, expected at most the 3 that there are \(given\)$`},
		{2, 10 * time.Minute, `^2\.[45]\d? workers were busy on average in 10m0s, expected at most the 2`},
		{1, 10 * time.Minute, `^2\.[45]\d? workers were busy on average in 10m0s, expected at most the only one \(given\)$`},
	} {
		d := seen.delta(t)
		d.Interval = c.interval
		s.workers = c.workers
		q := d.Queues["q"]
		why, check := implausible(q, defaults.ClientGo.Current(s.given(), q), d.Interval)
		if c.why == "" {
			assert.Empty(t, why)
			continue
		}
		assert.Regexp(t, c.why, why)
		assert.Contains(t, check, "--workers")
		r, err := Metrics(t.Context(), d, Options{Current: s.given()})
		require.NoError(t, err)
		assert.Equal(t, why, r.Queues[0].Refused)
		assert.Equal(t, check, r.Queues[0].Record)
		assert.Nil(t, r.Queues[0].Now)
	}
}

// An overloaded queue's workers are busy all the time, and ended what they had begun
// before: of long reconciles that is more than the interval holds.
func TestWorkBegunBeforeTheIntervalIsNotBeyondIt(t *testing.T) {
	busy := scrape.Queue{Work: scrape.Histogram{Bounds: []float64{10, 100}, Counts: []float64{200, 10, 0}, Sum: 1500}}
	c := predict.Current{Settings: predict.Settings{Workers: 2}, Told: map[string]string{"workers": "given"}}
	why, _ := implausible(busy, c, 650*time.Second)
	assert.Empty(t, why)
	why, _ = implausible(busy, c, 600*time.Second)
	assert.NotEmpty(t, why)

	assert.Equal(t, 200.0, longest(busy.Work, 2))
	assert.Equal(t, 1020.0, longest(busy.Work, 12))
	busy.Work.Counts[2] = 1
	assert.Equal(t, 1400.0, longest(busy.Work, 1), "one took what the others left")
}
