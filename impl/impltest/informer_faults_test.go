package impltest

import (
	"context"
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
	"older-not-told":       {"as-received"},
	"asks-no-bookmarks":    {"bookmark", "differential"},
	"watches-from-list":    {"disconnect", "bookmark", "differential"},
	"refusals-alike":       {"watch-refused", "differential"},
	"lists-beside":         {"watch-list"},
	"asks-any-version":     {"list-gone"},
	"pages-stored":         {"paging"},
	"first-page-only":      {"paging"},
	"empty-unsynced":       {"has-synced-empty"},
	"removal-hasty":        {"remove-mid-flight"},
	"two-seconds-at-least": {"resync-period-limits"},
	"place-reused":         {"source-of-truth"},
	"late-setting-ignored": {"started-refuses"},
	"stop-waits":           {"stop-unsynced"},
	"values-indexed":       {"typed"},
}

// A faultyInformer has one fault.
type faultyInformer struct {
	cache.SharedIndexInformer
	fault string
	calls chan struct{} // a lock, for faults about them, whose waiters a bubble sees
	began bool
	left  bool // a handler was removed
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
		i := &faultyInformer{fault: fault, calls: make(chan struct{}, 1)}
		i.SharedIndexInformer = informer.New(&faultySource{ListerWatcher: lw, server: cache.ToListerWatcherWithContext(lw), i: i}, example, o)
		return i
	}
}

func (i *faultyInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(h, cache.HandlerOptions{})
}

func (i *faultyInformer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	f := &faultyHandler{ResourceEventHandler: h, i: i, late: i.fault == "not-initial" && i.HasSynced(), deaf: i.fault == "place-reused" && i.left}
	switch i.fault {
	case "add-waits-for-calls":
		i.calls <- struct{}{}
		defer func() { <-i.calls }()
	case "resync-to-all":
		period := 10 * time.Second
		o.ResyncPeriod = &period
	case "two-seconds-at-least":
		if o.ResyncPeriod != nil && *o.ResyncPeriod > 0 {
			period := max(*o.ResyncPeriod, 2*time.Second)
			o.ResyncPeriod = &period
		}
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
	switch {
	case i.fault == "registration-early" && err == nil:
		return earlyRegistration{r, i}, nil
	case i.fault == "removal-hasty" && err == nil:
		return hastyRegistration{r}, nil
	}
	return r, err
}

type earlyRegistration struct {
	cache.ResourceEventHandlerRegistration
	i *faultyInformer
}

func (r earlyRegistration) HasSynced() bool { return r.i.HasSynced() }

type hastyRegistration struct {
	cache.ResourceEventHandlerRegistration
}

func (hastyRegistration) ShutdownChan() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func (i *faultyInformer) RemoveEventHandler(r cache.ResourceEventHandlerRegistration) error {
	switch faulty := r.(type) {
	case earlyRegistration:
		r = faulty.ResourceEventHandlerRegistration
	case hastyRegistration:
		r = faulty.ResourceEventHandlerRegistration
	}
	i.left = true
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
	if i.fault == "stop-waits" && !i.HasSynced() {
		time.Sleep(time.Second)
	}
}

func (i *faultyInformer) HasSynced() bool {
	if i.fault == "empty-unsynced" && len(i.GetStore().ListKeys()) == 0 {
		return false
	}
	return i.fault == "synced-early" || i.SharedIndexInformer.HasSynced()
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
	err := i.SharedIndexInformer.SetWatchErrorHandler(h)
	if i.fault == "late-setting-ignored" {
		return nil
	}
	return err
}

// A faultyHandler stands between a faulty informer and a handler.
type faultyHandler struct {
	cache.ResourceEventHandler
	i      *faultyInformer
	held   func() // for pairs-swapped
	joined bool   // it has had its initial list
	dead   bool
	deaf   bool // for place-reused
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
	switch {
	case h.i.fault == "same-version-dropped" && label(old) == label(new),
		h.i.fault == "older-not-told" && versionNumber(new) < versionNumber(old):
		return
	}
	h.call(new, func() { h.ResourceEventHandler.OnUpdate(old, new) })
	if h.i.fault == "told-twice" {
		h.ResourceEventHandler.OnUpdate(old, new)
	}
}

func (h *faultyHandler) OnDelete(obj any) {
	if _, lost := obj.(cache.DeletedFinalStateUnknown); lost && h.i.fault == "lost-not-told" || h.deaf {
		return
	}
	h.ResourceEventHandler.OnDelete(obj)
}

func TestInformerFaults(t *testing.T) {
	t.Parallel()
	planting[newInformer]{clauses: informerClauses(), own: informerClauses(), new: newFaultyInformer, faults: informerFaults,
		// client-go's informer breaks these, which the catalogue says and its test sees.
		lacking: []string{"panic-syncs", "relist-unchanged"},
	}.test(t)
}
