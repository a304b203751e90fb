// Package informer has a cache.SharedIndexInformer for every place that takes one: client-go's
// factories, controller-runtime's cache, typed informers. To use it:
//
//	cache.NewSharedIndexInformerWithOptions(lw, example, options)   becomes   informer.New(lw, example, options)
//
//	ctrl.Options{Cache: cache.Options{NewInformer: informer.NewWithResync}} // controller-runtime
//
// client-go's factories take a function in InformerFor, which calls either of the two: see the
// examples.
//
// An event goes through these steps:
//
//  1. client-go's Reflector lists and watches, and puts events into a FIFO.
//  2. client-go's controller loop pops them, as many at once as there are.
//  3. A batch is stored in one transaction; the old versions decide what handlers are told.
//  4. The batch goes to each handler's pending list, which is unbounded: one append a handler, and
//     a wake-up only if the handler sleeps.
//  5. Each handler has one goroutine, which takes all that is pending and makes the calls. The last
//     handler to finish with a batch puts it back for reuse.
//
// # Which one
//
// New takes the options of cache.NewSharedIndexInformerWithOptions; NewWithResync has the type of
// controller-runtime's cache.Options.NewInformer. Options choose the FIFO and the indexer. By default
// they are fifo.NewRingInOrder and indexer.NewSnapshot, with which lists by readers hold up nobody:
// they copy outside the writer's lock. Factory shares informers where there are no generated ones.
//
// # Should you switch?
//
// Programs whose goroutines list the cache while events come gain most
// (kubernetes/kubernetes#130767), then those with several handlers. Programs that only get single
// objects or only handle events gain little.
//
// All ratios are to client-go v0.37.2 in one run on two cores (AMD), of the cases in package bench, in
// the shape of client-go's own informer benchmark (pods of one namespace, ten events under way):
// medians of six pairs of samples, the worst in brackets; of 40 readers that never pause three pairs
// (10k pods) and two (40k).
//
//	                                             10 readers         40 readers
//	events/s, readers list 40k pods every 10 ms  44× (34×)          5,300× (3,400×)
//	events/s, readers list 10k pods every 10 ms  2.8× (2.5×)        26× (22×)
//	events/s, readers of 40k pods never pause    1,090× (960×)      2,400× (2,100×)
//	    lists/s meanwhile                        2.6× (2.3×)        2.8× (2.8×)
//	events/s, readers of 10k pods never pause    1,330× (900×)      4,200× (2,400×)
//	    lists/s meanwhile                        2.2× (2.1×)        2.7× (2.3×)
//
// Of those lists 60% is garbage collection, which results of the same size cost with any informer:
// without any events, lists of 10k pods come to 3.5× to 3.7× and of 40k pods to 5×, and copying a
// slice of that size does not get further. Later samples, of readers that had read for a while before
// (three pairs, other AMD cores), have 2.65× and 2.8× the lists of 40k pods, 2.8× and 2.9× of 10k.
//
// How many times less CPU an event takes:
//
//	1 handler                2.3× (2.0×)
//	10 handlers              4.6× (4.3×)
//	100 handlers             20×  (19×)
//	10k pods and no readers  2.4× (1.9×)
//	40k pods and no readers  2.1× (1.8×)
//
// Without readers, 5.6 times fewer bytes are allocated from the watch channel to the handler. What a
// real server's client spends on decoding comes on top and is the same.
//
// How late events are, from the watch channel to the handler, beside ten readers of 10k pods that
// never pause, for 1,000 events a second, over three runs each:
//
//	              median                       99%
//	              this informer  client-go     this informer  client-go
//	two cores     20 µs          84–164 ms     3–6 ms         319–376 ms
//	GOMAXPROCS=1  8–13 µs        203–210 ms    0.1–4 ms       400–434 ms
//
// # What it costs
//
//   - A list shares nothing with the writer: chunks that are written while a list copies them are
//     held twice until it is done.
//   - A list through GetIndexer or GetStore ends now and then with a call of the scheduler (see the
//     next section).
//   - Events that come faster than the processors can handle them take time from lists: with
//     GOMAXPROCS=1 and 10 readers of 10k pods that never pause, 3,500× the events a second leave 1.95×
//     (1.85×) the lists, where 3.3× are possible without events.
//   - A batch's objects, up to a thousand, stay alive until its slowest handler is through with all
//     of them.
//   - Calls of a handler that is far behind are not timed. client-go's informer logs those that take
//     more than 100 ms.
//   - The feature gates AtomicFIFO and UnlockWhileProcessingFIFO do not count: the FIFO decides. The
//     Reflector's and the loop's gates do.
//
// # How readers give way
//
// Readers that never pause keep all processors busy, and Go lets each of them go on for 10 ms before
// whatever was woken runs. So a list gives way, that is, it ends with a call of the scheduler
// (runtime.Gosched), for either of two reasons:
//
//   - The informer's: while one of its goroutines has been woken and waits for a processor, a list of
//     1,024 elements or more gives way, a shorter one less often, in proportion to its length. While
//     none waits, a list of 1,024 or more gives way half a millisecond after one last did, for the
//     sake of those who can't tell that they wait, such as the goroutines that decode the watch. Then
//     readers go on for as long as that one was away, up to 100 ms, before the informer makes one give
//     way again: as a rule, for half of the time at most.
//   - The indexer's: while there are writes, a list of indexer.NewSnapshot gives way when 0.2 ms have
//     passed since one last did. Package indexer describes its limits. With another indexer there is
//     the informer's reason only.
//
// # How cost grows
//
// Nanoseconds an event from the watch channel to one handler, by the number of objects held: bursts
// of a thousand updates of metadata in random places, nobody reads (BenchmarkGrowth, wall time, the
// median of three runs on two cores; client-go in brackets). Growth is cache misses, which are the
// same for both:
//
//	         1k           10k           100k             1M
//	465 (1,747)   638 (2,103)  1,052 (2,255)  1,332 (3,004)
//
// What is as in client-go, clause by clause, is in package impltest's TestInformer, which runs on
// client-go's informer too.
package informer
