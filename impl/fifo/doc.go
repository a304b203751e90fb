// Package fifo has the queues between a Reflector and the consumer that keeps the store:
// drop-ins for cache.FIFO, cache.DeltaFIFO and cache.RealFIFO. To use one, change the
// constructor; Config holds the options of all three:
//
//	cache.NewDeltaFIFOWithOptions(options)   becomes   fifo.NewRingDeltaFIFO(config)
//	cache.NewRealFIFOWithOptions(options)    becomes   fifo.NewRingInOrder(config)
//
// Programs that only use informers need not do so: package informer's have a RingInOrder.
//
// An object goes through the same steps in each:
//
//  1. Its key is made. A key that can't be made is a cache.KeyError.
//  2. The transformer runs on it once, before it is queued (FIFO has none, as upstream's).
//     Tombstones and objects from the store have been through it and are left alone.
//  3. Pop blocks until there is something or the queue is closed. What is queued at Close is
//     drained first, then Pop answers cache.ErrFIFOClosed.
//  4. The handler runs under the lock, so it must not call the queue (an atomic in-order FIFO may
//     release the lock). It may keep what it was given; the queue keeps nothing of it.
//  5. HasSynced is true once the handlers of the first Replace's items have returned, or at once
//     if Add, Update or Delete came before any Replace.
//
// # Which one
//
//   - FIFO holds the latest object of each key, for consumers that need neither history nor
//     deletions. A key keeps its place while its object changes; Pop skips a deleted key.
//   - DeltaFIFO holds every change of a key since it was last popped, as one cache.Deltas, with
//     keys in the order of their first change. Two consecutive deletions count once. Replace and
//     Resync compare with Config.KnownObjects: what is missing from the new list gets a tombstone.
//   - In-order FIFO, the queue of today's informers, holds every event of every key in order,
//     nothing merged, popped one by one or in batches of distinct keys. With Config.Atomic a
//     Replace, Resync or Bookmark is one delta, and the lock is free while the handler runs,
//     unless two batches are waiting.
//
// Each comes as two types. The Ring types are the ones to use: events lie in a ring of fixed
// segments, keys are hashed straight from the object's namespace and name into an index of
// positions, and in the steady state nothing is allocated but the Deltas that the handler may
// keep. The Slice types are the plain reference, a map and a slice, the way upstream keeps it.
//
// # What you gain
//
// CPU time of client-go v0.37.2 divided by that of the Ring types: medians of six interleaved
// samples of the cases in package bench on two cores, the worst in brackets. Bursts of one key
// were measured in three runs, of ten samples and of eight. With a store, RingInOrder has
// indexer.NewSnapshot behind it and client-go's has client-go's.
//
//	DeltaFIFO      bursts of ten keys                            2.3× (2.1×)
//	               bursts of one key                             2.5×, 3.0×, 2.8× (2.3×)
//	               Replace of 100,000                            3.5× (2.3×)
//	               Resync                                        2.1× (1.9×)
//	in-order FIFO  Replace of 100,000                            2.8× (2.2×)
//	               PopBatch and store, bursts of 10              2.2× (1.9×)
//	               PopBatch and store, bursts of 1,000 of 100k   1.8× (1.4×)
//
// # What it costs
//
// A segment has room for 64 events, so a ring that holds a few objects takes more memory: 3 KB
// (in-order) to 6.5 KB (DeltaFIFO), where client-go's FIFOs take 1.0 to 1.4. Making one and adding
// five objects has 0.55 to 0.9 times client-go's speed.
//
// A key of more than 128 bytes takes an allocation an event, as client-go's keys do. Speed
// relative to client-go's with 100,000 keys of 164 bytes, GOMAXPROCS=1, and the range of all three:
//
//	                            FIFO   in-order   DeltaFIFO   range
//	queueing                    1.1×   1.1×       1.3×        1.0× to 1.4×
//	Replace over half as many   1.1×   1.2×       1.6×        0.95× to 1.7×
//
// # How cost grows
//
// Nanoseconds an object when n distinct keys are queued and all are popped, one by one (add) or as
// one list (replace); client-go v0.37.2 in brackets. All growth is cache misses. From
// BenchmarkGrowth, wall time, the fastest of four runs, of which the slowest took 1.1 to 2.0 times
// as long:
//
//	                            1k         10k           100k             1M
//	FIFO, add             62 (166)   139 (178)      147 (297)    270 (1,011)
//	FIFO, replace        101 (188)   110 (167)      133 (268)      300 (573)
//	DeltaFIFO, add       177 (711)   234 (711)      234 (928)    438 (1,674)
//	DeltaFIFO, replace   157 (862)   220 (846)    224 (1,283)    443 (2,184)
//	in-order, add         57 (346)    60 (228)       75 (278)       62 (237)
//	in-order, replace    122 (449)   110 (305)      181 (390)      333 (829)
package fifo
