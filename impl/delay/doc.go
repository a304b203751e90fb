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
// Which one? NewHeap4 unless you have a reason. NewWheel where very many items
// wait and a millisecond does not matter: its AddAfter costs the same for any
// number of items, but when a list of far-off items comes nearer all of them are
// moved under one lock. NewHeap is the plain reference that the others are
// checked against.
//
// Process CPU time an item in nanoseconds, string keys, medians of three (a
// million items) to seven interleaved runs on two shared cores, and live bytes:
//
//	                        client-go  NewHeap4  NewWheel
//	schedule 10,000               363       122       112
//	schedule 1,000,000            923       161       166
//	reschedule 10,000             295        71        61
//	reschedule 1,000,000          620       186       189
//	pop due 10,000                730       352       255
//	pop due 1,000,000           3,104       974       839
//	live bytes of 1,000,000       113        53        45
//
// Metrics: the retries metric counts AddAfter calls as upstream does, of a queue
// that has a name, for the MetricsProvider of its configuration or else the one
// set by workqueue.SetProvider.
package delay
