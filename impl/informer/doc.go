// Package informer has a cache.SharedIndexInformer for every place that takes one.
// In a client-go program change the constructor; a generated factory takes it in
// InformerFor, before anyone asks for that type (see the examples):
//
//	cache.NewSharedIndexInformerWithOptions(lw, example, options)   becomes   informer.New(lw, example, options)
//
// In a controller-runtime manager set it in the options:
//
//	ctrl.Options{Cache: cache.Options{NewInformer: informer.NewWithResync}}
//
// To go back, undo that line. What differs from client-go's informer:
//
//   - Readers that list hold up nobody (kubernetes/kubernetes#130767), with the
//     default indexer, indexer.NewSnapshot.
//   - A list that changed nothing is not told to handlers without resync.
//   - A registration syncs although its handler panicked in the initial list.
//   - Metrics go to options.InformerMetricsProvider alone. What a program gave
//     cache.SetInformerMetricsProvider only client-go can read; an informer with
//     an Identifier and no provider says so in the log.
//   - The FIFO in Options decides what the feature gates AtomicFIFO and
//     UnlockWhileProcessingFIFO decide in client-go.
//   - A batch's objects, up to a thousand, stay alive until its slowest handler is
//     through with all of them, and slow calls are not logged.
//
// An event goes through these steps:
//
//  1. client-go's Reflector lists and watches, and puts events into a FIFO.
//  2. client-go's controller loop pops them, as many at once as there are.
//  3. A batch is stored in one transaction; the old versions decide what handlers
//     are told.
//  4. The batch goes to each handler's pending list, which is unbounded.
//  5. Each handler has a goroutine that makes the calls, and one that lets the
//     workers run that the calls have woken (see pacer).
//
// A controller-runtime client with EnableReadYourWritesConsistency reads its own writes
// from it (example in loadgen/drive); LastStoreSyncResourceVersion follows bookmarks too.
//
// Programs gain whose goroutines list the cache while events come, and those with
// several handlers. TestInformer in package impltest is what is kept, clause by clause.
package informer
