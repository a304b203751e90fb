// Package delay has delaying queues: work queues whose items may wait before
// they are ready. All of them take a workqueue.TypedDelayingQueueConfig and can
// stand wherever client-go's does.
//
//  1. AddAfter schedules an item, under a lock and never blocking; an item that
//     waits already keeps the earlier of both times.
//  2. A goroutine, the loop, sleeps until the first item is due.
//  3. It adds what is due to the inner queue, in the order of ready times, and
//     in the order of AddAfter calls where these are equal.
//  4. Shutdown drops what still waits and ends the loop, before it returns if the
//     inner queue is its own.
//
// Which one? NewHeap4 unless you have a reason. It orders only the items that come
// next: of very many it looks at all, under its lock, each time that a quarter of
// them was handed out, or half of them where they fall due at once.
// NewWheel where very many items wait and a millisecond does not matter: its
// AddAfter costs the same for any number of items, but when a list of far-off items
// comes nearer all of them are moved under one lock. NewHeap is the plain reference
// that the others are checked against.
//
// Process CPU time an item in nanoseconds, string keys, medians of interleaved
// samples on two cores whose speed changes by a half with the hour, in brackets how
// many times client-go's speed that is, and live bytes. Schedule 10,000: two runs, of
// ten samples and of nine; the others: one run, of three or four samples, of two (pop
// due 1,000,000) and of one (reschedule 1,000,000):
//
//	                        client-go      NewHeap4           NewWheel
//	schedule 10,000           533, 563     126, 124 (4.2-4.5) 116, 112 (4.6-5.0)
//	schedule 1,000,000           1,169     144 (8.1)          165 (7.1)
//	reschedule 10,000              474      74 (6.4)           92 (5.1)
//	reschedule 1,000,000           623      95 (6.6)           86 (7.3)
//	pop due 10,000                 800     270 (3.0)          236 (3.4)
//	pop due 1,000,000            4,331     566 (7.6)          916 (4.7)
//	live bytes of 1,000,000        113      41                 45
//
// Single samples of schedule 10,000 were 3.7 to 5.7 times client-go's speed: while so
// many are scheduled, a quarter of what NewHeap4 takes is the reading of the fake
// clock, which client-go's pays too, and a seventh the garbage collector's.
//
// Metrics: the retries metric counts AddAfter calls as upstream does, of a queue
// that has a name, for the MetricsProvider of its configuration or else the one
// set by workqueue.SetProvider.
package delay
