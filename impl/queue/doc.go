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
// run, with two processors and in brackets with one: medians of five short
// interleaved runs on a busy machine of two AMD EPYC cores, so the last digit
// means nothing. The suite in the folder bench measures them on yours. Much of it
// is locking, which cost 4.5 ns here for Lock and Unlock without contention; where
// that is 10 ns the first row is 2.6 to 2.8×.
//
//	                                     compact       sharded       ring
//	one item at a time                   3.9× (3.8×)   1.5× (1.6×)   1.6× (1.7×)
//	the same, NamespacedName keys        4.9× (4.3×)   1.8× (1.6×)   1.8× (1.6×)
//	the same, all metrics                2.8× (3.1×)   2.0× (2.1×)   1.7× (1.7×)
//	every key added twice                2.4× (2.2×)   1.4× (1.4×)   1.2× (1.3×)
//	one hot key                          3.2× (3.2×)   1.3× (1.3×)   1.4× (1.5×)
//	ping-pong of one item                1.7× (1.6×)   1.1× (1.2×)   1.1× (1.2×)
//	1 producer, 1 worker                 3.1× (2.7×)   1.9× (1.8×)   1.1× (1.1×)
//	4 producers, 16 workers              3.3× (2.3×)   1.8× (1.6×)   1.2× (1.0×)
//	4 producers, 1,024 workers           2.4× (2.2×)   1.9× (1.6×)   1.8× (1.2×)
//	backlog of 10,000                    2.8× (2.2×)   1.6× (1.5×)   1.1× (1.0×)
//	backlog of 100,000                   3.3× (3.3×)   2.0× (2.1×)   1.3× (1.1×)
//	backlog of 1,000,000                 2.8× (3.1×)   2.3× (2.5×)   1.2× (1.2×)
//	live bytes an item, at 100,000       30 of 54      55 of 54      56 of 54
//
// NewCompact is the one to use: the fastest on every row, strictly first in
// first out, without allocation in the steady state. NewRing is for a storage of
// your own in config.Queue, which the other two can't use and pass on to it.
// NewSharded gives up the global order; on two processors it never pays, since
// one lock is not yet the limit there. NewSlice is the plain reference.
//
// What is left of compact when items come one at a time is a third its lock: 13
// of 40 ns are the three pairs of Lock and Unlock that the interface asks for.
//
// # Metrics
//
// They have upstream's meaning. A queue with a name and without a provider
// reports to the one set by workqueue.SetProvider, as client-go's does: that one
// is private to client-go, so it is read out of a queue of client-go's. Should a
// version of client-go hide it better, such a queue is client-go's own.
// Reading the clock is half of what compact costs with metrics. A CoarseClock in
// the config spares that and is exact to a tick of, say, a millisecond: 67 ns of
// CPU an item in place of 138, where client-go takes 424 (medians of nine).
//
// # How cost grows
//
// Process CPU time an item in nanoseconds with two processors, medians of five
// to seven interleaved short runs on a busy machine (ten million: one run), by
// the number of keys:
//
//	                                   1k   10k  100k    1M   10M
//	one item at a time    client-go   124   134   121   111
//	                      compact      47    48    47    44
//	backlog               client-go   299   274   570   876  1,430
//	                      compact     142   134   142   346   625
//
// and with 4 producers by the number of workers:
//
//	                       16    64   256  1,024
//	client-go             201   233   290   390
//	compact               102   105   129   169
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
// Not built, for want of a gain to expect: a ring of slot numbers beside the
// table, because links in the entries take no more memory than the state bits do.
package queue
