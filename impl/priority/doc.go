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
// Process CPU time an item relative to controller-runtime's queue in the same
// run, string keys at three priorities, with two processors and in brackets with
// one: medians of five short interleaved runs on a machine with other work, so
// the last digit means nothing. It allocates nothing an item, controller-runtime's
// three to four objects.
//
//	1 producer, 1 worker       11× (14×)
//	4 producers, 16 workers    10× (13×)
//	backlog of 10,000          11×  (9×)
//	backlog of 100,000          8×  (7×)
//
// In a profile of one goroutine with 2,000 items queued, about half of what is
// left is the table of keys, hashing included.
//
// It is a package of its own because controller-runtime's, whose interface it
// has, sets the program's workqueue metrics provider when it is linked in: who
// uses the other queues should not get that with them.
//
// A steady stream of important items can keep the others waiting for ever
// (kubernetes-sigs/controller-runtime#3261, #3496). Config.OldestEvery is a
// remedy; it is off by default, as there is none upstream.
package priority
