package informer

import (
	"errors"
	"iter"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
)

// turns says when who lists gives way to others, which counts when readers keep
// all processors busy: Go lets each of them go on for 10 ms, and whatever wakes
// waits for all of these slices before it.
//
//   - While a goroutine of the informer has been woken and waits for a processor,
//     a reader gives way after each list.
//   - Else it does so after a slice, for the sake of whoever cannot tell that it
//     waits: those who decode the watch, and everybody else.
//   - Nobody takes all the time: when a reader has given way, readers go on for as
//     long as they were away before one gives way again.
type turns struct {
	stalled atomic.Int32 // goroutines of the informer that were woken and wait for a processor
	gave    atomic.Int64 // when a reader gave way last, in nanoseconds since epoch
	until   atomic.Int64 // until when readers go on
}

const (
	// slice is how long readers go on while nobody of the informer waits: a
	// thousand times what it takes to give way.
	slice = 500 * time.Microsecond
	// longest is how long readers go on at most after one gave way.
	longest = 100 * time.Millisecond
	// large is how many elements a list has that takes many times as long as to
	// give way. After smaller ones a reader gives way as often as is in
	// proportion.
	large = 1024
)

var epoch = time.Now()

// listed gives way after a list of n elements if it is time to.
func (t *turns) listed(n int) {
	if n < large && (t.stalled.Load() <= 0 || rand.IntN(large) > n) {
		return
	}
	now := time.Since(epoch)
	if !t.due(now) {
		return
	}
	t.gave.Store(int64(now))
	runtime.Gosched()
	t.back(time.Since(epoch))
}

// due tells whether it is time to give way.
func (t *turns) due(now time.Duration) bool {
	if now < time.Duration(t.until.Load()) {
		return false
	}
	return t.stalled.Load() > 0 || now-time.Duration(t.gave.Load()) >= slice
}

// back notes that a reader has a processor again. Others may have given way later
// than he did, so since then no reader may have run.
func (t *turns) back(now time.Duration) {
	away := now - time.Duration(t.gave.Load())
	t.until.Store(int64(now + min(away, longest)))
}

// A considerate indexer is what readers get of the store: who lists takes turns
// with others.
type considerate struct {
	cache.Indexer
	turns *turns
}

// iterable is what an indexer may have besides, as package indexer's Snapshot.
type iterable interface {
	All() iter.Seq[any]
	AllByIndex(name, value string) (iter.Seq[any], error)
}

// forReaders is the store for readers.
func forReaders(store cache.Indexer, turns *turns) cache.Indexer {
	x := considerate{store, turns}
	if i, ok := store.(iterable); ok {
		return struct {
			considerate
			iterable
		}{x, i}
	}
	return x
}

// List returns all objects.
func (x considerate) List() []any {
	objs := x.Indexer.List()
	x.turns.listed(len(objs))
	return objs
}

// ListKeys returns all keys.
func (x considerate) ListKeys() []string {
	keys := x.Indexer.ListKeys()
	x.turns.listed(len(keys))
	return keys
}

// Index returns the objects that share a value with obj.
func (x considerate) Index(name string, obj any) ([]any, error) {
	objs, err := x.Indexer.Index(name, obj)
	x.turns.listed(len(objs))
	return objs, err
}

// ByIndex returns the objects that have a value.
func (x considerate) ByIndex(name, value string) ([]any, error) {
	objs, err := x.Indexer.ByIndex(name, value)
	x.turns.listed(len(objs))
	return objs, err
}

// Transaction applies txns in one moment, if the store can.
func (x considerate) Transaction(txns ...cache.Transaction) *cache.TransactionError {
	if store, ok := x.Indexer.(cache.TransactionStore); ok {
		return store.Transaction(txns...)
	}
	return &cache.TransactionError{TotalTransactions: len(txns), Errors: []error{errors.New("transaction not supported")}}
}

// IndexKeys returns the keys of the objects that have a value.
func (x considerate) IndexKeys(name, value string) ([]string, error) {
	keys, err := x.Indexer.IndexKeys(name, value)
	x.turns.listed(len(keys))
	return keys, err
}
