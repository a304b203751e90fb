package impl_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/impl/delay"
	"github.com/informerbench/informerbench/impl/election"
	"github.com/informerbench/informerbench/impl/fifo"
	"github.com/informerbench/informerbench/impl/indexer"
	"github.com/informerbench/informerbench/impl/informer"
	"github.com/informerbench/informerbench/impl/priority"
	"github.com/informerbench/informerbench/impl/queue"
	"github.com/informerbench/informerbench/impl/ratelimit"
)

type (
	delayingConfig = workqueue.TypedDelayingQueueConfig[string]
	limitingConfig = workqueue.TypedRateLimitingQueueConfig[string]
)

// A bad is what a constructor refuses, in a panic or an error that has these words.
type bad struct {
	construct func() error
	words     string
}

const (
	noKeyFunc = "indexer: keyFunc is nil, expected one"
	noIndex   = `indexer: the function of index "node" is nil, expected one`
	noLimiter = "ratelimit: limiter is nil, expected one"
	noLister  = "informer: lw is nil, expected a cache.ListerWatcher"
	badBatch  = "fifo: Config.Batch is -1, expected more than zero"
)

var noFunction = cache.Indexers{"node": nil}

// refused are the constructors that can be given something bad; the zero values that
// they take are said in their comments.
var refused = map[string][]bad{
	"queue.NewCoarseClock": {
		{made(func() { queue.NewCoarseClock(nil, time.Second) }), "found clock <nil> and tick 1s, expected a clock"},
		{made(func() { queue.NewCoarseClock(clock.RealClock{}, 0) }), "tick 0s, expected a clock, such as clock.RealClock{}, and a tick of more than zero"},
	},
	"queue.NewFairStorage": {{made(func() { queue.NewFairStorage[string](nil) }), "groupOf is nil, expected a function"}},
	"delay.NewWheel":       {{made(func() { delay.NewWheel(delayingConfig{}, -1) }), "tick is -1ns, expected more than zero"}},

	"ratelimit.NewHeapQueue":  {{made(func() { ratelimit.NewHeapQueue(nil, limitingConfig{}) }), noLimiter}},
	"ratelimit.NewHeap4Queue": {{made(func() { ratelimit.NewHeap4Queue(nil, limitingConfig{}) }), noLimiter}},
	"ratelimit.NewFusedQueue": {{made(func() { ratelimit.NewFusedQueue(nil, limitingConfig{}) }), noLimiter}},
	"ratelimit.NewStepped":    {{made(func() { ratelimit.NewStepped(nil, limitingConfig{}) }), noLimiter}},
	"ratelimit.NewFusedQueueWithOptions": {
		{made(func() { ratelimit.NewFusedQueueWithOptions(nil, limitingConfig{}, ratelimit.QueueOptions{}) }), noLimiter},
		{made(func() {
			ratelimit.NewFusedQueueWithOptions(ratelimit.NewDefault[string](), limitingConfig{}, ratelimit.QueueOptions{MaxWait: -1})
		}), "QueueOptions.MaxWait is -1ns, expected more than zero"},
		{made(func() {
			inner := workqueue.NewTypedDelayingQueue[string]()
			defer inner.ShutDown()
			ratelimit.NewFusedQueueWithOptions(ratelimit.NewDefault[string](), limitingConfig{DelayingQueue: inner}, ratelimit.QueueOptions{})
		}), "config.DelayingQueue is set, expected nil"},
	},
	"ratelimit.NewBucket": {{made(func() { ratelimit.NewBucket[string](1, 1, ratelimit.WithMaxReservation(-1)) }), "WithMaxReservation: found -1ns, expected zero or more"}},
	"ratelimit.NewBoundedItemExponentialFailure": {
		{made(func() { ratelimit.NewBoundedItemExponentialFailure[string](1, 1, ratelimit.WithMaxKeys(0)) }), "WithMaxKeys: found 0, expected one or more"},
		{made(func() { ratelimit.NewBoundedItemExponentialFailure[string](1, 1, ratelimit.WithMaxAge(-1)) }), "WithMaxAge: found -1ns, expected zero or more"},
	},
	"ratelimit.NewMaxOf":       {{made(func() { ratelimit.NewMaxOf(ratelimit.NewDefault[string](), nil) }), noLimiter}},
	"ratelimit.NewWithMaxWait": {{made(func() { ratelimit.NewWithMaxWait[string](nil, time.Second) }), noLimiter}},
	"ratelimit.NewRateBucket":  {{made(func() { ratelimit.NewRateBucket[string](nil) }), "limiter is nil, expected one"}},

	"priority.NewWithConfig": {{made(func() { priority.NewWithConfig(priority.Config[string]{OldestEvery: -1}) }), "Config.OldestEvery is -1, expected zero or more"}},
	"priority.NewStepped":    {{made(func() { priority.NewStepped(priority.Config[string]{OldestEvery: -1}) }), "Config.OldestEvery is -1, expected zero or more"}},

	"election.NewMemory":        {{made(func() { election.NewMemory(nil, nil) }), "clock is nil, expected one"}},
	"election.NewConfigMapLock": {{made(func() { election.NewConfigMapLock(nil, "", "", resourcelock.ResourceLockConfig{}) }), "client is nil, expected one"}},
	"election.NewEndpointsLock": {{made(func() { election.NewEndpointsLock(nil, "", "", resourcelock.ResourceLockConfig{}) }), "client is nil, expected one"}},
	"election.New":              {{func() error { _, err := election.New(leaderelection.LeaderElectionConfig{}); return err }, "RetryPeriod is 0s, expected more than 0"}},
	"election.NewWithOptions": {
		{elector(election.Options{Metrics: noMetrics{}}), "Options.Metrics made no LeaderMetric, expected one"},
		{elector(election.Options{WaitForWork: -1}), "WaitForWork is -1ns, expected 0 or more"},
		{elector(election.Options{CallTimeout: time.Hour}), "CallTimeout is 1h0m0s, expected 0 to RenewDeadline (10s)"},
	},

	"fifo.NewRingInOrder":   {{made(func() { fifo.NewRingInOrder(fifo.Config{Batch: -1}) }), badBatch}},
	"fifo.NewRingDeltaFIFO": {{made(func() { fifo.NewRingDeltaFIFO(fifo.Config{Batch: -1}) }), badBatch}},
	"fifo.NewRingFIFO":      {{made(func() { fifo.NewRingFIFO(fifo.Config{Batch: -1}) }), badBatch}},

	"fifo.NewSliceInOrder":   {{made(func() { fifo.NewSliceInOrder(fifo.Config{Batch: -1}) }), badBatch}},
	"fifo.NewSliceDeltaFIFO": {{made(func() { fifo.NewSliceDeltaFIFO(fifo.Config{Batch: -1}) }), badBatch}},
	"fifo.NewSliceFIFO":      {{made(func() { fifo.NewSliceFIFO(fifo.Config{Batch: -1}) }), badBatch}},

	"indexer.New":              {{made(func() { indexer.New(nil, indexer.NewLockedStore(nil)) }), noKeyFunc}, {made(func() { indexer.New(cache.MetaNamespaceKeyFunc, nil) }), "store is nil, expected one"}},
	"indexer.NewSnapshot":      {{made(func() { indexer.NewSnapshot(nil, nil) }), noKeyFunc}, {made(func() { indexer.NewSnapshot(cache.MetaNamespaceKeyFunc, noFunction) }), noIndex}},
	"indexer.NewLocked":        {{made(func() { indexer.NewLocked(nil, nil) }), noKeyFunc}, {made(func() { indexer.NewLocked(cache.MetaNamespaceKeyFunc, noFunction) }), noIndex}},
	"indexer.NewSharded":       {{made(func() { indexer.NewSharded(nil, nil) }), noKeyFunc}, {made(func() { indexer.NewSharded(cache.MetaNamespaceKeyFunc, noFunction) }), noIndex}},
	"indexer.NewSnapshotStore": {{func() error { return indexer.NewSnapshotStore(nil).AddIndexers(noFunction) }, noIndex}},
	"indexer.NewLockedStore":   {{func() error { return indexer.NewLockedStore(nil).AddIndexers(noFunction) }, noIndex}},
	"indexer.NewShardedStore":  {{func() error { return indexer.NewShardedStore(nil).AddIndexers(noFunction) }, noIndex}},

	"informer.Options.New":   {{made(func() { informer.Options{}.New(nil, nil, cache.SharedIndexInformerOptions{}) }), noLister}},
	"informer.New":           {{made(func() { informer.New(nil, nil, cache.SharedIndexInformerOptions{}) }), noLister}},
	"informer.NewWithResync": {{made(func() { informer.NewWithResync(nil, nil, 0, nil) }), noLister}},
}

// anything are the constructors whose every argument, zero included, has a meaning.
var anything = []string{
	"queue.NewSlice", "queue.NewRing", "queue.NewCompact", "queue.NewSharded", "queue.NewSliceStorage", "queue.NewRingStorage",
	"delay.NewHeap", "delay.NewHeap4", "priority.New",
	"ratelimit.NewDefault", "ratelimit.NewController", "ratelimit.NewBoundedDefault",
	"ratelimit.NewItemExponentialFailure", "ratelimit.NewItemFastSlow", "ratelimit.NewMapDefault",
	"ratelimit.NewMapItemExponentialFailure", "ratelimit.NewMapItemFastSlow",
}

type noMetrics struct{}

func (noMetrics) NewLeaderMetric() leaderelection.LeaderMetric { return nil }

func elector(options election.Options) func() error {
	return func() error {
		_, err := election.NewWithOptions(leaderelection.LeaderElectionConfig{
			Lock: election.NewMemory(clock.RealClock{}, nil).Lock("a"), LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
		}, options)
		return err
	}
}

// made answers with the panic of a constructor.
func made(construct func()) func() error {
	return func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("%v", r)
			}
		}()
		construct()
		return nil
	}
}

// What a constructor can't work with it refuses at once, and says what it expected: it
// would else fail later, under a lock, at the first item.
func TestConstructorsRefuse(t *testing.T) {
	for _, name := range constructors(t) {
		if !assert.True(t, len(refused[name]) > 0 || slices.Contains(anything, name), "%s: found no test of bad input, expected one", name) {
			continue
		}
		for _, b := range refused[name] {
			assert.ErrorContains(t, b.construct(), b.words, "%s", name)
		}
	}
}

// packages are the ones that a program takes a part from.
var packages = []string{"queue", "delay", "ratelimit", "priority", "election", "fifo", "indexer", "informer"}

// constructors are the functions New… of the library's packages, and the methods.
func constructors(t *testing.T) (names []string) {
	for _, pkg := range packages {
		for _, file := range files(t, pkg) {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "New") && (f.Recv == nil || ast.IsExported(receiver(f))) {
					names = append(names, pkg+"."+receiver(f)+f.Name.Name)
				}
			}
		}
	}
	require.Greater(t, len(names), 20, "constructors found")
	return names
}

// files are a package's, parsed, without its tests.
func files(t *testing.T, pkg string) (parsed []*ast.File) {
	names, err := filepath.Glob(pkg + "/*.go")
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		parsed = append(parsed, file)
	}
	return parsed
}

// receiver is the type of a method, with a dot; "" of a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	expr := f.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if generic, ok := expr.(*ast.IndexExpr); ok {
		expr = generic.X
	}
	return expr.(*ast.Ident).Name + "."
}
