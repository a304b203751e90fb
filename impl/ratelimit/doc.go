// Package ratelimit has rate limiters, which say how long a retry must wait, and the rate
// limiting queues that obey them. They stand wherever client-go's do. To use both, change the
// constructors:
//
//	workqueue.NewTypedRateLimitingQueueWithConfig(
//		workqueue.DefaultTypedControllerRateLimiter[string](), config)
//
// becomes
//
//	ratelimit.NewFusedQueue(ratelimit.NewDefault[string](), config)
//
// An item that fails goes through these steps:
//
//  1. The limiter's When counts the failure and answers its delay: exponential or fast/slow for
//     the item, a token bucket for all, or the maximum of several.
//  2. The queue's AddRateLimited is AddAfter with that delay.
//  3. Forget resets the failures when the item succeeded. Forget does not imply Done, nor Done
//     Forget.
//
// # Which one
//
// Limiters:
//
//   - NewDefault is upstream's default behind one lock and one look-up. NewController is the same
//     with other numbers.
//   - NewBoundedDefault, where keys may fail and never be forgotten. It bounds memory, to the
//     100,000 keys that failed last, and waits for a token, to a minute.
//   - The functions with Map and Rate in their names are the plain references.
//
// Queues:
//
//   - NewFusedQueue with a limiter from NewDefault or NewController: a call finds the key once.
//   - NewHeap4Queue, where config.DelayingQueue is given. NewFusedQueue returns this one then.
//   - NewHeapQueue is the reference.
//
// # Should you switch?
//
// What you gain: process CPU time a call or item in nanoseconds, string keys, default limiter,
// medians of three runs of five interleaved samples on two cores (the retry of 500 items: two runs
// of six), and the worst and the best ratio of a run:
//
//	                                        client-go  ours
//	NewDefault: When and Forget, one key          247    50   4.9–5.2×
//	NewDefault: When and Forget, 10,000 keys      251    50   5.0–5.2×
//	NewDefault: When, 10,000 keys                 266    46   5.2–5.8×
//	NewFusedQueue: retry of 500 items           1,933   360   5.0–5.7×
//	NewFusedQueue: retry of 50,000 items        3,413   371   9.1–9.9×
//	NewFusedQueue: success                        172    53   2.9–3.7×
//
// Who should not switch: two uses are slower than with client-go's.
//
//   - Delays of a few microseconds of one item at a time. An item that fails and comes back after
//     1 µs takes 1.5 to 2.7 times the CPU time and three to ten times as long by the clock:
//     probably because it is looked at before it is due, and a timer of a program that has nothing
//     else to do may be late by a millisecond. A thousand such items at a time have 1.35 to 2.7
//     times client-go's speed.
//   - Limiters of few keys that do not live long. A limiter takes 2 KB from its first key on, where
//     client-go's default limiter takes 0.5 KB while it has few. Making one and letting five keys
//     fail has 0.9 times client-go's speed (0.8 to 0.95), with a limiter of items alone, without a
//     bucket, 0.5 times.
package ratelimit
