// Package queue has work queues that stand where client-go's do. In a controller written
// with client-go change the constructor; to undo it, change it back:
//
//	workqueue.NewTypedWithConfig(config)   becomes   queue.NewCompact(config)
//
// In a manager of controller-runtime set controller.Options.NewQueue, as packages ratelimit
// and priority show: a controller needs one of their queues.
//
// What is different from client-go's:
//
//   - A queue with a name reports to config.MetricsProvider alone. What
//     workqueue.SetProvider set is private to client-go: without a provider of its own such
//     a queue says once in the log that it reports nowhere.
//   - A Done of an item that nobody holds changes nothing, where client-go's queues an item
//     twice that is queued already.
//   - Callers of ShutDownWithDrain don't keep one another waiting.
//
// An item goes through these steps:
//
//  1. Add marks the item dirty and queues it, unless a worker is processing it.
//  2. Get hands out the oldest item and marks it as in processing.
//  3. Done ends the processing, and queues the item again if it was added meanwhile.
//
// Which one:
//
//   - NewCompact, unless you have a reason. First in first out, without allocation in the
//     steady state: one mutex, and one table entry a key, which is also its link in the
//     queue.
//   - NewRing, with a storage of your own in config.Queue. NewCompact and NewSharded make
//     the same one if there is a storage.
//   - NewSharded gives up the global order, for many processors that meet at one lock. With
//     one and two processors, which is what was measured, it never wins.
//   - NewSlice is the plain reference.
//
// What it costs: an empty queue is as small as client-go's, but from its first item on it has
// room for some sixty keys. After a burst the memory is given back. With metrics, half of
// what an item costs is reading the clock: a CoarseClock in the config spares that and is
// exact to its tick.
package queue
