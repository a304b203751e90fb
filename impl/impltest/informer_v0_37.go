package impltest

import (
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// What the suite asks of informers through functions that client-go has from v0.37 on:
// scripts/minors.sh replaces this file for v0.36, the floor of the informer itself.

var shutDownEventHandler = cache.ShutDownEventHandler

func informerTyped(t *trial, new newInformer) {
	t.needs("in-order", "indexers")
	i := inform(t, new, newSource("a"), cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}})
	typed := cache.NewTypedSharedIndexInformer[*metav1.PartialObjectMetadata](i)
	assert.NoError(t, typed.AddTypedIndexers(cache.TypedIndexers[*metav1.PartialObjectMetadata]{
		"name": func(o *metav1.PartialObjectMetadata) ([]string, error) { return []string{o.Name}, nil }}))
	var told []string
	_, err := typed.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*metav1.PartialObjectMetadata]{
		AddFunc:    func(o *metav1.PartialObjectMetadata) { told = append(told, "add "+label(o)) },
		DeleteFunc: func(o cache.DeletedObject[*metav1.PartialObjectMetadata]) { told = append(told, "delete "+o.GetKey()) },
	})
	assert.NoError(t, err)
	i.run()
	objs, err := typed.GetTypedIndexer().ByTypedIndex("name", "a")
	assert.NoError(t, err)
	assert.Len(t, objs, 1)
	i.source.unset("a")
	synctest.Wait()
	assert.Equal(t, []string{"add a@11", "delete ns/a"}, told)
}
