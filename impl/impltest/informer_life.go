package impltest

import (
	"context"
	"errors"
	"fmt"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// informerLifeClauses are about start and end.
var informerLifeClauses = []clause[newInformer]{
	{name: "run-twice", contract: "informer 9", run: informerRunTwice,
		reason: "a second Run returns at once and disturbs nothing, also after the end"},
	{name: "stopped-refuses", contract: "informer 9", run: informerStoppedRefuses,
		reason: "an informer that has ended refuses handlers and indices, which would wait for ever"},
	{name: "started-refuses", contract: "informer 9", run: informerStartedRefuses,
		reason: "what must be set before the start is refused afterwards, not ignored"},
	{name: "no-goroutine-left", contract: "informer 9", run: informerNoGoroutineLeft,
		reason: "when Run returns, nothing of the informer runs any more, whatever happened before"},
	{name: "stop-unsynced", contract: "informer 9", run: informerStopUnsynced,
		reason: "an informer that never could list ends at once when it is told to"},
}

func informerRunTwice(t *trial, new newInformer) {
	i := running(t, new, newSource("a"))
	i.RunWithContext(context.Background())
	l := i.listen(cache.HandlerOptions{})
	i.source.set("a")
	synctest.Wait()
	assert.Len(t, l.heard(), 2)
	i.stop()
	<-i.done
	i.Run(nil)
	lists, _ := i.source.asked()
	assert.Len(t, lists, 1)
}

func informerStoppedRefuses(t *trial, new newInformer) {
	t.needs("indexers")
	i := inform(t, new, newSource("a"), cache.SharedIndexInformerOptions{})
	assert.False(t, i.IsStopped(), "before the start")
	i.run()
	assert.False(t, i.IsStopped(), "while it runs")
	i.stop()
	<-i.done
	assert.True(t, i.IsStopped(), "after the end")
	_, err := i.AddEventHandler(&listener{})
	assert.ErrorContains(t, err, "stopped")
	assert.ErrorContains(t, i.AddIndexers(cache.Indexers{"x": cache.MetaNamespaceIndexFunc}), "stopped")
	i.expectTruth("after the end")
}

func informerStartedRefuses(t *trial, new newInformer) {
	i := running(t, new, newSource())
	assert.Error(t, i.SetTransform(func(obj any) (any, error) { return obj, nil }))
	assert.Error(t, i.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
	assert.Error(t, i.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}))
}

func informerNoGoroutineLeft(t *trial, new newInformer) {
	s := newSource("a", "b")
	i := inform(t, new, s, cache.SharedIndexInformerOptions{ResyncPeriod: 10 * time.Second})
	early := i.listen(cache.HandlerOptions{})
	i.run()
	late := i.listen(every(10 * time.Second))
	i.listen(cache.HandlerOptions{})
	assert.NoError(t, i.RemoveEventHandler(late.registration))
	s.set("a")
	s.disconnect()
	time.Sleep(time.Minute)
	early.during(func(string) { time.Sleep(time.Second) })
	for range 10 {
		s.set("a")
	}
	synctest.Wait()
	i.stop()
	<-i.done
	synctest.Wait()
	assert.Empty(t, t.Goroutines(), "after Run has returned")
}

func informerStopUnsynced(t *trial, new newInformer) {
	t.needs("has-synced", "no-goroutine-left")
	s := newSource("a")
	for range 100 {
		s.fail([]error{errors.New("no route")}, nil)
	}
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	l := i.listen(cache.HandlerOptions{})
	i.run()
	time.Sleep(3 * time.Minute)
	begun := time.Now()
	i.stop()
	<-i.done
	synctest.Wait()
	assert.Zero(t, time.Since(begun))
	assert.False(t, i.HasSynced())
	assert.False(t, l.registration.HasSynced())
	assert.Empty(t, t.Goroutines(), "after Run has returned")
}

// informerStoreClauses are about the store.
var informerStoreClauses = []clause[newInformer]{
	{name: "indexers", contract: "informer 12", run: informerIndexers,
		reason: "indices may be added before and after the start, over what is stored too; a name that is taken is an error"},
	{name: "transform-once", contract: "informer 12", run: informerTransformOnce,
		reason: "each object goes through the transformer once, and only its result is stored and told"},
	{name: "typed", contract: "informer 12", run: informerTyped,
		reason: "client-go's typed informer works over it"},
	{name: "index-func-error", contract: "informer 8", run: informerIndexFuncError,
		reason: "an index function that fails ends Run with a panic that names the key and the index: the store would be wrong for ever"},
}

func informerIndexers(t *trial, new newInformer) {
	i := inform(t, new, newSource("a"), cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
	byVersion := func(obj any) ([]string, error) {
		return []string{obj.(*metav1.PartialObjectMetadata).ResourceVersion}, nil
	}
	assert.NoError(t, i.AddIndexers(cache.Indexers{"early": byVersion}))
	assert.Error(t, i.AddIndexers(cache.Indexers{"early": byVersion}))
	i.run()
	assert.NoError(t, i.AddIndexers(cache.Indexers{"late": byVersion}))
	i.source.set("b")
	synctest.Wait()
	for index, want := range map[string]string{"early": "11", "late": "12"} {
		keys, err := i.GetIndexer().IndexKeys(index, want)
		assert.NoError(t, err)
		assert.Len(t, keys, 1, "%s, version %s", index, want)
	}
	objs, err := i.GetIndexer().ByIndex(cache.NamespaceIndex, "ns")
	assert.NoError(t, err)
	assert.Len(t, objs, 2)
}

func informerTransformOnce(t *trial, new newInformer) {
	t.needs("initial-list-flag")
	s := newSource("a")
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	assert.NoError(t, i.SetTransform(func(obj any) (any, error) {
		if o, ok := obj.(*metav1.PartialObjectMetadata); ok {
			o = o.DeepCopy()
			o.ResourceVersion += "x"
			return o, nil
		}
		return obj, nil
	}))
	l := i.listen(cache.HandlerOptions{})
	i.run()
	s.set("a")
	synctest.Wait()
	assert.Equal(t, "a@12x", labels(i.GetStore().List()))
	s.unset("a")
	synctest.Wait()
	assert.Equal(t, []string{"initial a@11x", "update a@11x a@12x", "delete a@13x"}, l.heard())
	assert.Empty(t, i.GetStore().List())
}

func informerIndexFuncError(t *trial, new newInformer) {
	defer panics(true)()
	i := inform(t, new, newSource("a"), cache.SharedIndexInformerOptions{Indexers: cache.Indexers{
		"broken": func(obj any) ([]string, error) {
			if obj.(*metav1.PartialObjectMetadata).Name == "b" {
				return nil, errors.New("a fault in the index function")
			}
			return nil, nil
		}}})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	told := make(chan string, 1)
	go func() {
		defer func() { told <- fmt.Sprint(recover()) }()
		i.RunWithContext(ctx)
	}()
	synctest.Wait()
	i.source.set("b")
	synctest.Wait()
	panicked := <-told
	assert.Contains(t, panicked, "ns/b")
	assert.Contains(t, panicked, "broken")
	assert.Contains(t, panicked, "a fault in the index function")
}
