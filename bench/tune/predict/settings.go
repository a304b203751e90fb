package predict

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/loadgen"
)

// Settings are what can be set in production.
type Settings struct {
	Workers     int           `json:"workers" yaml:"workers"` // concurrent syncs, MaxConcurrentReconciles
	QPS         float64       `json:"qps" yaml:"qps"`         // the client's limit, calls a second; 0: none
	Burst       int           `json:"burst" yaml:"burst"`     // calls
	BaseDelay   time.Duration `json:"baseDelayNanoseconds" yaml:"baseDelay"`
	MaxDelay    time.Duration `json:"maxDelayNanoseconds" yaml:"maxDelay"`
	BucketRate  float64       `json:"bucketRate" yaml:"bucketRate"`    // retries a second; 0: there is no bucket
	BucketBurst int           `json:"bucketBurst" yaml:"bucketBurst"`  // retries
	Resync      time.Duration `json:"resyncNanoseconds" yaml:"resync"` // 0: none
	Batch       int           `json:"batch" yaml:"batch"`              // deltas that an informer takes at a time
	Priority    bool          `json:"priority" yaml:"priority"`        // lists and resyncs stand behind changes
	Split       bool          `json:"split" yaml:"split"`              // a queue for each resource, the workers shared out
	Queue       string        `json:"queue" yaml:"queue"`              // variant
}

// Current are the settings that the load was measured under.
type Current struct {
	Settings `yaml:",inline"`
	// Told says where each is known from, by its name in JSON and YAML: "given",
	// "metrics", or whose default it is.
	Told map[string]string `json:"told" yaml:"-"`
}

// MaxWorkers is more than any controller has.
const MaxWorkers = 100_000

// Check reports the first setting that makes no sense; the queue has to be one
// of those whose cost is known.
func (s Settings) Check(queues []QueueCost) error {
	if err := s.CheckRange(); err != nil {
		return err
	}
	if s.QPS > 0 && s.Burst < 1 {
		return fmt.Errorf("burst: found %d, expected at least 1 beside a QPS of %v", s.Burst, s.QPS)
	}
	if s.BucketRate > 0 && s.BucketBurst < 1 {
		return fmt.Errorf("bucketBurst: found %d, expected at least 1 beside a bucketRate of %v", s.BucketBurst, s.BucketRate)
	}
	switch {
	case s.MaxDelay >= s.BaseDelay:
	case s.MaxDelay == Defaults().MaxDelay:
		return fmt.Errorf("baseDelay: found %v, expected at most the maximum delay, %v", s.BaseDelay, s.MaxDelay)
	default:
		return fmt.Errorf("maxDelay: found %v, expected at least the base delay, %v", s.MaxDelay, s.BaseDelay)
	}
	return checkQueue(s, queues)
}

// Defaults are client-go's, which has none for the workers.
func Defaults() Settings {
	return Settings{
		QPS: 5, Burst: 10,
		BaseDelay: 5 * time.Millisecond, MaxDelay: 1000 * time.Second, BucketRate: 10, BucketBurst: 100,
		Batch: 1000, Queue: "client-go",
	}
}

// PeersQueue is the peers' queue with priorities or without.
func (s Settings) PeersQueue() string {
	if s.Priority {
		return "controller-runtime"
	}
	return "client-go"
}

// Cost puts settings on one scale: workers, of which each holds a connection and
// memory, and what the client may ask of the API server. Ten calls a second
// cost as much as a worker.
func (s Settings) Cost() float64 { return float64(s.Workers) + s.QPS/10 }

// apply gives a copy of the controller these settings.
func (s Settings) apply(r loadgen.Reconcile) loadgen.Reconcile {
	r.Workers, r.QPS, r.Burst = s.Workers, s.QPS, s.Burst
	r.Limiter = loadgen.Limiter{BaseDelay: s.BaseDelay, MaxDelay: s.MaxDelay, Rate: s.BucketRate, Burst: s.BucketBurst}
	if s.BucketRate == 0 {
		r.Limiter.Rate, r.Limiter.Burst = 1e9, 1e9 // a spec's 0 is the default
	}
	r.Resync, r.Batch = s.Resync, s.Batch
	return r
}

// SettingsOf are a spec's, with client-go's queue.
func SettingsOf(r loadgen.Reconcile) Settings {
	return Settings{
		Workers: r.Workers, QPS: r.QPS, Burst: r.Burst,
		BaseDelay: r.Limiter.BaseDelay, MaxDelay: r.Limiter.MaxDelay, BucketRate: r.Limiter.Rate, BucketBurst: r.Limiter.Burst,
		Resync: r.Resync, Batch: r.Batch, Queue: "client-go",
	}
}

// Controller are the settings as the simulation takes them.
func (s Settings) Controller() model.Controller {
	return model.Controller{
		Workers: s.Workers, QPS: s.QPS, Burst: s.Burst, BaseDelay: s.BaseDelay.Seconds(), MaxDelay: s.MaxDelay.Seconds(),
		BucketRate: s.BucketRate, BucketBurst: s.BucketBurst,
	}
}
