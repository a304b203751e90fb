// Package ratelimit has rate limiters, which say how long a retry must wait, and the rate
// limiting queues that obey them. In a controller written with client-go change
//
//	workqueue.NewTypedRateLimitingQueueWithConfig(
//		workqueue.DefaultTypedControllerRateLimiter[string](), config)
//
// to the following; to undo it, change it back:
//
//	ratelimit.NewFusedQueue(ratelimit.NewDefault[string](), config)
//
// In a manager of controller-runtime set controller.Options.NewQueue to a function that makes
// that queue for reconcile.Request, with a MetricsProvider of yours. To undo it, remove it.
//
// What is different: what packages queue and delay say, and nothing else. QueueOptions are off
// by default: one counts no failure of an item that waits for its retry already, the other
// bounds the wait.
//
// An item that fails goes through these steps:
//
//  1. The limiter's When counts the failure and answers its delay.
//  2. The queue's AddRateLimited is AddAfter with that delay.
//  3. Forget resets the failures when the item succeeded. Forget does not imply Done, nor Done
//     Forget.
//
// Which limiter: NewDefault is upstream's default behind one lock and one look-up, and
// NewController the same with other numbers. NewBoundedDefault is for keys that fail and are
// never forgotten: it bounds memory and the wait for a token. Those with Map and Rate in their
// names are the plain references.
//
// Which queue: NewFusedQueue, with any limiter. If the config has a DelayingQueue, that one
// makes what NewHeap4Queue does. NewHeapQueue is the reference.
//
// What it costs: a limiter takes more than client-go's while it has few keys, so one that lives
// for a few failures is slower. So are delays of microseconds of one item at a time, where an
// idle program's timer is late.
package ratelimit
