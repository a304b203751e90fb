// Package delay has delaying queues, whose items may wait before they are ready. They stand
// where client-go's does. In a controller written with client-go change the constructor; to
// undo it, change it back:
//
//	workqueue.NewTypedDelayingQueueWithConfig(config)   becomes   delay.NewHeap4(config)
//
// In a manager of controller-runtime use package ratelimit, whose queues have the same delays.
//
// What is different from client-go's:
//
//   - AddAfter never blocks, and no goroutine outlives a shutdown, with a drain or without.
//   - A waiting item can be cancelled, replaced or postponed: see Rescheduler. That is off
//     unless you call it.
//   - A queue with a name reports to config.MetricsProvider alone; see package queue.
//
// An item goes through these steps:
//
//  1. AddAfter schedules the item, under a lock. An item that waits already keeps the earlier
//     of both times.
//  2. A goroutine sleeps until the first item is due.
//  3. It adds what is due to the inner queue, in the order of ready times.
//  4. Shutdown drops what still waits and ends the goroutine, before it returns if the inner
//     queue is its own.
//
// Which one:
//
//   - NewHeap4, unless you have a reason. An AddAfter takes O(log n), and where many items are
//     due at once they are sorted together.
//   - NewWheel, where very many items wait and being up to a tick late does not matter. Its
//     AddAfter takes the same for any number of items, but when a list of far-off items comes
//     nearer, all of them are moved under one lock.
//   - NewHeap is the plain reference that the others are checked against.
//
// What it costs: a table entry and a heap node a waiting item, less than half of client-go's.
// Of the items that are re-scheduled to earlier times the heap keeps the old nodes, but never
// more of them than items wait.
package delay
