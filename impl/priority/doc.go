// Package priority has a priority queue that stands in for controller-runtime's: the same
// interface and the same results at a fraction of the cost. To use it, set NewQueue:
//
//	controller.Options{
//		NewQueue: func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
//			return priority.NewWithConfig(priority.Config[reconcile.Request]{Name: name, RateLimiter: limiter})
//		},
//	}
//
// An item goes through these steps:
//
//  1. AddWithOpts finds or makes the key's entry and links it into the list of its priority's
//     level; with a delay, the entry goes into a heap of times instead.
//  2. One goroutine promotes what is due, in the order of ready times.
//  3. GetWithPriority takes the first item of the highest level whose key nobody holds. An item
//     whose priority is raised takes the last place of its new level.
//  4. Done frees the key, and also its entry if the item was not added meanwhile.
//
// # Which one
//
// NewWithConfig fits controller.Options.NewQueue, as above. New takes the options of
// controller-runtime's priorityqueue.New and stands where that stands.
//
// A steady stream of important items can keep the others waiting for ever
// (kubernetes-sigs/controller-runtime#3261, #3496). Config.OldestEvery is a remedy. It is off by
// default, as upstream has none.
//
// # What you gain
//
// The figures are controller-runtime's process CPU time an item divided by this queue's in the
// same run, with string keys at three priorities: medians of eight interleaved short samples (of
// twenty where goroutines share two processors) and their 95 % intervals, on a virtual machine
// whose speed changes by a half with the hour. The factors do too: earlier series had 15 to 18
// and 17 to 25 for the first two rows.
//
//	                             two processors        one processor
//	1 producer, 1 worker       15.3× (13.7 to 16.7)    22.0× (21.1 to 26.3)
//	4 producers, 16 workers    15.9× (13.7 to 17.7)    18.6× (18.1 to 19.0)
//	backlog of 10,000          18.3× (15.9 to 20.1)    18.1× (17.2 to 18.7)
//	backlog of 100,000         19.6× (17.2 to 22.8)    18.4× (17.3 to 19.7)
//
// Memory, and the time of one goroutine with all metrics (six samples each):
//
//	                                            this queue      controller-runtime's
//	objects allocated an item                   none            two to four
//	bytes of a queued item                      44 to 48        102 to 112
//	backlog of 10,000 with metrics, an item     165 to 180 ns   1,870 to 1,960 ns
//
// # Design
//
// In a profile of a backlog of 10,000, a fifth of what is left is the three pairs of Lock and
// Unlock that the interface asks for, a third the table of keys, hashing included, and a tenth
// the garbage collector. While a backlog is worked off, Done leaves the references to its entries
// in the index and clears them all at the end, so that only Add looks at the index and misses the
// second cache there.
//
// This is a package of its own because controller-runtime's, whose interface it has, sets the
// program's workqueue metrics provider when it is linked in. Programs that use the other queues
// should not get that with them.
//
// # Tried and left out
//
// Entries of a large table removed sixteen at a time, so that the misses overlap, or a prefetch of
// what the next Done or Enter will look at: no gain beyond noise with 100,000 items (40 interleaved
// samples). An index that grows sixteenfold: none either.
//
// Producers that find the lock taken leave their items in a buffer, and the holder of the lock
// takes them from there: one cache line an item travels either way, some 100 ns each. Letting
// producers and workers take turns on one processor, as the lock in impl/internal/lock does,
// costs half as much.
package priority
