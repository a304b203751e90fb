package informer

import (
	"iter"
	"runtime"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
)

// A considerate indexer is what readers get of the store: who has listed gives
// way to goroutines of the informer that were woken and wait for a processor.
// Without that, each of them waits for a slice of 10 ms of every reader before
// it, when readers keep all processors busy; with it, for a list of each. It
// costs a reader nothing while the informer waits for nobody.
type considerate struct {
	cache.Indexer
	stalled *atomic.Int32 // how many goroutines of the informer wait for a processor
}

// iterable is what an indexer may have besides, as package indexer's Snapshot.
type iterable interface {
	All() iter.Seq[any]
	AllByIndex(name, value string) (iter.Seq[any], error)
}

// forReaders is the store for readers.
func forReaders(store cache.Indexer, stalled *atomic.Int32) cache.Indexer {
	x := considerate{store, stalled}
	if i, ok := store.(iterable); ok {
		return struct {
			considerate
			iterable
		}{x, i}
	}
	return x
}

func (x considerate) giveWay() {
	if x.stalled.Load() > 0 {
		runtime.Gosched()
	}
}

// List returns all objects.
func (x considerate) List() []any {
	defer x.giveWay()
	return x.Indexer.List()
}

// ListKeys returns all keys.
func (x considerate) ListKeys() []string {
	defer x.giveWay()
	return x.Indexer.ListKeys()
}

// Index returns the objects that share a value with obj.
func (x considerate) Index(name string, obj any) ([]any, error) {
	defer x.giveWay()
	return x.Indexer.Index(name, obj)
}

// ByIndex returns the objects that have a value.
func (x considerate) ByIndex(name, value string) ([]any, error) {
	defer x.giveWay()
	return x.Indexer.ByIndex(name, value)
}

// IndexKeys returns the keys of the objects that have a value.
func (x considerate) IndexKeys(name, value string) ([]string, error) {
	defer x.giveWay()
	return x.Indexer.IndexKeys(name, value)
}
