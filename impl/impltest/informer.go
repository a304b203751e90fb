package impltest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

type newInformer = func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer

// TestInformer tests a shared index informer against an API server that fails in
// every way that a Reflector knows. Relaxes names the clauses that it gives up.
func TestInformer(t *testing.T, new func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer, relaxes ...string) {
	t.Helper()
	runClauses(t, informerClauses(), new, relaxes)
}

func informerClauses() []clause[newInformer] {
	return slices.Concat(informerDeliveryClauses, informerHandlerClauses, informerSyncClauses, informerResyncClauses,
		informerLifeClauses, informerStoreClauses, informerReflectorClauses, informerFaultClauses, informerMetricClauses, informerDifferentialClauses)
}

// An informed is an informer under test and what stops it.
type informed struct {
	cache.SharedIndexInformer
	t      *trial
	source *source
	stop   context.CancelFunc
	done   <-chan struct{} // closed when Run has returned

	mu     sync.Mutex
	errors []error // what the watch error handler was told
}

// inform makes an informer of source.
func inform(t *trial, new newInformer, s *source, options cache.SharedIndexInformerOptions) *informed {
	i := &informed{SharedIndexInformer: new(s, &metav1.PartialObjectMetadata{}, options), t: t, source: s}
	require.NoError(t, i.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.errors = append(i.errors, err)
	}))
	return i
}

// run starts the informer; the clause's end stops it.
func (i *informed) run() *informed {
	ctx, cancel := context.WithCancel(context.Background())
	i.stop = cancel
	i.t.Cleanup(cancel)
	i.done = i.t.Go(func() { i.RunWithContext(ctx) })
	synctest.Wait()
	return i
}

// running makes and starts an informer of source.
func running(t *trial, new newInformer, s *source) *informed {
	return inform(t, new, s, cache.SharedIndexInformerOptions{}).run()
}

// listen adds a handler that writes down what it is told.
func (i *informed) listen(options cache.HandlerOptions) *listener {
	l := &listener{t: i.t}
	var err error
	l.registration, err = i.AddEventHandlerWithOptions(l, options)
	require.NoError(i.t, err)
	return l
}

// failures is what the watch error handler was told.
func (i *informed) failures() []error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.errors)
}

// expectTruth checks that the store holds what the source holds.
func (i *informed) expectTruth(when string) {
	i.t.Helper()
	assert.Equal(i.t, i.source.truth(), labels(i.GetStore().List()), "the store %s", when)
}

// A listener is a handler that writes down its calls.
type listener struct {
	t            *trial // of one whose calls are compared
	registration cache.ResourceEventHandlerRegistration

	mu     sync.Mutex
	calls  []string
	onCall func(call string) // runs in each call, if set
}

func (l *listener) OnAdd(obj any, initial bool) {
	if initial {
		l.note("initial " + label(obj))
		return
	}
	l.note("add " + label(obj))
}

func (l *listener) OnUpdate(old, new any) { l.note("update " + label(old) + " " + label(new)) }

func (l *listener) OnDelete(obj any) {
	if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		l.note("lost " + label(d.Obj))
		return
	}
	l.note("delete " + label(obj))
}

func (l *listener) note(call string) {
	l.mu.Lock()
	l.calls = append(l.calls, call)
	onCall := l.onCall
	l.mu.Unlock()
	if onCall != nil {
		onCall(call)
	}
}

// during sets what runs in each call.
func (l *listener) during(f func(call string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onCall = f
}

// heard returns the calls since the last time it was asked.
func (l *listener) heard() []string {
	l.t.needs("in-order", "store-before-notify")
	l.mu.Lock()
	defer l.mu.Unlock()
	calls := l.calls
	l.calls = nil
	return calls
}
