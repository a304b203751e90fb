package impl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

func newMine[T comparable](c workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	return workqueue.NewTypedWithConfig(c)
}

func TestAdd(t *testing.T) {
	t.Cleanup(func() { added.variants = map[addedKey][]any{} })
	before := len(Queues[types.NamespacedName]())
	require.NoError(t, Add("queue", Variant[NewQueue[string]]{Name: "mine", New: newMine[string]}))
	v, err := Find(Queues[string](), "mine")
	require.NoError(t, err)
	assert.NotNil(t, v.New(workqueue.TypedQueueConfig[string]{}))
	assert.Len(t, Queues[types.NamespacedName](), before, "another key is another constructor")
	require.NoError(t, Add("queue", Variant[NewQueue[types.NamespacedName]]{Name: "mine", New: newMine[types.NamespacedName]}))
	assert.Len(t, Queues[types.NamespacedName](), before+1)

	newIndexer := func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return cache.NewIndexer(k, i) }
	require.NoError(t, Add("indexer", Variant[NewIndexer]{Name: "mine", New: newIndexer}))
	_, err = Find(Indexers(), "mine")
	require.NoError(t, err)
	newFIFO := FIFOs()[0].New
	require.NoError(t, Add("delta-fifo", Variant[NewFIFO]{Name: "mine", New: newFIFO}))
	_, err = Find(FIFOs(), "mine")
	assert.Error(t, err, "lists of one constructor type are kept apart")

	for want, err := range map[string]error{
		`unknown component "cache", expected one of storage, queue, `:    Add("cache", Variant[NewIndexer]{Name: "x", New: newIndexer}),
		`indexer: New: found a func(workqueue.TypedQueueConfig[string])`: Add("indexer", Variant[NewQueue[string]]{Name: "x", New: newMine[string]}),
		`queue: New: found nil, expected a constructor`:                  Add("queue", Variant[NewQueue[string]]{Name: "x"}),
		`queue: Name: found "My queue", expected lower-case`:             Add("queue", Variant[NewQueue[string]]{Name: "My queue", New: newMine[string]}),
		`queue: Name: "mine" was added already`:                          Add("queue", Variant[NewQueue[string]]{Name: "mine", New: newMine[string]}),
		`queue: Name: "ring" is in the catalogue already`:                Add("queue", Variant[NewQueue[string]]{Name: "ring", New: newMine[string]}),
	} {
		assert.ErrorContains(t, err, want)
	}
	assert.ErrorContains(t, Add("queue", Variant[int]{Name: "x"}), "queue: New: found a int, expected a func(")
}
