// Package queue has work queues that keep the contract of client-go's at a fraction of its
// cost. To use one, change the constructor:
//
//	workqueue.NewTypedWithConfig(config)   becomes   queue.NewCompact(config)
//
// In every variant an item goes through the same steps:
//
//  1. Add marks the item dirty and queues it, unless a worker is processing it.
//  2. Get hands out the oldest item and marks it as in processing.
//  3. Done ends the processing, and queues the item again if it was added meanwhile.
//
// # Which one
//
//   - NewCompact is the one to use: the fastest on every row of the table below, strictly
//     first in first out, without allocation in the steady state.
//   - NewRing is for a storage of your own in config.Queue. NewCompact and NewSharded can't
//     use one: given such a config, they return the queue that NewRing makes.
//   - NewSharded gives up the global order. On two processors it never pays, since one lock
//     is not yet the limit there.
//   - NewSlice is the plain reference.
//
// # What you gain
//
// The figures are client-go's process CPU time an item divided by the variant's, in the same
// run: 4× means a quarter of the CPU time. A range is the worst and the best of five runs with
// two processors; the figure in brackets is the worst of three runs with one processor (of the
// million: two runs, and one). A run is the median of three short interleaved samples. The
// machine was a virtual one with two Intel Xeon cores, whose speed changes by a half with the
// hour. The suite in the folder bench measures the same on yours.
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
// The load that adds every key twice calls Len before each Get, for which NewSharded takes all
// its locks. On two AMD EPYC cores, where an atomic instruction takes less time, compact with
// all metrics gained 3.7–4.8×, and backlogs of 10,000, 100,000 and 1,000,000 items 3.6×, 4.1× and
// 5.8× (one processor: 3.2×, 4.1× and 3.5×).
//
// Other types of key in compact: two processors, one run of five interleaved samples, the worst
// of them in brackets:
//
//	                         one at a time  sixteen at a time  backlog of 10,000
//	int64                    3.5× (3.4×)    2.3× (2.2×)        2.0× (1.7×)
//	[16]byte                 3.7× (3.0×)    2.0× (1.9×)        1.9× (1.1×)
//	struct of four strings   4.4× (4.3×)    2.4× (2.2×)        2.7× (2.6×)
//	strings in interfaces    2.6× (2.4×)    1.9× (1.6×)        1.8× (1.5×)
//
// How long an Add or a Done takes with 4 producers and 16 workers, in ten runs each, in turns.
// Some 30 ns of it are spent on reading the clock:
//
//	           median         99%             99.99%
//	compact    50 to 80 ns    0.13 to 0.3 µs  0.02 to 2.9 ms
//	client-go  100 to 180 ns  1 to 130 µs     3 to 34 ms
//
// # What it costs
//
// Small queues take more memory. Empty, a compact queue takes 0.5 KB, as client-go's does; from
// the first item on it takes 2 KB, where client-go's with one to ten items takes 0.8 to 1.6 KB.
// That is room for 63 keys, in the entries themselves: with keys of 1 KB it is 64 KB.
//
// A queue that lives for one item is slower. Speed relative to client-go's of making a compact
// queue, passing some items through and shutting it down, medians and extremes of seven
// interleaved samples:
//
//	no item     1.75× (1.3× to 2.5×)
//	one item    0.8×  (0.4× to 1.4×)
//	five items  1.7×  (1.2× to 2.1×)
//
// With a name and without a MetricsProvider, in a program that has set one, making a queue and
// shutting it down has less than half of client-go's speed: finding that provider takes some
// 10 µs (see Metrics).
//
// # How cost grows
//
// By the number of keys: process CPU time an item in nanoseconds, with two processors that
// nobody else used, medians of five interleaved short samples (10M: of three):
//
//	                                   1k   10k  100k     1M    10M
//	one item at a time    client-go   136   152   133    130    125
//	                      compact      34    39    33     33     33
//	backlog               client-go   249   355   369    875  1,811
//	                      compact      85    94   125    255    448
//
// Ten million items take 32 live bytes each in compact, 61 in client-go's queue.
//
// By the number of workers, with 4 producers, medians of five samples. The rows of two
// processors are from the Intel cores, in one of their slow hours:
//
//	                             16     64    256  1,024
//	one processor    client-go  189    193    194    244
//	                 compact     65     64     69     93
//	two processors   client-go  905  1,499  2,589  2,494
//	                 compact    161    118    191    246
//
// # Metrics
//
// They have upstream's meaning. A queue with a name and without a provider reports to the one
// set by workqueue.SetProvider, as client-go's does. That provider is private to client-go, so
// it is read out of a queue of client-go's. Should a version of client-go hide it better, the
// constructors return client-go's own queue in this case.
//
// Reading the clock three times an item was half of what compact cost with metrics. On Linux
// and amd64, where the system takes its time from the processor's time stamp counter (also in
// virtual machines with kvm-clock or Hyper-V's), and when the config has no clock of its own,
// the queues read that counter themselves: on the AMD cores an item took 87 ns in place of 161
// (client-go 390), with kvm-clock 107 in place of 197 (client-go 520). How exact that is:
//
//   - What the queues observe differed from the monotonic clock by 0.2 µs at most where it was
//     tried, for 24 s. It differs by less than a microsecond as long as the counter keeps its
//     rate.
//   - Counter and clock are compared after a millisecond of use, so a counter that jumps
//     misleads by that much, once. A queue whose counter disagrees goes back to the clock for
//     good, and so does one whose machine was suspended.
//   - The clock times the first two milliseconds with metrics of a program, and everything in a
//     bubble of testing/synctest.
//
// Elsewhere, a CoarseClock in the config spares the readings and is exact to a tick of, say, a
// millisecond: 80 ns an item.
//
// # The lock
//
// Much of an item's cost is locking. Without contention, Lock and Unlock of a sync.Mutex take
// 12 ns on the AMD cores, those of the lock in impl/internal/lock 6. The interface asks for
// three pairs of them an item, which take 18 of compact's 33 ns there when items come one at a
// time.
//
// A lock that two processors want costs several times what it costs one. So compact parks the
// goroutines that find it locked, all but one of them where no Unlock wakes them, and others do
// their work meanwhile. The one is given the lock after some 64 more Unlocks, and goes on at
// the processor of the goroutine that gave it. The two then take turns on one processor, where
// they do not meet: one to three of a thousand items find the lock taken. As long as that one
// was only woken, to try by itself, it came too late three times of four, thirty items of a
// thousand found the lock taken, and an item took 2 to 3 times the CPU time.
//
// # Tried and left out
//
//   - Handing an item directly to a sleeping worker: no gain with 16 or 1,024 workers, and the
//     item waits until that worker runs even if another asks first.
//   - Yielding once or twice before a worker sleeps: it takes a third off ping-pong, but a
//     worker that yielded stands behind every runnable goroutine, where one that was woken runs
//     next. No gain elsewhere.
//   - A Get of up to sixteen items: it takes a seventh off an item that is added, got and done
//     alone (58 ns in place of 68), but no controller could call it, as the interface hands out
//     one item.
//   - Flat combining, where the goroutine that has the lock does what the others published:
//     with twenty goroutines on two processors a short critical section took 43 ns of CPU in
//     place of the mutex's 16. Publishing a call and answering it are two more atomic
//     operations, and there is a record for each goroutine to look at.
//   - Shards that keep the global order, by a queue of their entries with a lock of its own:
//     with many goroutines they take less than NewSharded (4 producers and 256 workers: 240 ns
//     in place of 430; compact 134), with one a tenth more. But a worker that has taken an
//     entry from that queue and not yet from its shard can be overtaken: an Add that comes
//     after the other's Get may still find the key queued, which no single order of the calls
//     explains. Holding both locks makes all workers meet at one shard.
//   - Metrics without deferred unlocks: no gain, and a panic in a user's provider would no
//     longer be safe.
//   - The hash of package maphash for strings alone: no gain.
//   - Giving the lock to the goroutine that waits at the first Unlock, in place of the 64th: it
//     is not asleep yet and goes on at its own processor, so the two meet all the time (1
//     producer and 1 worker: 540 ns of CPU an item in place of 180).
//   - Giving it at the 1,000th to the 4,000th Unlock: as little CPU is used as at the 64th, but
//     the holder is more often through with its work by then, and nobody runs until a timer
//     fires: an item takes up to half as long again.
//   - Looking at a contended lock again after waits that grow, in place of parking: the one who
//     waits burns about as much as the owner and takes the cache line away. 1.6 to 1.9 times
//     the CPU time with 4 producers and 16 to 1,024 workers.
//   - An Unlock that is an ordinary assignment in place of a line of assembly: it takes a tenth
//     off an item, but by Go's memory model it is a data race.
//
// Not built:
//
//   - A Len that takes no lock. Others may see an Unlock a moment after it returned, so a
//     program that sets a flag and then finds Len zero could sleep while the one that added an
//     item finds the flag not set.
//   - Buffers of Adds, one a processor. The next Get and Len must find what was added, so they
//     would have to look at all buffers, as NewSharded's look at shards.
//   - A ring of slot numbers beside the table: no gain to expect, because links in the entries
//     take no more memory than the state bits do.
package queue
