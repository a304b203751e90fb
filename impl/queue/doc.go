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
// run. Each is the worst and the best of five runs with two processors, and in
// brackets the worst of three with one; a run is the median of three short
// interleaved samples on a virtual machine of two Intel Xeon cores, whose speed
// changes by a half with the hour (the million: two runs, and one). On two AMD EPYC
// cores, where an atomic instruction takes less, metrics gained 3.7 to 4.8 times. The
// suite in the folder bench measures them on yours.
//
//	                                 compact          sharded          ring
//	one item at a time               3.9–5.7× (4.0×)  2.0–3.0× (1.8×)  2.5–3.9× (2.7×)
//	the same, NamespacedName keys    3.7–6.3× (4.6×)  1.7–2.8× (2.4×)  3.3–3.8× (3.6×)
//	the same, all metrics            3.1–4.0× (3.2×)  2.2–2.6× (1.6×)  2.3–2.7× (2.2×)
//	every key added twice            3.0–4.0× (2.6×)  1.0–1.8× (1.7×)  1.5–1.8× (1.5×)
//	one hot key                      2.9–3.2× (3.1×)  1.5–2.0× (1.7×)  1.9–2.5× (2.2×)
//	ping-pong of one item            1.5–1.9× (1.6×)  1.0–1.3× (1.2×)  1.4–1.6× (1.4×)
//	1 producer, 1 worker             3.0–3.5× (3.0×)  1.4–2.2× (2.0×)  1.6–1.9× (1.6×)
//	4 producers, 16 workers          9.7–14×  (3.0×)  4.6–6.1× (2.1×)  4.7–7.5× (1.5×)
//	4 producers, 1,024 workers       3.2–18×  (2.6×)  2.2–9.0× (2.0×)  1.8–12×  (1.4×)
//	backlog of 10,000                2.8–3.6× (3.0×)  1.9–2.9× (1.9×)  1.3–1.9× (1.5×)
//	backlog of 100,000               2.7–3.7× (2.7×)  2.4–2.9× (2.4×)  1.6–2.0× (1.9×)
//	backlog of 1,000,000             4.8–4.9× (5.0×)  2.5–2.6× (3.1×)  2.3–2.4× (2.3×)
//	live bytes an item, at 100,000   32 of 54         32 of 54         51 of 54
//
// The load that adds every key twice asks for Len before each Get, for which sharded
// takes all its locks.
//
// Other keys in compact, two processors, one run of five interleaved samples: one item at
// a time, sixteen at a time, a backlog of 10,000.
//
//	int64                    3.5× (3.4×)  2.3× (2.2×)  2.0× (1.7×)
//	[16]byte                 3.7× (3.0×)  2.0× (1.9×)  1.9× (1.1×)
//	struct of four strings   4.4× (4.3×)  2.4× (2.2×)  2.7× (2.6×)
//	strings in interfaces    2.6× (2.4×)  1.9× (1.6×)  1.8× (1.5×)
//
// Much of it is locking: Lock and Unlock of a sync.Mutex cost 12 ns on the AMD cores
// without contention, those of the lock in impl/internal/lock 6. A lock that two processors
// want costs several times what it costs one: compact parks those who find it
// locked, all but one of them where no Unlock wakes them, and has their work done
// by others meanwhile. That one is given the lock after some 64 more Unlocks, and goes
// on where the one runs that gave it. So they take turns on one processor, where they
// do not meet: one to three of a thousand items find the lock taken. As long as that one
// was woken, to try by itself, it came too late three times of four, thirty items of a
// thousand found the lock taken, and an item took 2 to 3 times the CPU time.
//
// An Add or a Done at 4 and 16 took 50 to 80 ns in the median, 0.13 to 0.3 µs at 99 % and
// 0.02 to 2.9 ms at 99.99 %, in client-go's queue 100 to 180 ns, 1 to 130 µs and 3 to
// 34 ms (ten runs each, in turns; some 30 ns of it are to read the clock).
//
// NewCompact is the one to use: the fastest on every row, strictly first in
// first out, without allocation in the steady state. NewRing is for a storage of
// your own in config.Queue, which the other two can't use and pass on to it.
// NewSharded gives up the global order; on two processors it never pays, since
// one lock is not yet the limit there. NewSlice is the plain reference.
//
// Very small: an empty compact queue takes 0.5 KB, as client-go's, but 2 KB from the
// first item on, where client-go's with one to ten items takes 0.8 to 1.6 KB. Making one,
// passing an item through and shutting it down has 0.8 times client-go's speed (0.4 to
// 1.4, medians and extremes of seven interleaved samples), without any item 1.75 times
// (1.3 to 2.5), with five 1.7 (1.2 to 2.1). One with a name and without a provider, where the program has
// set one, has less than half the speed: some 10 µs are taken to find that provider.
//
// What is left of compact when items come one at a time is its lock: the three
// pairs of Lock and Unlock that the interface asks for take 18 of 33 ns on the AMD cores.
//
// # Metrics
//
// They have upstream's meaning. A queue with a name and without a provider
// reports to the one set by workqueue.SetProvider, as client-go's does: that one
// is private to client-go, so it is read out of a queue of client-go's. Should a
// version of client-go hide it better, such a queue is client-go's own.
//
// Three readings of the clock an item were half of what compact cost with metrics.
// Where Linux takes its time from the processor's time stamp counter, on amd64, and
// the config has no clock of its own, the queues read that counter themselves: an
// item took 87 ns in place of 161 on the AMD cores (client-go 390). What they observe differs from
// the monotonic clock by 0.2 µs at most where it was tried, for 24 s, and by less
// than a microsecond as long as the counter keeps its rate. Both are compared after a
// millisecond of use, so a counter that jumps misleads by that, once: a queue whose
// counter disagrees goes back to the clock for good. So does one whose machine was
// suspended. A program's first two milliseconds with metrics are timed by the clock,
// and so is what runs in a bubble of testing/synctest.
//
// Elsewhere a CoarseClock in the config spares the readings and is exact to a tick of,
// say, a millisecond: 80 ns an item.
//
// # How cost grows
//
// Process CPU time an item in nanoseconds with two processors that nobody else
// used, medians of five interleaved short samples (10M: of three), by the number of keys:
//
//	                                   1k   10k  100k     1M    10M
//	one item at a time    client-go   136   152   133    130    125
//	                      compact      34    39    33     33     33
//	backlog               client-go   249   355   369    875  1,811
//	                      compact      85    94   125    255    448
//
// Ten million items take 32 live bytes each in compact, 61 in client-go's queue.
//
// and with 4 producers by the number of workers, medians of five; the rows of two
// processors on the Intel cores, in one of their slow hours:
//
//	                             16     64    256  1,024
//	one processor    client-go  189    193    194    244
//	                 compact     65     64     69     93
//	two              client-go  905  1,499  2,589  2,494
//	                 compact    161    118    191    246
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
// Tried: shards that keep the global order, by a queue of their entries with a lock of
// its own. With many goroutines it takes less than NewSharded (4 producers and 256
// workers: 240 ns in place of 430; compact 134) and a tenth more with one. But a worker
// that has taken an entry from there and not yet from its shard can be overtaken: an
// Add that comes after the other's Get may still find the key queued, which no single
// order of the calls explains. To hold both locks makes all workers meet at one shard.
//
// Tried: metrics without deferred unlocks, which would cost a panic in a user's
// provider its safety: no gain.
//
// Tried: the hash of package maphash for strings alone: no gain.
//
// Tried: to give the lock to the one that waits for it at the first Unlock, in place of
// the 64th. It is not asleep yet, goes on at its own processor, and the two meet all the
// time (1 producer and 1 worker: 540 ns of CPU an item in place of 180). At the 1,000th
// to the 4,000th as little CPU is used as at the 64th, but who has the lock is more often
// through with it by then, and nobody runs until a timer tells so: an item takes up to
// half as long again.
//
// Tried: looking at a contended lock again after waits that grow, in place of parking.
// Who waits burns about as much as the owner does and takes the line away: 1.6 to
// 1.9 times the CPU time with 4 producers and 16 to 1,024 workers.
//
// Tried: an Unlock that is an ordinary assignment in place of a line of assembly. It
// takes a tenth off an item, but by Go's memory model it is a data race.
//
// Not built: a Len that takes no lock. Others may see an Unlock a moment after it
// returned, so a program that sets a flag and then finds Len zero could sleep while
// the one that added an item finds the flag not set.
//
// Not built: buffers of Adds, one a processor. The next Get and Len must find what was
// added, so they would have to look at all buffers, as those of NewSharded look at shards.
//
// Not built, for want of a gain to expect: a ring of slot numbers beside the
// table, because links in the entries take no more memory than the state bits do.
package queue
