// Package informer has a cache.SharedIndexInformer for every place that takes
// one: client-go's factories, controller-runtime's cache, typed informers.
//
//  1. client-go's Reflector lists and watches, and puts events into a FIFO.
//  2. client-go's controller loop pops them, as many at once as there are.
//  3. A batch is stored in one transaction; its old versions say what is told.
//  4. The batch goes to each handler's pending list, which is unbounded: one
//     append a handler, and a wake-up only if the handler sleeps.
//  5. Each handler has one goroutine, which takes all that is pending and makes
//     the calls. The last handler to finish with a batch puts it back for reuse.
//
// FIFO and indexer are chosen in Options. By default lists by readers hold up
// nobody: they copy outside the writer's lock.
//
// # Should I switch?
//
// All figures are ratios to client-go v0.37.2 in one run on two cores, of the cases
// in package bench, in the shape of client-go's own informer benchmark (pods of one
// namespace, ten events under way): medians of three to five samples, the worst in
// brackets.
//
// Who gains: programs whose goroutines list the cache while events come
// (kubernetes/kubernetes#130767).
//
//	readers that list 40k pods every 10 ms    10: 48x events/s (40x)   40: 4,700x (3,400x)
//	readers that list 10k pods every 10 ms    10: 3x (3x)   40: 33x (25x)
//	readers that never pause, 40k pods        10: 1,390x (1,210x)   40: 2,800x (2,800x)
//	readers that never pause, 10k pods        10: 1,300x (810x)   40: 1,860x (1,080x)
//	lists a second beside those, 10 readers   10k: 2.7x (2.5x)   40k: 2.4x (2.4x)
//	handlers: 1, 10, 100                      2.6x (2.5x), 5.2x (5.0x), 18x (16x) less CPU an event
//
// Of those lists 60 % is garbage collection, which results of the same size cost
// with any informer.
//
// Beside readers that never pause, a goroutine that wakes would wait for a slice of
// 10 ms of each of them. So who has listed gives way to goroutines of the informer
// that were woken; the one that decodes the watch is not among them.
//
// Who gains little: programs that only get single objects or only handle events.
// Without readers an event takes 2.1x to 2.3x less CPU (single samples 2.0x to 2.5x)
// and 5.7x fewer allocated bytes from the watch channel to the handler; what a real
// server's client spends on decoding comes on top and is the same.
//
// How an event's cost grows with the objects held, in nanoseconds from the watch
// channel to one handler: bursts of a thousand updates of metadata in random
// places, nobody reads (BenchmarkGrowth, wall time, the fastest of three runs on
// two busy cores; client-go in brackets). Growth is cache misses, which are the
// same for both:
//
//	         1k          10k           100k             1M
//	654 (1,846) 737 (1,853)  1,409 (3,378)  2,727 (3,181)
//
// What it costs:
//
//   - A list shares nothing with the writer: chunks that are written while a list
//     copies them are held twice until it is done.
//   - A list through GetIndexer or GetStore ends with a call of the scheduler while
//     a goroutine of the informer waits for a processor. Events that come faster
//     than the processors can handle them take time from lists: with GOMAXPROCS=1
//     and 10 readers that never pause of 10k pods, 11,600x the events a second leave
//     0.4x the lists.
//   - A batch's objects, up to a thousand, stay alive until its slowest handler
//     is through with all of them.
//   - Of the metrics in the options' provider, latency and resource version are
//     served, the queue's length is not; cache.SetInformerMetricsProvider's global
//     provider can't be reached from outside client-go.
//   - The feature gates AtomicFIFO and UnlockWhileProcessingFIFO do not count: the
//     FIFO decides. The Reflector's and the loop's gates do.
//
// What is as in client-go, clause by clause, is in package impltest's
// TestInformer, which runs on client-go's informer too.
package informer
