package informer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/informerbench/informerbench/impl/fifo"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// An informer is a cache.SharedIndexInformer.
type informer struct {
	parts     Options
	lw        cache.ListerWatcher
	example   runtime.Object
	options   cache.SharedIndexInformerOptions
	indexer   cache.Indexer
	mutations cache.MutationDetector
	metrics   metrics
	fanout    fanout
	synced    chan struct{} // closed when the initial list is in the store and on its way to the handlers

	mu         sync.Mutex // guards what follows; taken before moment
	started    bool
	stopped    bool
	controller cache.Controller
	transform  cache.TransformFunc
	watchError cache.WatchErrorHandlerWithContext
	// resyncCheck is how often the Reflector asks whether a handler is due.
	resyncCheck time.Duration

	// moment is held while deltas are applied and published, and while a late
	// handler is given what is stored: it misses nothing and gets nothing twice.
	moment sync.Mutex
	store  keyedStore                         // of the indexer
	txns   []cache.ThreadSafeStoreTransaction // scratch space of a batch, guarded by moment
}

var _ cache.SharedIndexInformer = (*informer)(nil)

func newInformer(parts Options, lw cache.ListerWatcher, example runtime.Object, options cache.SharedIndexInformerOptions) *informer {
	indexer := parts.NewIndexer(keyFunc, options.Indexers)
	return &informer{
		store:       storeOf(indexer),
		parts:       parts,
		lw:          lw,
		example:     example,
		options:     options,
		indexer:     indexer,
		mutations:   cache.NewCacheMutationDetector(fmt.Sprintf("%T", example)),
		metrics:     newMetrics(options.Identifier, options.InformerMetricsProvider),
		synced:      make(chan struct{}),
		resyncCheck: options.ResyncPeriod,
	}
}

// keyFunc names objects and tombstones.
var keyFunc cache.KeyFunc = cache.DeletionHandlingMetaNamespaceKeyFunc

var errStarted = errors.New("informer has already started")

// SetWatchErrorHandler is SetWatchErrorHandlerWithContext without a context.
func (s *informer) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	return s.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { handler(r, err) })
}

// SetWatchErrorHandlerWithContext sets what is told of failed lists and watches.
// It fails once the informer has started.
func (s *informer) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return errStarted
	}
	s.watchError = handler
	return nil
}

// SetTransform sets what each object goes through before it is stored. It fails
// once the informer has started.
func (s *informer) SetTransform(transform cache.TransformFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return errStarted
	}
	s.transform = transform
	return nil
}

// Run is RunWithContext with a channel.
func (s *informer) Run(stop <-chan struct{}) { s.RunWithContext(wait.ContextForChannel(stop)) }

// RunWithContext lists and watches until ctx ends, then waits for handlers that
// are in a call. A second call logs a warning and returns.
func (s *informer) RunWithContext(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	controller, ok := s.start()
	if !ok {
		klog.FromContext(ctx).Info("Warning: the informer has started, it can't be run again")
		return
	}
	// The handlers stop after the controller, and also if it panics.
	stop := make(chan struct{})
	var running sync.WaitGroup
	defer func() {
		close(stop)
		s.fanout.stop()
		running.Wait()
	}()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stopped = true
	}()
	running.Go(func() { s.mutations.Run(stop) })
	running.Go(func() {
		select {
		case <-controller.HasSyncedChecker().Done():
			close(s.synced)
			s.fanout.sourceSynced()
		case <-ctx.Done():
		case <-stop:
		}
	})
	controller.RunWithContext(ctx)
}

// start makes the controller, unless there is one.
func (s *informer) start() (cache.Controller, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return nil, false
	}
	s.started = true
	queue := s.parts.NewFIFO(fifo.Config{
		Name:         s.nameOfObjects(),
		KeyFunc:      cache.MetaNamespaceKeyFunc,
		KnownObjects: s.indexer,
		Transformer:  s.transform,
		EmitReplaced: true,
		Atomic:       true,
		Queued:       s.metrics.queued,
	})
	s.controller = cache.New(&cache.Config{
		Queue:                        queue,
		ListerWatcher:                s.lw,
		ObjectType:                   s.example,
		ObjectDescription:            s.options.ObjectDescription,
		FullResyncPeriod:             s.resyncCheck,
		ShouldResync:                 s.fanout.shouldResync,
		Process:                      s.process,
		ProcessBatch:                 s.processBatch,
		WatchErrorHandlerWithContext: s.watchError,
	})
	s.fanout.start()
	return s.controller, true
}

// nameOfObjects says in logs what the informer holds: all that are dynamic have
// objects of one type.
func (s *informer) nameOfObjects() string {
	if id := s.options.Identifier; id.Name() != "" {
		return fmt.Sprintf("%s %s", id.Name(), id.GroupVersionResource())
	}
	if s.options.ObjectDescription != "" {
		return s.options.ObjectDescription
	}
	return fmt.Sprintf("%T", s.example)
}

// IsStopped tells whether the informer ran and has ended.
func (s *informer) IsStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// HasSynced tells whether the initial list is in the store.
func (s *informer) HasSynced() bool { return cache.IsDone(s) }

// HasSyncedChecker is done when HasSynced is true.
func (s *informer) HasSyncedChecker() cache.DoneChecker { return s }

// Name says what HasSyncedChecker waits for.
func (s *informer) Name() string { return fmt.Sprintf("SharedIndexInformer %T", s.example) }

// Done is closed when HasSynced is true.
func (s *informer) Done() <-chan struct{} { return s.synced }

// LastSyncResourceVersion is the resource version that the Reflector has seen
// last; "" before Run.
func (s *informer) LastSyncResourceVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.controller == nil {
		return ""
	}
	return s.controller.LastSyncResourceVersion()
}

// GetStore is GetIndexer.
func (s *informer) GetStore() cache.Store { return s.indexer }

// GetIndexer is the store; callers only read it.
func (s *informer) GetIndexer() cache.Indexer { return s.indexer }

// AddIndexers adds indices, over what is stored too. It fails if a name is taken
// or the informer has stopped.
func (s *informer) AddIndexers(indexers cache.Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errors.New("indexer was not added because it has stopped already")
	}
	return s.indexer.AddIndexers(indexers)
}

// GetController is there for old callers: its Run does nothing.
func (s *informer) GetController() cache.Controller { return idleController{s} }

type idleController struct{ *informer }

func (idleController) Run(<-chan struct{})            {}
func (idleController) RunWithContext(context.Context) {}

// AddEventHandler adds a handler with the informer's resync period.
func (s *informer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod adds a handler; 0 means that it wants no resync.
func (s *informer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, period time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{ResyncPeriod: &period})
}

// AddEventHandlerWithOptions adds a handler. One that comes late gets every
// stored object as an Add first. It fails if the informer has stopped.
func (s *informer) AddEventHandlerWithOptions(target cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, fmt.Errorf("handler %v was not added to shared informer because it has stopped already", target)
	}
	logger := ptr.Deref(options.Logger, klog.Background())
	requested := s.resyncPeriod(logger, ptr.Deref(options.ResyncPeriod, s.options.ResyncPeriod))
	h := newHandler(logger, target, s.Name())
	if s.parts.Backlog != nil {
		h.backlog = s.parts.Backlog(s.options.Identifier, nameOf(target))
	}
	h.resync.requested = requested
	h.resync.set(logger, s.resyncCheck)
	if !s.started {
		s.fanout.add(h, nil)
		return h, nil
	}
	s.moment.Lock()
	defer s.moment.Unlock()
	s.fanout.add(h, s.indexer.List())
	return h, nil
}

// RemoveEventHandler makes the informer forget a handler: when it returns, the
// handler is at most in one last call. Another informer's registration, or one
// that was removed before, is ignored.
func (s *informer) RemoveEventHandler(registration cache.ResourceEventHandlerRegistration) error {
	h, ok := registration.(*handler)
	if !ok {
		return fmt.Errorf("invalid registration: it is a %T, expected what AddEventHandler returned", registration)
	}
	s.fanout.remove(h)
	return nil
}
