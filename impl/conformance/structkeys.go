package conformance

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/impl"
)

// structKeyQueues is the list of queues once more, each instantiated with the
// struct key of a controller and seen as a queue of strings.
func structKeyQueues() []impl.Variant[impl.NewQueue[string]] {
	var queues []impl.Variant[impl.NewQueue[string]]
	for _, v := range impl.Queues[types.NamespacedName]() {
		queues = append(queues, impl.Variant[impl.NewQueue[string]]{
			Name: v.Name,
			// A joined key is a new string, and a storage of strings does not fit.
			Relaxes: slices.Concat(v.Relaxes, []string{"no-retained-items", "injected-storage"}),
			New: func(c workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
				return splitKeys{v.New(workqueue.TypedQueueConfig[types.NamespacedName]{
					Name: c.Name, MetricsProvider: c.MetricsProvider, Clock: c.Clock,
				})}
			},
		})
	}
	return queues
}

// splitKeys is a queue of strings, each kept as a struct of its two halves.
type splitKeys struct {
	workqueue.TypedInterface[types.NamespacedName]
}

var _ workqueue.TypedInterface[string] = splitKeys{}

func split(key string) types.NamespacedName {
	return types.NamespacedName{Namespace: key[:len(key)/2], Name: key[len(key)/2:]}
}

func (q splitKeys) Add(key string)  { q.TypedInterface.Add(split(key)) }
func (q splitKeys) Done(key string) { q.TypedInterface.Done(split(key)) }

func (q splitKeys) Get() (string, bool) {
	key, shutdown := q.TypedInterface.Get()
	return key.Namespace + key.Name, shutdown
}
