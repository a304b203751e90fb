// Package indexer stores the objects of an informer and finds them by key and by index. To use it
// change one constructor:
//
//	cache.NewIndexer(keyFunc, indexers)   becomes   indexer.NewSnapshot(keyFunc, indexers)
//
// In an informer that is informer.Options.NewIndexer, which is NewSnapshot by default, so a
// client-go controller changes its informer's constructor and a controller-runtime manager
// cache.Options.NewInformer (see package informer). To go back, change it back: nothing is kept
// outside the store. What is different:
//
//   - Index functions run once a write, and before the lock is taken: one that panics changes nothing.
//   - AddIndexers and GetIndexers copy the map that they take or give.
//   - All and AllByIndex iterate without a copy. An iteration that is never ended makes writes copy
//     for ever after.
//   - There are no store metrics (cache.WithStoreMetrics).
//
// The steps of a call:
//
//  1. An Indexer names each object with its key function.
//  2. Its store evaluates the index functions before it changes anything.
//  3. The write is applied at one moment, with all its index entries.
//  4. Each read sees one moment, and its answer belongs to the caller.
//
// Which one:
//
//   - NewSnapshot is for controllers. Lists take the lock to copy a pointer and copy the objects
//     without it, so they don't keep the informer's writer waiting (kubernetes/kubernetes#130767). A
//     write copies a leaf of objects first if a list may still see it. Get takes the lock of the key's
//     stripe. Of an object's index values only those that come or go are touched
//     (kubernetes/kubernetes#142307).
//   - NewSharded has a lock, a map and index sets for each of 32 shards, so that writes of different
//     shards and Gets don't wait for each other. That can win only where many cores write at once and
//     little is read but by key, which has not been measured.
//     Every read of more than a key takes all the locks.
//   - NewLocked is the reference: one RWMutex around a map and index sets, to read and compare with.
//
// What NewSnapshot costs: Get takes up to half as long again as client-go's, alone and beside few
// writes, as a lock and a table are more steps than a map. A store of less than a hundred objects
// takes longer to fill. On one processor Get and Update from several goroutines take longer too.
package indexer
