package impltest

import (
	"sync"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// informerHandlerClauses are about handlers that go, call back or panic.
var informerHandlerClauses = []clause[newInformer]{
	{name: "remove-idempotent", contract: "informer 7", run: informerRemoveIdempotent,
		reason: "a removed handler is not called again, may be removed again, and the others go on"},
	{name: "remove-mid-flight", contract: "informer 7", run: informerRemoveMidFlight,
		reason: "a handler that is removed in the middle of a call gets nothing more, and ShutDownEventHandler waits for that call"},
	{name: "handler-calls-back", contract: "informer 7", run: informerHandlerCallsBack,
		reason: "a handler may add and remove handlers and ask the informer: no lock is held during its calls"},
	{name: "handler-panic", contract: "informer 8", run: informerHandlerPanic,
		reason: "where panics do not end the process, a handler that panics loses that notification, rests a second, and the others do not notice"},
	{name: "panic-syncs", contract: "informer 8", run: informerPanicSyncs,
		reason: "a registration syncs although its handler panicked in the initial list, else a program waits for ever (kubernetes/kubernetes#129024)"},
}

func informerRemoveIdempotent(t *trial, new newInformer) {
	t.needs("registration-synced")
	s := newSource("a")
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	early, stays := i.listen(cache.HandlerOptions{}), i.listen(cache.HandlerOptions{})
	unstarted := i.listen(cache.HandlerOptions{})
	assert.NoError(t, shutDownEventHandler(i, unstarted.registration), "before the start")
	i.run()
	late := i.listen(cache.HandlerOptions{})
	synctest.Wait()
	for range 2 {
		assert.NoError(t, i.RemoveEventHandler(early.registration))
		assert.NoError(t, i.RemoveEventHandler(late.registration))
	}
	other := inform(t, new, newSource(), cache.SharedIndexInformerOptions{})
	assert.NoError(t, i.RemoveEventHandler(other.listen(cache.HandlerOptions{}).registration), "another informer's")
	assert.Error(t, i.RemoveEventHandler(nil), "no registration at all")
	early.heard()
	late.heard()
	stays.heard()
	s.set("a")
	synctest.Wait()
	assert.Empty(t, early.heard())
	assert.Empty(t, late.heard())
	assert.Empty(t, unstarted.heard())
	assert.Equal(t, []string{"update a@11 a@12"}, stays.heard())
	i.stop()
	<-i.done
	assert.NoError(t, i.RemoveEventHandler(stays.registration), "after the end")
}

func informerRemoveMidFlight(t *trial, new newInformer) {
	t.needs("registration-synced", "remove-idempotent")
	s := newSource("a")
	i := running(t, new, s)
	gate := make(chan struct{})
	l := i.listen(cache.HandlerOptions{})
	synctest.Wait()
	l.during(func(string) { <-gate })
	l.heard()
	for range 100 {
		s.set("a")
	}
	synctest.Wait()
	gone := t.Go(func() { assert.NoError(t, shutDownEventHandler(i, l.registration)) })
	synctest.Wait()
	select {
	case <-gone:
		t.Errorf("ShutDownEventHandler returned during the call")
	default:
	}
	close(gate)
	<-gone
	assert.Len(t, l.heard(), 1, "calls of the removed handler")
}

func informerHandlerCallsBack(t *trial, new newInformer) {
	t.needs("remove-idempotent", "late-handler-one-moment")
	i := inform(t, new, newSource("a"), cache.SharedIndexInformerOptions{})
	l := i.listen(cache.HandlerOptions{})
	var second *listener
	var once sync.Once
	l.during(func(string) {
		once.Do(func() {
			second = i.listen(cache.HandlerOptions{})
			i.HasSynced()
			i.IsStopped()
			i.LastSyncResourceVersion()
			i.GetStore().List()
			assert.NoError(t, i.RemoveEventHandler(l.registration))
		})
	})
	i.run()
	i.source.set("a")
	synctest.Wait()
	assert.Len(t, l.heard(), 1)
	assert.NotEmpty(t, second.heard())
}

func informerHandlerPanic(t *trial, new newInformer) {
	t.needs("initial-list-flag")
	defer panics(false)()
	s := newSource()
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	bad, good := i.listen(cache.HandlerOptions{}), i.listen(cache.HandlerOptions{})
	bad.during(func(call string) {
		if call == "add b@12" {
			panic("a fault in the handler")
		}
	})
	i.run()
	s.set("a", "b", "c")
	synctest.Wait()
	assert.Equal(t, []string{"add a@11", "add b@12", "add c@13"}, good.heard())
	assert.Equal(t, []string{"add a@11", "add b@12"}, bad.heard())
	time.Sleep(time.Second)
	synctest.Wait()
	assert.Equal(t, []string{"add c@13"}, bad.heard(), "a second later")
	s.set("a")
	synctest.Wait()
	assert.Equal(t, []string{"update a@11 a@14"}, bad.heard())
}

func informerPanicSyncs(t *trial, new newInformer) {
	t.needs("handler-panic", "late-handler-one-moment")
	defer panics(false)()
	i := inform(t, new, newSource("a", "b"), cache.SharedIndexInformerOptions{})
	early := i.listen(cache.HandlerOptions{})
	early.during(func(string) { panic("a fault in the handler") })
	i.run()
	late := &listener{t: t, onCall: func(string) { panic("a fault in the handler") }}
	registration, err := i.AddEventHandler(late)
	assert.NoError(t, err)
	time.Sleep(10 * time.Second)
	synctest.Wait()
	assert.Len(t, early.heard(), 2)
	assert.Len(t, late.heard(), 2)
	assert.True(t, early.registration.HasSynced(), "the early handler")
	assert.True(t, registration.HasSynced(), "the late handler")
}

// Upstream keeps in a variable of the process whether a panic in its goroutines
// ends it. One clause at a time changes that.
var crashing sync.Mutex

// panics says whether panics end the process, until its result is called. They
// are not logged.
func panics(end bool) (restore func()) {
	crashing.Lock()
	handlers, really := utilruntime.PanicHandlers, utilruntime.ReallyCrash
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = end, nil
	return func() {
		utilruntime.ReallyCrash, utilruntime.PanicHandlers = really, handlers
		crashing.Unlock()
	}
}
