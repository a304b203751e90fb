package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/fakeapi"
	"github.com/informerbench/informerbench/loadgen/pace"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
)

// A Config says what is driven by what.
type Config struct {
	Workload string // name in the result
	Arm      string // name in a comparison
	Round    int
	Seed     uint64 // of reconciles and readers; the load has its spec's

	// Spec is the load and what the controller and the readers do.
	Spec *loadgen.Spec
	// Trace opens a recording that takes the place of the spec's load; nil for
	// none.
	Trace func() (loadgen.Stream, error)

	Parts     Parts
	TwoQueues bool    // nodes have a plain queue of their own, with as many workers
	CPU       bool    // reconciles burn processor time instead of sleeping
	ColdStart bool    // the first list is reconciled too, as after a restart: it is due when the caches are synced and the workers start
	OwnWrites bool    // measure when the controller could read each event if it were a write of its own, with a handler more an informer
	Speed     float64 // how many times faster than the workload says; 0 for as fast as possible

	Duration time.Duration // the load ends then at the latest; 0 for no limit
	Warmup   time.Duration // latencies of events due before it are not recorded
	Drain    time.Duration // how long reconciles take their time after the load; default 30s

	// Pacer waits for the events; nil for pace.New(). Run closes it.
	Pacer *pace.Pacer
	// Registry, if not nil, gets the metrics that controllers serve.
	Registry *prometheus.Registry
	// Ready, if not nil, is called before the controller starts, when the load was read
	// and found to be one that can be driven. Its error ends the drive.
	Ready func() error
	// Progress, if not nil, is called about once a second, and at the end.
	Progress func(Progress)
}

// A Progress is how a drive stands.
type Progress struct {
	Phase   string        // "sync", "load", "drain", "done"
	Elapsed time.Duration // since the first event's time
	Of      time.Duration // until the load ends, 0 if that is not known
	Sent    int
	Seen    int  // events that a reconcile saw, or saw overtaken
	Tick    Tick // the last second
}

// Longest is how long a drive may last.
const Longest = 24 * time.Hour

// defaultDrain is enough for a backlog of some seconds.
const defaultDrain = 30 * time.Second

// A drive is one run of a Config.
type drive struct {
	config    Config
	spec      *loadgen.Spec
	begun     time.Time
	epoch     atomic.Int64 // the first event's time, in nanoseconds since begun
	resources []*resource
	ledger    *ledger
	meters    meters
	c         *controller
	until     func(time.Time) time.Duration
	source    *source
	stream    *paced
	pacer     *pace.Pacer
	alone     time.Duration // p99 of the pacing's lateness without a controller
	own       *ownWrites    // nil if nobody asks
	server    *fakeapi.Server
	initial   int // objects of the first lists

	overdue    atomic.Bool // the drain took longer than it may
	workers    sync.WaitGroup
	shutDown   sync.Once
	background sync.WaitGroup // informers, readers, probe and ticker
	phase      atomic.Value
	timeline   timeline
}

// Run drives the configured controller until the load has ended, or ctx has,
// and everything is accounted for. The result is what was seen so far if it
// returns an error too. A drive that lost something is no error: ask the
// result's Accounting.
func Run(ctx context.Context, config Config) (Result, error) {
	if config.Pacer == nil {
		config.Pacer = pace.New()
	}
	defer config.Pacer.Close()
	d, err := newDrive(config)
	if err != nil {
		return Result{}, err
	}
	if config.Speed > 0 {
		if d.alone, err = config.Pacer.SelfTest(ctx, pacedEvents, pacedDistance); err != nil {
			return Result{}, err
		}
	}
	return d.run(ctx)
}

// now is the time since the first event's.
func (d *drive) now() time.Duration { return d.at(time.Now()) }

func (d *drive) at(t time.Time) time.Duration {
	return t.Sub(d.begun) - time.Duration(d.epoch.Load())
}

// begin makes this moment the first event's time.
func (d *drive) begin() { d.epoch.Store(int64(time.Since(d.begun))) }

func newDrive(config Config) (*drive, error) {
	parts, err := config.Parts.Complete()
	if err != nil {
		return nil, err
	}
	config.Parts = parts
	for name, x := range map[string]time.Duration{"duration": config.Duration, "warmup": config.Warmup, "drain": config.Drain} {
		if x < 0 || x > Longest {
			return nil, fmt.Errorf("%s: found %v, expected at most %v: a drive keeps a figure for each second in memory", name, x, Longest)
		}
	}
	spec, err := config.Spec.Complete()
	if err != nil {
		return nil, err
	}
	config.Drain = cmp.Or(config.Drain, defaultDrain)
	d := &drive{config: config, spec: spec, until: exactly, pacer: config.Pacer}
	if config.Trace != nil {
		d.source, err = ofTrace(config.Trace, time.Duration(float64(config.Duration)*config.Speed))
	} else {
		d.source, err = ofSpec(spec)
	}
	d.begun = time.Now()
	d.ledger = newLedger(d.now, config.Warmup)
	d.ledger.repeats = spec.Faults.Stale > 0
	return d, err
}

// build makes the controller and its informers.
func (d *drive) build(hurry context.Context) error {
	c := &controller{
		spec: d.spec.Reconcile, seed: d.config.Seed, ledger: d.ledger, meters: &d.meters,
		resources: map[string]*resource{},
		once:      d.config.Parts.shutDownOnce(),
		work:      &pastime{cpu: d.config.CPU, hurry: hurry, until: d.until},
	}
	d.c = c
	d.ledger.firstList = d.meters.add(FirstList)
	d.ledger.handlerWait = d.meters.add(HandlerWait)
	if d.config.OwnWrites {
		d.own = newOwnWrites(d.now, d.config.Warmup, d.meters.add(OwnWrite))
	}
	if c.spec.QPS > 0 {
		c.client = flowcontrol.NewTokenBucketRateLimiter(float32(c.spec.QPS), c.spec.Burst)
	}
	metrics := queueMetrics{wait: d.meters.add(QueueWait), record: func() bool { return d.now() >= d.config.Warmup }}
	if d.config.Registry != nil {
		c.exposed = expose(d.config.Registry)
		metrics.exposed = c.exposed
	}
	limiter, err := d.config.Parts.limiter(c.spec.Limiter)
	if err != nil {
		return err
	}
	if c.queue, err = d.config.Parts.queue("drive", limiter, metrics); err != nil {
		return err
	}
	if d.config.TwoQueues {
		c.plain = d.config.Parts.plainQueue("drive-nodes", metrics)
	}
	return nil
}

// watchFor makes the informer of a resource, with marks at the ends of its way:
// the transform sees what the watch delivers, an index function what is stored.
func (d *drive) watchFor(r *resource, lw cache.ListerWatcher, example loadgen.Object) error {
	newInformer, err := d.config.Parts.informers(d.spec.Reconcile.Batch)
	if err != nil {
		return err
	}
	delivered, kept := d.meters.add(Watch), d.meters.add(Store)
	r.informer = newInformer(lw, example, cache.SharedIndexInformerOptions{
		ResyncPeriod: d.spec.Reconcile.Resync,
		Indexers: cache.Indexers{namespaceIndex: func(obj any) ([]string, error) {
			o, ok := obj.(loadgen.Object)
			if !ok {
				return nil, fmt.Errorf("found a %T in the cache, expected an API object", obj)
			}
			d.ledger.mark(nameOf(r, o), version{rv: o.GetResourceVersion()}, stored, kept)
			return []string{o.GetNamespace()}, nil
		}},
	})
	r.store = r.informer.GetIndexer()
	if err := r.informer.SetTransform(func(obj any) (any, error) {
		if o, ok := obj.(loadgen.Object); ok {
			d.ledger.mark(nameOf(r, o), version{rv: o.GetResourceVersion()}, watched, delivered)
		}
		return obj, nil
	}); err != nil {
		return err
	}
	if r.handled, err = r.informer.AddEventHandler(d.c.handler(r, d.config.ColdStart)); err != nil || d.own == nil {
		return err
	}
	_, err = r.informer.AddEventHandler(d.own.handler(r))
	return err
}

// namespaceIndex is the index that every controller has.
const namespaceIndex = cache.NamespaceIndex

// ErrNeverSynced is what informers come to whose streamed list never ends. They
// wait without a word.
var ErrNeverSynced = errors.New("never synced: all objects have come, but not the bookmark that ends a streamed list; client-go lists page by page with KUBE_FEATURE_WatchListClient=false")

var errSync = errors.New("interrupted before the informers had their first list")
