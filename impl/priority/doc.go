// Package priority has a priority queue that stands in for controller-runtime's: the same
// interface and the same results, and New takes the same options. A controller written with
// client-go alone has no use for priorities: see package ratelimit. In a manager of
// controller-runtime set NewQueue; to undo it, remove it:
//
//	controller.Options{
//		NewQueue: func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
//			return priority.NewWithConfig(priority.Config[reconcile.Request]{Name: name, RateLimiter: limiter, MetricsProvider: yours})
//		},
//	}
//
// What is different from controller-runtime's:
//
//   - A queue with a name reports to Config.MetricsProvider alone, as controller-runtime's
//     provider is internal. One that is a ProviderByPriority has the depth of each priority.
//   - The metric of waits counts from Add until the worker has the item. controller-runtime's
//     leaves out how long its goroutines take to pass an item on, so it shows less for longer waits.
//   - ShutDown may be called twice, and ShutDownWithDrain waits.
//   - Config.OldestEvery, off by default, keeps a steady stream of important items from
//     starving the others (kubernetes-sigs/controller-runtime#3261, #3496).
//   - Namespaces are not treated fairly here, as one place in the order can't follow from both
//     a priority and a turn: queue.NewFairStorage gives turns in a queue without priorities.
//
// An item goes through these steps:
//
//  1. AddWithOpts finds or makes the key's entry and appends it to the list of its priority;
//     with a delay, the entry goes into a heap of times instead.
//  2. One goroutine promotes what is due, in the order of ready times.
//  3. GetWithPriority takes the first item of the highest priority. An item whose priority is
//     raised takes the last place there.
//  4. Done frees the key, and also its entry if the item was not added meanwhile; else it puts
//     the entry into the place that it took with that Add.
//
// What it costs: one entry a key and nothing an item that is allocated. An Add takes the same
// for any number of items, and O(log n) of n priorities where a priority has no other item. An
// item that is added while it is processed takes O(log n) of those like it.
//
// This is a package of its own because controller-runtime's, whose interface it has, sets the
// program's provider of work queue metrics when it is linked in.
package priority
