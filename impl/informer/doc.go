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
// namespace, ten events under way): medians of three to twelve pairs of samples, the
// worst in brackets.
//
// Who gains: programs whose goroutines list the cache while events come
// (kubernetes/kubernetes#130767).
//
//	readers that list 40k pods every 10 ms    10: 45x events/s (40x)   40: 5,900x (5,100x)
//	readers that list 10k pods every 10 ms    10: 5x (3x)   40: 62x (52x)
//	readers that never pause, 40k pods        10: 1,550x (1,000x)   40: 1,900x (1,500x)
//	readers that never pause, 10k pods        10: 1,760x (1,270x)   40: 4,900x (4,700x)
//	lists a second beside those, 40k pods     10: 2.7x (2.5x)   40: 3.1x (2.4x)
//	lists a second beside those, 10k pods     10: 2.4x (2.3x)   40: 2.7x (2.5x)
//	handlers: 1, 10, 100                      2.3x (2.3x), 5.0x (4.2x), 18x (14x) less CPU an event
//
// Of those lists 60 % is garbage collection, which results of the same size cost
// with any informer: without any events lists of 10k pods come to 3.5x, and copying a
// slice of that size does not get further.
//
// How late events are, from the watch channel to the handler, beside ten readers of
// 10k pods that never pause, for 1,000 events a second, over three runs each:
//
//	              median, client-go   99 %, client-go
//	two cores     20 µs, 84-164 ms    3-6 ms, 319-376 ms
//	GOMAXPROCS=1  8-13 µs, 203-210 ms 0.1-4 ms, 400-434 ms
//
// Readers that never pause keep all processors busy, and Go lets each of them go on
// for 10 ms. So who has listed gives way to goroutines of the informer that were
// woken, and every half millisecond to anybody, but for half of the time at most.
//
// Who gains little: programs that only get single objects or only handle events.
// Without readers an event takes 2.2x (1.7x) less CPU with 10k pods and 2.0x (1.3x)
// with 40k, and 5.6x fewer allocated bytes from the watch channel to the handler; what
// a real server's client spends on decoding comes on top and is the same.
//
// How an event's cost grows with the objects held, in nanoseconds from the watch
// channel to one handler: bursts of a thousand updates of metadata in random
// places, nobody reads (BenchmarkGrowth, wall time, the median of three runs on two
// cores; client-go in brackets). Growth is cache misses, which are the same for both:
//
//	         1k          10k           100k             1M
//	465 (1,747) 638 (2,103)  1,052 (2,255)  1,332 (3,004)
//
// What it costs:
//
//   - A list shares nothing with the writer: chunks that are written while a list
//     copies them are held twice until it is done.
//   - A list of a thousand objects or more through GetIndexer or GetStore ends now
//     and then with a call of the scheduler, a smaller one only while a goroutine of
//     the informer waits for a processor. Events that come faster than the processors
//     can handle them take time from lists: with GOMAXPROCS=1 and 10 readers that
//     never pause of 10k pods, 3,500x the events a second leave 1.95x (1.85x) the
//     lists, where 3.3x are possible without events.
//   - A batch's objects, up to a thousand, stay alive until its slowest handler
//     is through with all of them.
//   - Calls of a handler that is far behind are not timed: client-go's informer logs
//     those that take more than 100 ms.
//   - The feature gates AtomicFIFO and UnlockWhileProcessingFIFO do not count: the
//     FIFO decides. The Reflector's and the loop's gates do.
//
// What is as in client-go, clause by clause, is in package impltest's
// TestInformer, which runs on client-go's informer too.
package informer
