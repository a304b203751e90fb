// Package priority holds a priority queue that stands in for
// controller-runtime's: same interface, same results, a fraction of the cost.
//
//		controller.Options.NewQueue   takes   priority.New
//
//	 1. AddWithOpts finds or makes the key's entry and, by its priority, links it
//	    into the list of that level; with a delay it goes into a heap of times.
//	 2. One goroutine promotes what is due, in the order of ready times.
//	 3. GetWithPriority takes the head of the highest level whose key nobody
//	    holds; a raised priority takes the last place of its new level.
//	 4. Done frees the key, and its entry if it was not added meanwhile.
//
// It is a package of its own because controller-runtime's, whose interface it
// has, sets the program's workqueue metrics provider when it is linked in: who
// uses the other queues should not get that with them.
//
// A steady stream of important items can keep the others waiting for ever
// (kubernetes-sigs/controller-runtime#3261, #3496). Config.OldestEvery is a
// remedy; it is off by default, as there is none upstream.
package priority
