package informer

import (
	"context"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// A Factory shares one informer per type of object. The zero value is ready.
type Factory struct {
	// Options choose the parts of the informers.
	Options Options

	mu        sync.Mutex
	informers map[reflect.Type]*shared
	closed    bool
	running   sync.WaitGroup
}

// A shared informer is one that a factory keeps.
type shared struct {
	cache.SharedIndexInformer
	started bool
}

// For returns the informer for objects of example's type. The first call makes
// it, from lw and options; later calls ignore them.
func (f *Factory) For(example runtime.Object, lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := reflect.TypeOf(example)
	if known := f.informers[kind]; known != nil {
		return known.SharedIndexInformer
	}
	if f.informers == nil {
		f.informers = map[reflect.Type]*shared{}
	}
	made := &shared{SharedIndexInformer: f.Options.New(lw, example, options)}
	f.informers[kind] = made
	return made.SharedIndexInformer
}

// Start runs the informers that do not run yet, until ctx ends. Call it again
// after For. After Shutdown it does nothing.
func (f *Factory) Start(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	for _, s := range f.informers {
		if !s.started {
			s.started = true
			f.running.Go(func() { s.RunWithContext(ctx) })
		}
	}
}

// WaitForCacheSync waits until the started informers have their initial lists, or
// ctx ends; the result's AsError names those that do not.
func (f *Factory) WaitForCacheSync(ctx context.Context) cache.SyncResult {
	started := map[reflect.Type]cache.DoneChecker{}
	var checkers []cache.DoneChecker
	f.mu.Lock()
	for kind, s := range f.informers {
		if s.started {
			started[kind] = s.HasSyncedChecker()
			checkers = append(checkers, started[kind])
		}
	}
	f.mu.Unlock()
	result := cache.SyncResult{Synced: make(map[reflect.Type]bool, len(started))}
	if !cache.WaitFor(ctx, "", checkers...) {
		result.Err = context.Cause(ctx)
	}
	for kind, checker := range started {
		result.Synced[kind] = cache.IsDone(checker)
	}
	return result
}

// Shutdown waits for the informers, whose contexts must end, and starts no more.
func (f *Factory) Shutdown() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.running.Wait()
}
