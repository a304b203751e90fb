// Package priority holds a priority queue that stands in for
// controller-runtime's: same interface, same results, a fraction of the cost.
//
//	controller.Options{
//		NewQueue: func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
//			return priority.NewWithConfig(priority.Config[reconcile.Request]{Name: name, RateLimiter: limiter})
//		},
//	}
//
// An item goes through these steps:
//
//  1. AddWithOpts finds or makes the key's entry and, by its priority, links it
//     into the list of that level; with a delay it goes into a heap of times.
//  2. One goroutine promotes what is due, in the order of ready times.
//  3. GetWithPriority takes the head of the highest level whose key nobody
//     holds; a raised priority takes the last place of its new level.
//  4. Done frees the key, and its entry if it was not added meanwhile.
//
// Process CPU time an item relative to controller-runtime's queue in the same
// run, string keys at three priorities: ranges of the medians of two to six series of
// three to seven interleaved short samples on a virtual machine whose speed changes by
// a half with the hour. It allocates nothing an item, controller-runtime's two to four
// objects; queued, an item takes 44 to 48 bytes, there 102 to 112.
//
//	                           two processors   one
//	1 producer, 1 worker            14–20×      17–20×
//	4 producers, 16 workers        14–22×      15–17×
//	backlog of 10,000              14–17×      17–18×
//	backlog of 100,000             16–17×      12–16×
//
// With all metrics a backlog of 10,000 takes 165 to 180 ns an item of one goroutine's
// time, there 1,870 to 1,960 (six samples each).
//
// In a profile of a backlog of 10,000, a fifth of what is left is the three pairs of
// Lock and Unlock that the interface asks for, a third the table of keys, hashing
// included, and a seventh the garbage collector.
//
// Tried: producers that find the lock taken leave their items in a buffer, and who
// has the lock takes them from there. One line an item travels either way, some 100 ns
// each. To let producers and workers take turns on one processor, as the lock in
// impl/internal/lock does, costs half as much.
//
// It is a package of its own because controller-runtime's, whose interface it
// has, sets the program's workqueue metrics provider when it is linked in: who
// uses the other queues should not get that with them.
//
// A steady stream of important items can keep the others waiting for ever
// (kubernetes-sigs/controller-runtime#3261, #3496). Config.OldestEvery is a
// remedy; it is off by default, as there is none upstream.
package priority
