package impltest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/cache"
)

// informerDeliveryClauses are about what is told when.
var informerDeliveryClauses = []clause[newInformer]{
	{name: "store-before-notify", contract: "informer 1", run: informerStoreBeforeNotify,
		reason: "a handler finds in the store and its indices what it is told, or something newer: it reconciles from there"},
	{name: "in-order", contract: "informer 5", run: informerInOrder,
		reason: "a handler hears of changes in the order in which the server made them"},
	{name: "slow-handler-blocks-nobody", contract: "informer 5", run: informerSlowHandlerBlocksNobody,
		reason: "a handler that hangs holds up neither the store nor the other handlers, and gets everything later"},
	{name: "late-handler-initial", contract: "informer 4", run: informerLateHandlerInitial,
		reason: "a handler that comes late gets each stored object once, marked as initial, then what follows"},
	{name: "late-handler-one-moment", contract: "informer 4", run: informerLateHandlerOneMoment,
		reason: "a handler that comes in the middle of a stream misses nothing and gets nothing twice"},
	{name: "initial-list-flag", contract: "informer 4", run: informerInitialListFlag,
		reason: "objects of the initial list are marked as initial and others are not: handlers tell start-up from change"},
}

func informerStoreBeforeNotify(t *trial, new newInformer) {
	i := inform(t, new, newSource("a", "b"), cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
	gone := ""
	check := func(call string) {
		words := strings.Fields(call)
		name, version, _ := strings.Cut(words[len(words)-1], "@")
		_, exists, _ := i.GetIndexer().GetByKey("ns/" + name)
		keys, _ := i.GetIndexer().IndexKeys(cache.NamespaceIndex, "ns")
		if want := words[0] != "delete" && name != gone; want != exists || want != slices.Contains(keys, "ns/"+name) {
			t.Errorf("during %q of version %s, object stored: %v, index entry: %v", call, version, exists, keys)
		}
	}
	l := i.listen(cache.HandlerOptions{})
	l.during(check)
	i.run()
	i.source.set("a", "c", "b")
	synctest.Wait()
	i.source.unset("a")
	synctest.Wait()
	i.expectTruth("after updates and a deletion")
	assert.Len(t, l.heard(), 6)
}

func informerInOrder(t *trial, new newInformer) {
	t.needs("initial-list-flag")
	s := newSource()
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	l := i.listen(cache.HandlerOptions{})
	i.run()
	var want []string
	last := map[string]string{}
	for n := range 3000 {
		name := fmt.Sprint("o", n*n%7)
		s.set(name)
		word := fmt.Sprint(name, "@", s.version)
		if last[name] == "" {
			want = append(want, "add "+word)
		} else {
			want = append(want, "update "+last[name]+" "+word)
		}
		last[name] = word
		if n%500 == 0 {
			synctest.Wait()
		}
	}
	synctest.Wait()
	assert.Equal(t, want, l.heard())
}

func informerSlowHandlerBlocksNobody(t *trial, new newInformer) {
	t.needs("handler-calls-back")
	s := newSource("a")
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	gate := make(chan struct{})
	slow, fast := i.listen(cache.HandlerOptions{}), i.listen(cache.HandlerOptions{})
	slow.during(func(string) { <-gate })
	i.run()
	for range 5000 {
		s.set("a")
	}
	synctest.Wait()
	i.expectTruth("beside a handler that hangs")
	told := fast.heard()
	assert.Len(t, told, 5001, "calls of the other handler")
	close(gate)
	synctest.Wait()
	assert.Equal(t, told, slow.heard(), "calls of the slow handler, in the end")
}

func informerLateHandlerInitial(t *trial, new newInformer) {
	t.needs("initial-list-flag")
	s := newSource("a", "b")
	i := running(t, new, s)
	l := i.listen(cache.HandlerOptions{})
	synctest.Wait()
	assert.ElementsMatch(t, []string{"initial a@11", "initial b@12"}, l.heard())
	s.set("a", "c")
	synctest.Wait()
	assert.Equal(t, []string{"update a@11 a@13", "add c@14"}, l.heard())
}

func informerLateHandlerOneMoment(t *trial, new newInformer) {
	t.needs("late-handler-initial", "initial-list-flag", "store-before-notify")
	s := newSource("a", "b", "c")
	i := running(t, new, s)
	sent := t.Go(func() {
		for range 400 {
			s.set("a", "b", "c")
			runtime.Gosched()
		}
	})
	var late []*listener
	var mu sync.Mutex
	added := t.Go(func() {
		for range 40 {
			s.set("a", "b", "c") // on their way even if all of the others were sent before
			l := i.listen(cache.HandlerOptions{})
			mu.Lock()
			late = append(late, l)
			mu.Unlock()
			runtime.Gosched()
		}
	})
	<-sent
	<-added
	synctest.Wait()
	for _, l := range late {
		state := map[string]string{}
		for n, call := range l.heard() {
			words := strings.Fields(call)
			name, _, _ := strings.Cut(words[1], "@")
			switch {
			case words[0] == "initial" && n < 3 && state[name] == "":
				state[name] = words[1]
			case words[0] == "update" && state[name] == words[1]:
				state[name] = words[2]
			default:
				t.Fatalf("call %d is %q, but the handler knows %q", n, call, state[name])
			}
		}
		assert.Equal(t, s.truth(), strings.Join([]string{state["a"], state["b"], state["c"]}, " "))
	}
}

func informerInitialListFlag(t *trial, new newInformer) {
	s := newSource("a", "b")
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	l := i.listen(cache.HandlerOptions{})
	i.run()
	assert.ElementsMatch(t, []string{"initial a@11", "initial b@12"}, l.heard())
	s.set("c")
	synctest.Wait()
	assert.Equal(t, []string{"add c@13"}, l.heard())
}
