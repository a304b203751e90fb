package impltest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl/informer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// informerFaults are faults and the clauses that they break.
var informerFaults = map[string][]string{
	"store-lags":           {"store-before-notify"},
	"pairs-swapped":        {"in-order"},
	"told-twice":           {"in-order"},
	"one-at-a-time":        {"slow-handler-blocks-nobody"},
	"not-initial":          {"late-handler-initial"},
	"never-initial":        {"initial-list-flag"},
	"always-initial":       {"initial-list-flag"},
	"list-then-join":       {"late-handler-one-moment"},
	"remove-ignored":       {"remove-idempotent"},
	"add-waits-for-calls":  {"handler-calls-back"},
	"panic-ends-handler":   {"handler-panic"},
	"synced-early":         {"has-synced"},
	"registration-early":   {"registration-synced"},
	"resync-to-all":        {"resync-only-asked"},
	"same-version-dropped": {"same-rv-replaced-is-sync"},
	"run-twice-waits":      {"run-twice"},
	"stopped-accepts":      {"stopped-refuses"},
	"goroutine-left":       {"no-goroutine-left"},
	"indexers-lost":        {"indexers"},
	"transform-twice":      {"transform-once"},
	"index-error-ignored":  {"index-func-error"},
	"lost-not-told":        {"relist-after-410"},
	"errors-not-told":      {"watch-error-handler"},
	"no-metrics":           {"metrics-registered"},
	"metrics-once":         {"metrics-queued-items", "metrics-latency", "metrics-store-version"},
	"version-kept":         {"own-writes"},
}

// A faultyInformer has one fault.
type faultyInformer struct {
	cache.SharedIndexInformer
	fault string
	calls chan struct{} // a lock, for faults about them, whose waiters a bubble sees
	began bool
}

func newFaultyInformer(fault string) newInformer {
	return func(lw cache.ListerWatcher, example runtime.Object, o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		if fault == "index-error-ignored" {
			for name, f := range o.Indexers {
				o.Indexers[name] = func(obj any) ([]string, error) { values, _ := f(obj); return values, nil }
			}
		}
		switch fault {
		case "no-metrics":
			o.InformerMetricsProvider = nil
		case "metrics-once":
			o.InformerMetricsProvider = onceTold{o.InformerMetricsProvider}
		}
		return &faultyInformer{SharedIndexInformer: informer.New(lw, example, o), fault: fault, calls: make(chan struct{}, 1)}
	}
}

func (i *faultyInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(h, cache.HandlerOptions{})
}

func (i *faultyInformer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	f := &faultyHandler{ResourceEventHandler: h, i: i, late: i.fault == "not-initial" && i.HasSynced()}
	switch i.fault {
	case "add-waits-for-calls":
		i.calls <- struct{}{}
		defer func() { <-i.calls }()
	case "resync-to-all":
		period := 10 * time.Second
		o.ResyncPeriod = &period
	case "stopped-accepts":
		if i.IsStopped() {
			return nil, nil
		}
	case "list-then-join":
		if i.HasSynced() {
			f.joined = true
			for _, obj := range i.GetStore().List() {
				h.OnAdd(obj, true)
			}
			time.Sleep(time.Nanosecond)
		}
	}
	r, err := i.SharedIndexInformer.AddEventHandlerWithOptions(f, o)
	if i.fault == "registration-early" && err == nil {
		return earlyRegistration{r, i}, nil
	}
	return r, err
}

type earlyRegistration struct {
	cache.ResourceEventHandlerRegistration
	i *faultyInformer
}

func (r earlyRegistration) HasSynced() bool { return r.i.HasSynced() }

func (i *faultyInformer) RemoveEventHandler(r cache.ResourceEventHandlerRegistration) error {
	if early, ok := r.(earlyRegistration); ok {
		r = early.ResourceEventHandlerRegistration
	}
	if i.fault == "remove-ignored" {
		return nil
	}
	return i.SharedIndexInformer.RemoveEventHandler(r)
}

func (i *faultyInformer) RunWithContext(ctx context.Context) {
	if i.fault == "goroutine-left" {
		go func() { <-make(chan int) }()
	}
	if i.fault == "run-twice-waits" && i.began {
		<-make(chan int)
	}
	i.began = true
	i.SharedIndexInformer.RunWithContext(ctx)
}

func (i *faultyInformer) HasSynced() bool {
	return i.fault == "synced-early" || i.SharedIndexInformer.HasSynced()
}

func (i *faultyInformer) GetStore() cache.Store {
	if i.fault == "version-kept" {
		return keptVersion{i.SharedIndexInformer.GetStore()}
	}
	return i.SharedIndexInformer.GetStore()
}

// keptVersion is a store that forgets to follow the versions.
type keptVersion struct{ cache.Store }

func (keptVersion) LastStoreSyncResourceVersion() string { return "11" }

// onceTold is a provider whose metrics are told one value only.
type onceTold struct{ cache.InformerMetricsProvider }

func (p onceTold) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return once(p.InformerMetricsProvider.NewQueuedItemMetric(id).Set)
}

func (p onceTold) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	return once(p.InformerMetricsProvider.NewProcessingLatencyMetric(id).Observe)
}

func (p onceTold) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return once(p.InformerMetricsProvider.NewStoreResourceVersionMetric(id).Set)
}

func once(tell func(float64)) toldMetric {
	var first sync.Once
	return func(v float64) { first.Do(func() { tell(v) }) }
}

func (i *faultyInformer) AddIndexers(x cache.Indexers) error {
	if i.fault == "indexers-lost" {
		return nil
	}
	return i.SharedIndexInformer.AddIndexers(x)
}

func (i *faultyInformer) SetTransform(once cache.TransformFunc) error {
	if i.fault != "transform-twice" {
		return i.SharedIndexInformer.SetTransform(once)
	}
	return i.SharedIndexInformer.SetTransform(func(obj any) (any, error) {
		obj, _ = once(obj)
		return once(obj)
	})
}

func (i *faultyInformer) SetWatchErrorHandler(h cache.WatchErrorHandler) error {
	if i.fault == "errors-not-told" {
		h = func(*cache.Reflector, error) {}
	}
	return i.SharedIndexInformer.SetWatchErrorHandler(h)
}

// A faultyHandler stands between a faulty informer and a handler.
type faultyHandler struct {
	cache.ResourceEventHandler
	i      *faultyInformer
	held   func() // for pairs-swapped
	joined bool   // it has had its initial list
	dead   bool
	late   bool // for not-initial
}

func (h *faultyHandler) call(obj any, f func()) {
	switch h.i.fault {
	case "store-lags":
		_ = h.i.GetStore().Delete(obj)
		defer func() { _ = h.i.GetStore().Add(obj) }()
	case "pairs-swapped":
		if h.held == nil {
			h.held = f
			return
		}
		defer h.held()
		h.held = nil
	case "one-at-a-time", "add-waits-for-calls":
		h.i.calls <- struct{}{}
		defer func() { <-h.i.calls }()
	case "panic-ends-handler":
		if h.dead {
			return
		}
		h.dead = true
		defer func() { h.dead = recover() != nil }()
	}
	f()
}

func (h *faultyHandler) OnAdd(obj any, initial bool) {
	if initial && h.joined {
		return
	}
	initial = initial && !h.late && h.i.fault != "never-initial" || h.i.fault == "always-initial"
	h.call(obj, func() { h.ResourceEventHandler.OnAdd(obj, initial) })
}

func (h *faultyHandler) OnUpdate(old, new any) {
	if h.i.fault == "same-version-dropped" && label(old) == label(new) {
		return
	}
	h.call(new, func() { h.ResourceEventHandler.OnUpdate(old, new) })
	if h.i.fault == "told-twice" {
		h.ResourceEventHandler.OnUpdate(old, new)
	}
}

func (h *faultyHandler) OnDelete(obj any) {
	if _, lost := obj.(cache.DeletedFinalStateUnknown); lost && h.i.fault == "lost-not-told" {
		return
	}
	h.ResourceEventHandler.OnDelete(obj)
}

func TestInformerFaults(t *testing.T) {
	t.Parallel()
	planting[newInformer]{clauses: informerClauses(), own: informerClauses(), new: newFaultyInformer, faults: informerFaults,
		lacking: []string{"as-received", "bookmark", "differential", "disconnect", "has-synced-empty", "list-gone", "paging",
			"remove-mid-flight", "resync-period-limits", "source-of-truth", "started-refuses", "stop-unsynced", "typed", "watch-list", "watch-refused",
			// client-go's informer breaks these, which the catalogue says and its test sees.
			"panic-syncs", "relist-unchanged"},
	}.test(t)
}
