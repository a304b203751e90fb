package impltest

import (
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// gated is a source whose lists wait.
type gated struct {
	*source
	gate chan struct{}
}

func (g gated) List(o metav1.ListOptions) (runtime.Object, error) { <-g.gate; return g.source.List(o) }

// informerSyncClauses are about the end of the initial list.
var informerSyncClauses = []clause[newInformer]{
	{name: "has-synced", contract: "informer 6", run: informerHasSynced,
		reason: "an informer has synced when the initial list is in its store, not before: controllers start then"},
	{name: "has-synced-empty", contract: "informer 6", run: informerHasSyncedEmpty,
		reason: "an informer of no objects syncs too, and so do its handlers"},
	{name: "registration-synced", contract: "informer 6", run: informerRegistrationSynced,
		reason: "a registration has synced when its handler has returned from the last initial object, not when the store holds it"},
}

func informerHasSynced(t *trial, new newInformer) {
	g := gated{newSource("a", "b"), make(chan struct{})}
	i := inform(t, func(_ cache.ListerWatcher, o runtime.Object, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return new(g, o, options)
	}, g.source, cache.SharedIndexInformerOptions{})
	assert.False(t, i.HasSynced(), "before the start")
	l := i.listen(cache.HandlerOptions{})
	i.run()
	assert.False(t, i.HasSynced(), "during the list")
	assert.False(t, i.GetController().HasSynced(), "the controller, during the list")
	assert.False(t, cache.IsDone(i.HasSyncedChecker()))
	assert.False(t, l.registration.HasSynced())
	close(g.gate)
	synctest.Wait()
	assert.True(t, i.HasSynced(), "after the list")
	assert.True(t, i.GetController().HasSynced(), "the controller, after the list")
	assert.True(t, cache.IsDone(i.HasSyncedChecker()))
	assert.NotEmpty(t, i.HasSyncedChecker().Name())
	assert.True(t, l.registration.HasSynced())
	i.expectTruth("when synced")
}

func informerHasSyncedEmpty(t *trial, new newInformer) {
	i := inform(t, new, newSource(), cache.SharedIndexInformerOptions{})
	early := i.listen(cache.HandlerOptions{})
	i.run()
	late := i.listen(cache.HandlerOptions{})
	synctest.Wait()
	assert.True(t, i.HasSynced())
	assert.True(t, early.registration.HasSynced())
	assert.True(t, late.registration.HasSynced())
}

func informerRegistrationSynced(t *trial, new newInformer) {
	t.needs("handler-calls-back", "store-before-notify", "late-handler-one-moment")
	i := inform(t, new, newSource("a", "b"), cache.SharedIndexInformerOptions{})
	early := i.listen(cache.HandlerOptions{})
	gate := make(chan struct{})
	early.during(func(string) { <-gate })
	i.run()
	late := &listener{t: t, onCall: func(string) { <-gate }}
	registration, err := i.AddEventHandler(late)
	assert.NoError(t, err)
	synctest.Wait()
	assert.True(t, i.HasSynced(), "the informer")
	for range 2 {
		assert.False(t, early.registration.HasSynced(), "the early handler")
		assert.False(t, registration.HasSynced(), "the late handler")
		gate <- struct{}{}
		gate <- struct{}{}
		synctest.Wait()
	}
	assert.True(t, early.registration.HasSynced(), "the early handler")
	assert.True(t, registration.HasSynced(), "the late handler")
	assert.True(t, cache.IsDone(registration.HasSyncedChecker()))
	assert.NotEmpty(t, registration.HasSyncedChecker().Name())
}

func every(period time.Duration) cache.HandlerOptions {
	return cache.HandlerOptions{ResyncPeriod: &period}
}

// informerResyncClauses are about resyncs.
var informerResyncClauses = []clause[newInformer]{
	{name: "resync-only-asked", contract: "informer 11", run: informerResyncOnlyAsked,
		reason: "a resync goes to the handlers that asked for one, in their period, and to no others"},
	{name: "resync-period-limits", contract: "informer 11", run: informerResyncPeriodLimits,
		reason: "a period of less than a second becomes a second; an informer without resyncs has none for late handlers either"},
	{name: "relist-unchanged", contract: "informer 3", run: informerRelistUnchanged,
		reason: "a list that changed nothing is not told to handlers without resync, also before the first resync (kubernetes/kubernetes#87957)"},
	{name: "same-rv-replaced-is-sync", contract: "informer 2", run: informerSameRVReplacedIsSync,
		reason: "an object that a new list brings in the version that is stored goes only to handlers that are due for a resync"},
}

func informerResyncOnlyAsked(t *trial, new newInformer) {
	t.needs("same-rv-replaced-is-sync", "late-handler-one-moment")
	i := inform(t, new, newSource("a"), cache.SharedIndexInformerOptions{ResyncPeriod: time.Minute})
	never, often, rare := i.listen(every(0)), i.listen(every(10*time.Second)), i.listen(cache.HandlerOptions{})
	i.run()
	late := i.listen(every(time.Second)) // the informer checks every 10 s only
	time.Sleep(125 * time.Second)
	synctest.Wait()
	resyncs := func(l *listener) int {
		n := 0
		for _, call := range l.heard() {
			if call == "update a@11 a@11" {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 0, resyncs(never), "of a handler that asked for none, in 125 s")
	assert.Equal(t, 12, resyncs(often), "of a handler that asked for one every 10 s, in 125 s")
	assert.Equal(t, 2, resyncs(rare), "of a handler with the informer's period of 60 s, in 125 s")
	assert.Equal(t, 12, resyncs(late), "of a late handler that asked for one every second, in 125 s")
}

func informerResyncPeriodLimits(t *trial, new newInformer) {
	t.needs("same-rv-replaced-is-sync", "resync-only-asked")
	i := inform(t, new, newSource("a"), cache.SharedIndexInformerOptions{ResyncPeriod: time.Minute})
	l := i.listen(every(time.Millisecond))
	i.run()
	time.Sleep(10*time.Second + time.Millisecond)
	synctest.Wait()
	assert.Len(t, l.heard(), 11, "the initial object and ten resyncs in ten seconds")
	none := running(t, new, newSource("a"))
	late := none.listen(every(10 * time.Second))
	time.Sleep(time.Minute)
	synctest.Wait()
	assert.Len(t, late.heard(), 1, "the initial object, and no resync of an informer that does none")
}

func informerRelistUnchanged(t *trial, new newInformer) {
	t.needs("resync-only-asked")
	for _, period := range []time.Duration{0, time.Hour} {
		s := newSource("a", "b")
		i := inform(t, new, s, cache.SharedIndexInformerOptions{ResyncPeriod: period})
		early := i.listen(every(0))
		i.run()
		late := i.listen(every(0))
		synctest.Wait()
		early.heard()
		late.heard()
		s.compact()
		s.set("b")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		assert.Equal(t, []string{"update b@12 b@14"}, early.heard(), "with a resync period of %s", period)
		assert.Equal(t, []string{"update b@12 b@14"}, late.heard(), "with a resync period of %s", period)
		lists, _ := s.asked()
		assert.Len(t, lists, 2)
	}
}

func informerSameRVReplacedIsSync(t *trial, new newInformer) {
	t.needs("resync-only-asked")
	s := newSource("a", "b")
	i := inform(t, new, s, cache.SharedIndexInformerOptions{ResyncPeriod: time.Minute})
	never, asked := i.listen(every(0)), i.listen(every(10*time.Second))
	i.run()
	time.Sleep(11 * time.Second) // one resync: the informer knows now who is due
	synctest.Wait()
	never.heard()
	asked.heard()
	s.compact()
	s.set("b")
	time.Sleep(5 * time.Second)
	synctest.Wait()
	assert.ElementsMatch(t, []string{"update b@12 b@14"}, never.heard())
	assert.Contains(t, asked.heard(), "update a@11 a@11")
}
