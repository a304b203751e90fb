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
// interleaved runs on a shared machine, so the last digit means nothing. The
// suite in the folder bench measures them on yours. The row of 1,024 workers with
// two processors is of thirteen runs, which differ more than tenfold.
//
//	                                     compact       sharded       ring
//	one item at a time                   2.5× (2.7×)   1.2× (1.3×)   1.5× (1.6×)
//	the same, NamespacedName keys        3.8× (3.6×)   1.8× (1.8×)   1.9× (1.8×)
//	the same, all metrics                2.2× (2.2×)   1.5× (1.4×)   1.6× (1.6×)
//	every key added twice                2.0× (2.0×)   1.3× (1.3×)   1.1× (1.2×)
//	one hot key                          2.2× (2.1×)   1.2× (1.2×)   1.5× (1.4×)
//	ping-pong of one item                1.5× (1.4×)   1.0× (1.0×)   1.2× (1.2×)
//	1 producer, 1 worker                 2.1× (2.1×)   1.3× (1.4×)   1.1× (1.1×)
//	4 producers, 16 workers              2.2× (1.9×)   1.6× (1.3×)   1.3× (1.1×)
//	4 producers, 1,024 workers           2.4× (2.2×)   1.4× (1.4×)   1.8× (1.2×)
//	backlog of 10,000                    2.5× (2.2×)   1.4× (1.5×)   1.1× (1.1×)
//	backlog of 100,000                   2.9× (3.6×)   1.7× (2.2×)   1.2× (1.1×)
//	backlog of 1,000,000                 2.3× (3.0×)   1.3× (1.7×)   1.1× (1.1×)
//	live bytes an item, at 100,000       28 of 54      48 of 54      56 of 54
//
// NewCompact is the one to use: the fastest on every row, strictly first in
// first out, without allocation in the steady state. NewRing is for a storage of
// your own in config.Queue, which the other two can't use and pass on to it.
// NewSharded gives up the global order; on two processors it never pays, since
// one lock is not yet the limit there. NewSlice is the plain reference.
//
// What is left of compact when items come one at a time is mostly its lock: 31
// of 47 ns are the three pairs of Lock and Unlock that the interface asks for.
//
// # Metrics
//
// They have upstream's meaning. A queue with a name and without a provider
// reports to the one set by workqueue.SetProvider, as client-go's does: that one
// is private to client-go, so it is read out of a queue of client-go's. Should a
// version of client-go hide it better, such a queue is client-go's own.
// Reading the clock is two fifths of what compact costs with metrics. A
// CoarseClock in the config spares that and is exact to a tick: 72 ns of CPU an
// item in place of 152, where client-go takes 375 (best of five).
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
// Not built, for want of a gain to expect: a Get of several items, and combining
// the calls of several goroutines into one critical section, because the
// interface takes and returns one item and the hand-over needs the atomic
// operations that the lock costs; and a ring of slot numbers beside the table,
// because links in the entries take no more memory than the state bits do.
package queue
