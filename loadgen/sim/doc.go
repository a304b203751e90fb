// Package sim runs the standard controller in virtual time: an hour of a busy
// one takes about a second.
//
//  1. The feed takes events from a schedule or a recording through a watch with
//     its faults and an informer with its batches and readers, up to Add.
//  2. The work queue is the real one of package ratelimit (or, with priorities,
//     of package priority), delays and rate limiter included, under a clock that
//     jumps from event to event.
//  3. Workers take keys, work for the service time and make API calls behind
//     the client's own token bucket. Failures come back by AddRateLimited until
//     they are given up; some successes come back by AddAfter.
//  4. The queue's own metrics, and a ledger of the events, say how long things
//     took; see [Result].
//
// [Run] is one simulation, a function of its configuration and seed. [Replicate]
// runs many and gives intervals.
package sim
