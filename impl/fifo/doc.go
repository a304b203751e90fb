// Package fifo has the queues between a Reflector and the consumer that keeps
// the store: drop-ins for cache.FIFO, cache.DeltaFIFO and cache.RealFIFO.
//
// Which for what, with the contract in brief:
//
//   - FIFO: the latest object of each key, for consumers that need neither
//     history nor deletions. A key keeps its place while its object changes; a
//     deleted key is skipped by Pop.
//   - DeltaFIFO: every change of a key since it was last popped, as one
//     cache.Deltas, keys in the order of their first change. Two consecutive
//     deletions count once. Replace and Resync compare with Config.KnownObjects:
//     what is missing from the new list gets a tombstone.
//   - In-order FIFO, the queue of today's informers: every event of every key in
//     order, nothing merged, popped one by one or in batches of distinct keys.
//     With Config.Atomic a Replace, Resync or Bookmark is one delta, and the lock
//     is free while the handler runs unless two batches are waiting.
//
// What all keep:
//
//  1. Pop blocks until there is something or the queue is closed; what is queued
//     at Close is drained first, then Pop answers cache.ErrFIFOClosed.
//  2. HasSynced is true once the handlers of the first Replace's items have
//     returned, or at once if Add, Update or Delete came before any Replace.
//  3. A key that can't be made is a cache.KeyError.
//  4. The transformer runs once on each object before it is queued; tombstones
//     and objects from the store have been through it and are left alone.
//  5. A handler may keep what it was given; the queue keeps nothing of it.
//  6. The handler runs under the lock, so it must not call the queue (an atomic
//     in-order FIFO may release it).
//
// Each kind comes as a Slice type, the plain reference (a map and a slice, the
// way upstream keeps it), and as a Ring type, built for speed: events lie in a
// ring of fixed segments, keys are hashed straight from the object's namespace
// and name into an index of positions, and in the steady state nothing is
// allocated but the Deltas that the handler may keep.
//
// # How it compares
//
// CPU time against client-go v0.37.2, medians of six interleaved samples (for bursts
// of one key of three runs, of ten and of eight) of the cases in package bench on two
// cores, the worst in brackets. With a store, RingInOrder has indexer.NewSnapshot behind it and client-go's
// has client-go's.
//
//	DeltaFIFO, bursts of ten keys      2.3x (2.1x)   of one key    2.5x, 3.0x, 2.8x (2.3x)
//	DeltaFIFO, Replace of 100k         3.5x (2.3x)   Resync        2.1x (1.9x)
//	in-order FIFO, Replace of 100k     2.8x (2.2x)
//	in-order FIFO, PopBatch and store, bursts of 10     2.2x (1.9x)
//	the same, bursts of 1,000 of 100k                   1.8x (1.4x)
//
// The segments have room for 64 events, so a ring that holds a few objects takes 3 KB
// (in-order) to 6.5 KB (DeltaFIFO), client-go's 1.0 to 1.4; to make one and add five has
// 0.55 to 0.9 times its speed.
//
// A key of 128 bytes or more takes an allocation an event, as client-go's keys do. With
// 100,000 of 164 bytes, GOMAXPROCS=1, queueing has 1.1x, 1.1x and 1.3x (FIFO, in-order,
// DeltaFIFO; 1.0x to 1.4x) client-go's speed, a Replace over half as many 1.1x, 1.2x and
// 1.6x (0.95x to 1.7x).
//
// # How it grows
//
// Nanoseconds an object when n distinct keys are queued and all are popped, one
// by one (add) or as one list (replace); client-go v0.37.2 in brackets. All
// growth is cache misses. BenchmarkGrowth, wall time, the fastest of four runs, of
// which the slowest took 1.1 to 2.0 times as long:
//
//	                         1k         10k         100k           1M
//	FIFO, add           62 (166)   139 (178)   147 (297)   270 (1,011)
//	FIFO, replace      101 (188)   110 (167)   133 (268)   300 (573)
//	DeltaFIFO, add     177 (711)   234 (711)   234 (928)   438 (1,674)
//	DeltaFIFO, replace 157 (862)   220 (846)   224 (1,283) 443 (2,184)
//	in-order, add       57 (346)    60 (228)    75 (278)    62 (237)
//	in-order, replace  122 (449)   110 (305)   181 (390)   333 (829)
package fifo
