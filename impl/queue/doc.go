// Package queue holds work queues that keep client-go's contract, at a fraction
// of its cost: change one constructor.
//
//	workqueue.NewTypedWithConfig(config)   becomes   queue.NewCompact(config)
//
// An item goes through the same steps in each:
//
//  1. Add marks it dirty and queues it, unless a worker has it.
//  2. Get hands out the oldest one and marks it as in processing.
//  3. Done ends that, and queues the item again if it was added meanwhile.
//
// # Which one
//
// Figures are process CPU time an item relative to client-go's queue in the same
// run. Each is the worst and the best of three runs with two processors, two of
// which had them to themselves and one shared them with other programs, and in
// brackets the worse of two with one; a run is the median of five short
// interleaved samples on a machine of two AMD EPYC cores (the million: one run of
// two). The suite in the folder bench measures them on yours. Much of it is
// locking, which cost 4.5 ns here for Lock and Unlock without contention. On a host
// where that was 12 ns, and a map access less, compact reached 2.4 to 2.5× on the
// first row, 3.3× with NamespacedName keys, 2.2 to 2.3× with all metrics, 2.0× on the
// hot key and 1.6× on ping-pong (medians of five or six samples, one run or two); the
// rows of many workers are from there.
//
//	                                 compact          sharded          ring
//	one item at a time               3.8–4.2× (4.1×)  1.6–1.7× (1.8×)  1.6–1.9× (1.6×)
//	the same, NamespacedName keys    4.7–6.0× (5.2×)  1.8–2.2× (2.0×)  1.7–2.2× (1.7×)
//	the same, all metrics            2.6–3.4× (3.0×)  1.8–2.5× (2.0×)  1.5–1.9× (1.6×)
//	every key added twice            2.3–2.7× (2.4×)  1.4–1.6× (1.6×)  1.0–1.2× (1.1×)
//	one hot key                      3.3–3.6× (3.3×)  1.4–1.5× (1.4×)  1.3–1.5× (1.4×)
//	ping-pong of one item            1.9–2.3× (1.7×)  1.3–1.4× (1.2×)  1.3–1.5× (1.2×)
//	1 producer, 1 worker             2.4–3.0× (2.4×)  0.5–0.9× (1.2×)  1.2–1.4× (1.1×)
//	4 producers, 16 workers          4.1–5.1× (2.4×)  1.3–1.5× (1.4×)  2.2–2.4× (1.1×)
//	4 producers, 1,024 workers       6.8–9.0× (1.9×)  2.6× (1.0×)      3.6–4.2× (1.0×)
//	backlog of 10,000                2.6–3.0× (2.8×)  1.8–2.0× (1.9×)  0.9–1.1× (1.1×)
//	backlog of 100,000               2.8–2.9× (2.4×)  2.0–2.3× (1.8×)  1.0–1.2× (1.1×)
//	backlog of 1,000,000             3.7× (3.5×)      2.6× (2.5×)      1.1× (1.0×)
//	live bytes an item, at 100,000   33 of 54         33 of 54         56 of 54
//
// The rows of many workers are of two runs (compact: three) that had both
// processors to themselves. There a lock that two processors want costs several
// times what it costs one, and most of the ratio is in that: compact parks those who
// find it locked, all but one of them where no Unlock wakes them, and has their
// work done by others meanwhile. It pays with the slowest: an Add or a Done at 4
// and 16 took 50 to 60 ns in the median and 0.4 µs at 99 %, but up to 2.8 ms at
// 99.99 %. On a backlog ring is no faster than client-go, nor with one
// processor and a thousand workers; sharded is slower than client-go with one worker.
//
// NewCompact is the one to use: the fastest on every row, strictly first in
// first out, without allocation in the steady state. NewRing is for a storage of
// your own in config.Queue, which the other two can't use and pass on to it.
// NewSharded gives up the global order; on two processors it never pays, since
// one lock is not yet the limit there. NewSlice is the plain reference.
//
// What is left of compact when items come one at a time is its lock: the three
// pairs of Lock and Unlock that the interface asks for take 13 of 37 ns, and 36 of
// 48 on the other host.
//
// # Metrics
//
// They have upstream's meaning. A queue with a name and without a provider
// reports to the one set by workqueue.SetProvider, as client-go's does: that one
// is private to client-go, so it is read out of a queue of client-go's. Should a
// version of client-go hide it better, such a queue is client-go's own.
// Reading the clock is half of what compact costs with metrics. A CoarseClock in
// the config spares that and is exact to a tick of, say, a millisecond: 72 ns of
// CPU an item in place of 138, where client-go takes 399 (medians of nine).
//
// # How cost grows
//
// Process CPU time an item in nanoseconds with two processors that nobody else
// used, medians of three to five interleaved short samples (ten million: one), by
// the number of keys:
//
//	                                   1k   10k  100k     1M    10M
//	one item at a time    client-go   151   150   156    144
//	                      compact      37    37    37     37
//	backlog               client-go   311   396   625  1,084  1,799
//	                      compact     112   126   185    356    613
//
// and with 4 producers by the number of workers, medians of five. How long a cache
// line takes from one processor to the other changes with the hour on a virtual
// machine:
//
//	                             16     64    256  1,024
//	one processor    client-go  288    255    319    338
//	                 compact    112    109     99    153
//	two              client-go  700  1,048  1,077  1,411
//	                 compact    171    137    120    156
//
// # What was tried and left out
//
// Tried: handing an item directly to a sleeping worker: no gain with 16 or 1,024
// workers, and the item waits until that worker runs even if another asks first.
//
// Tried: yielding once or twice before a worker sleeps: a third off ping-pong, but a
// worker that yielded stands behind every runnable goroutine, where one that was
// woken runs next; and no gain elsewhere.
//
// Tried: a Get of up to sixteen items. It takes a seventh off an item that is added,
// got and done alone (58 ns of 68), but no controller could call it: the
// interface hands out one item.
//
// Tried: flat combining, where the goroutine that has the lock does what the
// others published. With twenty goroutines on two processors a short critical
// section took 43 ns of CPU in place of the mutex's 16: publishing a call and
// answering it are two atomic operations more, and there is a record a goroutine
// to look at.
//
// Tried: metrics without deferred unlocks, which would cost a panic in a user's
// provider its safety: no gain.
//
// Tried: the hash of package maphash for strings alone, and the real clock without
// the interface around it: no gain.
//
// Tried: looking at a contended lock again after waits that grow, in place of parking.
// Who waits burns about as much as the owner does and takes the line away: 1.6 to
// 1.9 times the CPU time with 4 producers and 16 to 1,024 workers.
//
// Not built, for want of a gain to expect: a ring of slot numbers beside the
// table, because links in the entries take no more memory than the state bits do.
package queue
