// Package delay has delaying queues: work queues whose items may wait before
// they are ready. All of them take a workqueue.TypedDelayingQueueConfig and can
// stand wherever client-go's does.
//
//  1. AddAfter schedules an item, under a lock and never blocking; an item that
//     waits already keeps the earlier of both times.
//  2. A goroutine, the loop, sleeps until the first item is due.
//  3. It adds what is due to the inner queue, in the order of ready times, and
//     in the order of AddAfter calls where these are equal.
//  4. Shutdown drops what still waits and ends the loop before it returns.
//
// Which one? NewHeap4 unless you have a reason. Where a large part of it falls due
// at once it sorts that part under its lock: 0.15 to 0.2 seconds for a million items
// on the machine of the figures below, and about 24 bytes an item for as long.
// NewWheel where very many items wait and a millisecond does not matter: its
// AddAfter costs the same for any number of items, but when a list of far-off items
// comes nearer all of them are moved under one lock. NewHeap is the plain reference
// that the others are checked against.
//
// Process CPU time an item in nanoseconds, string keys, medians of three runs (two
// where a million items are rescheduled) of two to five interleaved samples on two
// cores whose speed changes by a half with the hour, in brackets the worst and the
// best run as a multiple of client-go's speed, and live bytes:
//
//	                        client-go  NewHeap4         NewWheel
//	schedule 10,000               596       134 (3.5-4.8)    135 (3.9-4.8)
//	schedule 1,000,000          1,087       173 (6.0-6.3)    178 (5.7-7.3)
//	reschedule 10,000             431        76 (4.5-5.7)     72 (4.3-6.0)
//	reschedule 1,000,000          867        99 (8.0-9.6)     93 (9.3-9.4)
//	pop due 10,000                800       266 (2.9-3.4)    238 (3.0-3.4)
//	pop due 1,000,000           3,698       618 (5.1-6.1)    926 (3.9-4.0)
//	live bytes of 1,000,000       113        53               45
//
// While 10,000 are scheduled a fifth of what NewHeap4 takes is the garbage
// collector's and a sixth the reading of the fake clock, which client-go's pays too.
//
// Metrics: the retries metric counts AddAfter calls as upstream does, of a queue
// that has a name, for the MetricsProvider of its configuration or else the one
// set by workqueue.SetProvider.
package delay
