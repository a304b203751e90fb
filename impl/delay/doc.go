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
// Process CPU time an item in nanoseconds, string keys, medians of three (a
// million items) to seven interleaved runs on two cores that did much other work,
// in brackets the worst and the best of the runs as a multiple of client-go's
// speed, and live bytes:
//
//	                        client-go  NewHeap4         NewWheel
//	schedule 10,000               627       184 (2.9-4.2)    154 (3.4-4.2)
//	schedule 1,000,000          1,046       178 (5.2-7.4)    157 (6.1-6.8)
//	reschedule 10,000             345        80 (3.0-8.2)     88 (3.5-5.4)
//	reschedule 1,000,000          628       119 (5.3-7.0)     88 (6.9-9.7)
//	pop due 10,000              1,513       335 (1.4-4.7)    337 (2.9-4.7)
//	pop due 1,000,000           3,242       645 (4.9-6.4)    975 (2.4-3.7)
//	live bytes of 1,000,000       113        53               45
//
// Metrics: the retries metric counts AddAfter calls as upstream does, of a queue
// that has a name, for the MetricsProvider of its configuration or else the one
// set by workqueue.SetProvider.
package delay
