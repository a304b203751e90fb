package impltest

import (
	"errors"
	"syscall"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// informerReflectorClauses are about what a server does.
var informerReflectorClauses = []clause[newInformer]{
	{name: "relist-after-410", contract: "informer 10", run: informerRelistAfter410,
		reason: "a watch that is gone is followed by a new list; what was deleted meanwhile is told with its last known state"},
	{name: "list-gone", contract: "informer 10", run: informerListGone,
		reason: "a list whose resource version is gone or too large is tried again at once without one"},
	{name: "bookmark", contract: "informer 10", run: informerBookmark,
		reason: "a bookmark moves the resource version of informer and store, tells no handler, and is where a watch goes on"},
	{name: "paging", contract: "informer 10", run: informerPaging,
		reason: "a list that comes in pages is one list: nothing of it is told or stored before the last page"},
	{name: "watch-list", contract: "informer 10", run: informerWatchList,
		reason: "from a server that streams, the initial list comes as a watch and no list is asked for"},
	{name: "disconnect", contract: "informer 10", run: informerDisconnect,
		reason: "a watch that ends goes on where it was: nothing is lost, told twice or listed again"},
	{name: "as-received", contract: "informer 10", run: informerAsReceived,
		reason: "events that come twice, out of order or for unknown objects are stored and told as received: the server decides"},
	{name: "watch-error-handler", contract: "informer 10", run: informerWatchErrorHandler,
		reason: "failed lists are told to the watch error handler and tried again, each time later"},
	{name: "watch-refused", contract: "informer 10", run: informerWatchRefused,
		reason: "a watch that is refused or throttled is tried again later, without a new list"},
}

func informerRelistAfter410(t *trial, new newInformer) {
	t.needs("initial-list-flag")
	s := newSource("a", "b", "c")
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	l := i.listen(cache.HandlerOptions{})
	i.run()
	l.heard()
	s.compact()
	s.unset("a")
	s.set("b", "d")
	time.Sleep(time.Minute)
	synctest.Wait()
	i.expectTruth("after a relist")
	calls := l.heard()
	assert.Subset(t, calls, []string{"lost a@11", "update b@12 b@16", "add d@17"})
	assert.NotContains(t, calls, "update a@11 a@11")
	lists, _ := s.asked()
	assert.Len(t, lists, 2)
}

func informerListGone(t *trial, new newInformer) {
	for name, err := range map[string]error{"410": goneError(), "too large": tooLargeError()} {
		s := newSource("a")
		s.fail([]error{err}, nil)
		i := running(t, new, s)
		i.expectTruth("after " + name)
		lists, _ := s.asked()
		if assert.Len(t, lists, 2, name) {
			assert.Equal(t, "0", lists[0].ResourceVersion, name)
			assert.Equal(t, "", lists[1].ResourceVersion, name)
		}
	}
}

func informerBookmark(t *trial, new newInformer) {
	t.needs("initial-list-flag")
	s := newSource("a")
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	l := i.listen(cache.HandlerOptions{})
	assert.Equal(t, "", i.LastSyncResourceVersion(), "before the start")
	i.run()
	assert.Equal(t, "11", i.LastSyncResourceVersion())
	assert.Equal(t, "11", i.GetIndexer().LastStoreSyncResourceVersion())
	s.bookmark()
	synctest.Wait()
	assert.Equal(t, "12", i.LastSyncResourceVersion())
	assert.Equal(t, "12", i.GetController().LastSyncResourceVersion())
	assert.Equal(t, "12", i.GetIndexer().LastStoreSyncResourceVersion())
	assert.Equal(t, []string{"initial a@11"}, l.heard())
	s.disconnect()
	time.Sleep(time.Minute)
	_, watches := s.asked()
	assert.Equal(t, "12", watches[len(watches)-1].ResourceVersion)
	assert.True(t, watches[0].AllowWatchBookmarks)
}

func informerPaging(t *trial, new newInformer) {
	g := gated{newSource(keys("o", 1234)...), make(chan struct{})}
	i := inform(t, func(_ cache.ListerWatcher, o runtime.Object, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return new(g, o, options)
	}, g.source, cache.SharedIndexInformerOptions{})
	l := i.listen(cache.HandlerOptions{})
	i.run()
	for page := range 3 {
		assert.Empty(t, i.GetStore().List(), "the store before page %d of 3", page+1)
		assert.Empty(t, l.heard(), "calls before page %d of 3", page+1)
		g.gate <- struct{}{}
		synctest.Wait()
	}
	close(g.gate)
	i.expectTruth("after three pages")
	assert.Len(t, l.heard(), 1234)
	lists, _ := g.asked()
	assert.Len(t, lists, 3)
}

func informerWatchList(t *trial, new newInformer) {
	t.needs("relist-after-410", "initial-list-flag")
	s := newSource("a", "b")
	s.streaming = true
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	l := i.listen(cache.HandlerOptions{})
	i.run()
	assert.True(t, i.HasSynced())
	assert.ElementsMatch(t, []string{"initial a@11", "initial b@12"}, l.heard())
	s.set("a")
	synctest.Wait()
	assert.Equal(t, []string{"update a@11 a@13"}, l.heard())
	s.compact()
	s.unset("b")
	time.Sleep(time.Minute)
	synctest.Wait()
	assert.Contains(t, l.heard(), "lost b@12")
	i.expectTruth("after a second stream")
	lists, _ := s.asked()
	assert.Empty(t, lists)
}

func informerDisconnect(t *trial, new newInformer) {
	t.needs("initial-list-flag")
	s := newSource("a")
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	l := i.listen(cache.HandlerOptions{})
	i.run()
	s.set("a")
	synctest.Wait()
	s.disconnect()
	s.set("a", "b")
	time.Sleep(time.Minute)
	synctest.Wait()
	assert.Equal(t, []string{"initial a@11", "update a@11 a@12", "update a@12 a@13", "add b@14"}, l.heard())
	lists, _ := s.asked()
	assert.Len(t, lists, 1)
}

func informerAsReceived(t *trial, new newInformer) {
	t.needs("initial-list-flag", "same-rv-replaced-is-sync")
	s := newSource("a")
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	l := i.listen(cache.HandlerOptions{})
	i.run()
	l.heard()
	s.inject(apiwatch.Modified, object("a", 20))
	s.inject(apiwatch.Modified, object("a", 19))
	s.inject(apiwatch.Added, object("a", 19))
	s.inject(apiwatch.Modified, object("b", 21))
	s.inject(apiwatch.Deleted, object("c", 22))
	synctest.Wait()
	assert.Equal(t, []string{"update a@11 a@20", "update a@20 a@19", "update a@19 a@19", "add b@21", "delete c@22"}, l.heard())
	assert.Equal(t, "a@19 b@21", labels(i.GetStore().List()))
}

func informerWatchErrorHandler(t *trial, new newInformer) {
	s := newSource("a")
	const failures = 6
	for range failures {
		s.fail([]error{errors.New("no route")}, nil)
	}
	g := timed{source: s}
	i := inform(t, func(_ cache.ListerWatcher, o runtime.Object, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return new(&g, o, options)
	}, s, cache.SharedIndexInformerOptions{})
	i.run()
	time.Sleep(15 * time.Minute)
	synctest.Wait()
	if told := i.failures(); assert.Len(t, told, failures) {
		assert.ErrorContains(t, told[0], "no route")
	}
	assert.True(t, i.HasSynced())
	for n := range failures {
		gap := g.lists[n+1].Sub(g.lists[n])
		assert.GreaterOrEqual(t, gap, 800*time.Millisecond<<n, "before attempt %d", n+1)
		assert.LessOrEqual(t, gap, 1600*time.Millisecond<<n, "before attempt %d", n+1)
	}
}

func informerWatchRefused(t *trial, new newInformer) {
	t.needs("initial-list-flag")
	s := newSource("a")
	s.fail(nil, []error{syscall.ECONNREFUSED, throttledError(), syscall.ECONNREFUSED})
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	l := i.listen(cache.HandlerOptions{})
	i.run()
	s.set("a")
	time.Sleep(5 * time.Minute)
	synctest.Wait()
	assert.Equal(t, []string{"initial a@11", "update a@11 a@12"}, l.heard())
	lists, watches := s.asked()
	assert.Len(t, lists, 1)
	assert.Len(t, watches, 4)
}

// timed notes when its source is asked for a list.
type timed struct {
	*source
	lists []time.Time
}

func (s *timed) List(o metav1.ListOptions) (runtime.Object, error) {
	s.lists = append(s.lists, time.Now())
	return s.source.List(o)
}
