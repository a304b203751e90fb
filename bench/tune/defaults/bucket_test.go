package defaults

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/assert"
)

// The labels of workqueue_depth tell the queue, and that the limiter.
func TestTheQueueTellsTheBucket(t *testing.T) {
	for _, c := range []struct {
		name     string
		flavour  Flavour
		kind     scrape.Kind
		given    string // setting
		priority bool
		rate     float64
		burst    int
	}{
		{"not scraped, as by default", ControllerRuntime, scrape.Untold, "", true, 0, 0},
		{"prioritised", ControllerRuntime, scrape.Prioritised, "", true, 0, 0},
		{"older, or switched off", ControllerRuntime, scrape.Plain, "", false, 10, 100},
		{"switched off, as given", ControllerRuntime, scrape.Prioritised, "priority", false, 10, 100},
		{"with a bucket of its own", ControllerRuntime, scrape.Prioritised, "bucketRate", true, 7, 100},
		{"with a burst of its own", ControllerRuntime, scrape.Prioritised, "bucketBurst", true, 10, 7},
		{"client-go", ClientGo, scrape.Plain, "", false, 10, 100},
	} {
		given := predict.Current{Settings: predict.Settings{Workers: 1, BucketRate: 7, BucketBurst: 7}, Told: map[string]string{c.given: "given", "workers": "given"}}
		got := c.flavour.Current(given, scrape.Queue{Kind: c.kind})
		assert.Equal(t, []any{c.priority, c.rate, c.burst}, []any{got.Priority, got.BucketRate, got.BucketBurst}, c.name)
		assert.NoError(t, got.Check(predict.MeasuredQueues), c.name)
	}
	assert.Equal(t, ControllerRuntime, FlavourOf(&scrape.Delta{Interval: time.Minute, Counts: scrape.Counts{Queues: map[string]scrape.Queue{"q": {Kind: scrape.Prioritised}}}}), "of workqueue_… families alone")
}
