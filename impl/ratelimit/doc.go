// Package ratelimit has rate limiters, which say how long a retry must wait,
// and the rate limiting queues that obey them. All of them take part as
// workqueue.TypedRateLimiter and workqueue.TypedRateLimitingInterface.
package ratelimit
