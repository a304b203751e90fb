// Package delay has delaying queues: work queues whose items may wait before they are ready.
// They stand wherever client-go's does and take its configuration. To use one, change the
// constructor:
//
//	workqueue.NewTypedDelayingQueueWithConfig(config)   becomes   delay.NewHeap4(config)
//
// In every variant an item goes through the same steps:
//
//  1. AddAfter schedules the item, under a lock and never blocking. An item that waits already
//     keeps the earlier of both times.
//  2. A goroutine, the loop, sleeps until the first item is due.
//  3. The loop adds what is due to the inner queue, in the order of ready times, and of equal
//     times in the order of the AddAfter calls.
//  4. Shutdown drops what still waits and ends the loop, before it returns if the inner queue is
//     its own.
//
// # Which one
//
//   - NewHeap4, unless you have a reason. It orders only the items that come next. The price is
//     that with very many items it looks at all of them, under its lock, each time that a
//     quarter of them was handed out, or half of them where they fall due at once.
//   - NewWheel, where very many items wait and being up to a tick late (a millisecond by
//     default) does not matter. Its AddAfter costs the same for any number of items, but when a
//     list of far-off items comes nearer, all of them are moved under one lock.
//   - NewHeap is the plain reference that the others are checked against.
//
// # What you gain
//
// Process CPU time an item in nanoseconds, string keys, medians of interleaved samples on two
// cores whose speed changes by a half with the hour; in brackets how many times client-go's
// speed that is:
//
//	                      client-go  NewHeap4            NewWheel
//	schedule 10,000        533, 563  126, 124 (4.2–4.5)  116, 112 (4.6–5.0)
//	schedule 1,000,000        1,169  144 (8.1)           165 (7.1)
//	reschedule 10,000           474   74 (6.4)            92 (5.1)
//	reschedule 1,000,000        623   95 (6.6)            86 (7.3)
//	pop due 10,000              800  270 (3.0)           236 (3.4)
//	pop due 1,000,000         4,331  566 (7.6)           916 (4.7)
//	live bytes an item            113   41                  45
//
// Live bytes are of 1,000,000 items. Schedule 10,000 was measured in two runs, of ten samples and
// of nine, in which single samples had 3.7 to 5.7 times client-go's speed. The other rows are one
// run of three or four samples, of two (pop due 1,000,000) or of one (reschedule 1,000,000).
//
// While 10,000 items are scheduled, a quarter of what NewHeap4 takes is reading the fake clock,
// which client-go's queue pays too, and a seventh is the garbage collector's.
//
// # Metrics
//
// As upstream's, the retries metric counts the AddAfter calls of a queue that has a name. It
// reports to the MetricsProvider of the configuration or else to the one set by
// workqueue.SetProvider.
package delay
