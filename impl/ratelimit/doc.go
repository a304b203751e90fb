// Package ratelimit has rate limiters, which say how long a retry must wait,
// and the rate limiting queues that obey them. They can stand wherever
// client-go's do.
//
//  1. When counts a failure of an item and answers its delay: exponential or
//     fast/slow for the item, a token bucket for all, or the maximum of several.
//  2. A queue's AddRateLimited is AddAfter with that delay.
//  3. Forget resets the failures when the item succeeded. Forget does not imply
//     Done, nor Done Forget.
//
// Which limiter? NewDefault is upstream's default behind one lock and one probe.
// Where keys may fail and never be forgotten, NewBoundedDefault, which bounds
// memory and waits. The functions with Map and Rate in their names are the plain
// references.
//
// Which queue? NewFusedQueue with a limiter from NewDefault or NewController:
// the key is found once in a call. NewHeap4Queue where the delaying queue is
// given. NewHeapQueue is the reference.
//
// A limiter takes 2 KB from its first key on, client-go's default limiter 0.5 KB while it
// has few: making one and letting five keys fail has 0.9 times the speed of client-go's
// (0.8 to 0.95), a limiter of items alone, without a bucket, 0.5 times.
//
// Delays of a few microseconds: one item at a time that fails and comes back after 1 µs
// takes 1.5 to 2.7 times the CPU time of client-go's and three to ten times as long by
// the clock: probably because it is looked at before it is due, and a timer of a program
// that has nothing else to do may be late by a millisecond. A thousand items at a time
// have 1.35 to 2.7 times client-go's speed.
//
// Process CPU time a call or item in nanoseconds, string keys, default limiter,
// medians of three runs of five interleaved samples on two cores, and the worst and
// the best ratio of a run; the retry of 500 items in two runs of six:
//
//	                                        client-go  ours
//	NewDefault: When and Forget, one key          247    50   4.9–5.2×
//	NewDefault: When and Forget, 10,000 keys      251    50   5.0–5.2×
//	NewDefault: When, 10,000 keys                 266    46   5.2–5.8×
//	NewFusedQueue: retry of 500 items           1,933   360   5.0–5.7×
//	NewFusedQueue: retry of 50,000 items        3,413   371   9.1–9.9×
//	NewFusedQueue: success                        172    53   2.9–3.7×
package ratelimit
