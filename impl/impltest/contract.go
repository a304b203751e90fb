package impltest

import "slices"

// contract is what the clauses test, in sentences by component. Each clause names
// its sentence ("queue 3"); one that combines them all names the component alone.
var contract = map[string][]string{
	"queue": {
		"An item that is queued is not queued again; one that is added while it is processed is queued at Done. So no item has two holders and no change is lost.",
		"Get takes the oldest ready item, blocks while there is none, and hands out what is queued before it answers shutdown.",
		"Add after shutdown is ignored, without error.",
		"ShutDown returns at once and wakes every Get. ShutDownWithDrain waits until nothing is processed, or for ShutDown. Both may be called again.",
		"Len counts queued items only.",
		"Done of an item that is queued and not processed changes nothing.",
		"An item that was handed out is not kept alive.",
		"With a name and a provider the seven metrics have upstream's meaning, by the injected clock.",
		"A named queue without a provider reports to the program's global provider; one that can't says so.",
		"The storage behind workqueue.Queue is a part of its own: it decides the order.",
		"No goroutine outlives the queue.",
	},
	"delaying queue": {
		"AddAfter with a delay of zero or less is Add.",
		"A second AddAfter of a waiting item keeps the earlier time and makes one delivery.",
		"Items become ready in the order of their times.",
		"Add does not cancel a waiting AddAfter.",
		"What waits at shutdown is dropped, and AddAfter never blocks from then on.",
		"Time comes from the injected clock; a ready item is found a heartbeat late at the latest.",
		"No goroutine outlives the queue, whatever waits.",
		"AddAfter does not wait for deliveries.",
		"No item is ready early; a variant with coarser time declares it.",
		"Ready items go to the inner queue: waiting ones are not counted in Len, and are not kept alive afterwards.",
	},
	"rate limiter": {
		"An item's delay is 5 ms doubled with each failure, up to 1,000 s; Forget resets it.",
		"The bucket reserves a token at every When, 10 a second with a burst of 100; Forget gives none back.",
		"The delay is the longer one of the two, and both are asked every time.",
	},
	"rate limiting queue": {
		"AddRateLimited(item) is AddAfter(item, When(item)).",
		"Forget does not imply Done, nor Done Forget.",
		"An injected delaying queue is used for everything but the limits.",
	},
	"rescheduling": {
		"Cancel drops what waits, and nothing else.",
		"Replace decides anew when an item is ready.",
		"Postpone moves what waits to a later time, and nothing else.",
		"Nothing waits after shutdown.",
	},
	"back-off": {
		"AddRateLimited of an item that waits counts no failure.",
		"AddRateLimited makes no item wait for longer than the bound.",
	},
	"priority queue": {
		"Get takes the oldest item of the highest priority; an item keeps the highest priority that it was added with.",
		"An item that is added while it is processed takes its place then.",
		"What is processed or waits does not keep others from being handed out.",
		"A waiting item takes the earlier time of its additions.",
		"The limiter and the retries metric are asked as controller-runtime's are.",
	},
	"oldest": {
		"Every so many-th Get takes the item that has been ready for longest.",
		"All others take the item of the highest priority.",
	},
	"fifo": {
		"Pop blocks until something is there; Close lets it drain and then answers cache.ErrFIFOClosed.",
		"HasSynced is true once the first list was handled, or at once if an event came before any list.",
		"Keys come from the key function; its errors are cache.KeyError.",
		"Each object that enters is transformed exactly once.",
		"What a handler was given is its own, and is not kept alive by the queue.",
		"Handlers run under the lock, but for an atomic queue with less than two batches waiting.",
	},
	"latest-object fifo": {
		"A key is handed out once, with its latest object.",
		"Pop skips a deleted key.",
		"Replace drops what is queued, or changes nothing.",
	},
	"delta fifo": {
		"A key's changes come as one Deltas, in order; keys come in the order of their first change.",
		"Of two deletions in a row one is kept.",
		"A deletion of a key that is neither queued nor known is ignored.",
		"Replace queues the list, and a tombstone for what is missing.",
		"Resync queues Sync for known keys that are not queued.",
	},
	"in-order fifo": {
		"Every event is handed out, in order.",
		"A deletion of an unknown key is handed out too.",
		"Replace queues tombstones, then the list; Resync queues known keys that are not queued, or says why not.",
		"An atomic Replace, Resync or Bookmark is one delta.",
		"A batch has distinct keys, one list and 1,000 deltas at most.",
	},
	"indexer": {
		"Every read sees one moment: an object and its index entries change together.",
		"AddIndexers works with data present, and changes nothing on a conflict.",
		"An index function's error is a panic with upstream's message that changes nothing.",
		"Empty results are empty slices, keys are sorted, and an unknown index is an error.",
		"What no object has any more is gone.",
		"Returned slices belong to the caller.",
		"The store's resource version follows what is written.",
		"A transaction is one moment; it skips bad entries and reports them.",
		"Replace is one moment.",
		"Reads answer the last object written under a key; an object without a key is a cache.KeyError.",
	},
	"handler": {
		"An object that comes, changes or goes is added to the queue.",
		"A tombstone is a deletion, with an object or without.",
		"What comes twice, out of order or unchanged does no harm.",
		"Objects belong to the cache and are not changed.",
	},
	"informer": {
		"The store is written first, handlers are told afterwards.",
		"An object that a list brings in the stored version is a sync.",
		"A list that changed nothing is told only to handlers that asked for resyncs.",
		"A late handler gets what is stored, marked as initial, in one moment with the stream.",
		"Each handler is told in order, and holds up nobody.",
		"The informer has synced when its store has the list, a registration when its handler was told of it.",
		"Handlers may be removed twice, in a call, and by themselves.",
		"A panic surfaces as upstream's does.",
		"What ended or runs already refuses what would have no effect, and leaves no goroutine.",
		"Lists and watches fail, end and go on as upstream's do.",
		"Resyncs go to those who asked, in their period.",
		"Indices and the transformer may be set as upstream's may.",
		"With a reserved name and a provider the three metrics have upstream's meaning.",
		"What a handler was told of can be read, and the store says up to which version it has everything.",
	},
	"backlog": {
		"A handler's gauge counts the notifications that wait for it.",
		"It is zero once the handler is removed or the informer has stopped.",
	},
	"election": {
		"One candidate leads at once and renews for ever, with one call a period.",
		"Only what a candidate observed itself tells it that a lease has expired.",
		"The holder keeps its acquire time; a takeover adds one transition.",
		"Of two writers one wins.",
		"Settings under which two could lead are refused; who can't renew stops at its deadline.",
		"Who releases ends its work first, and only as holder.",
		"Callbacks run as upstream's do, and hold up nobody.",
		"At no time do two lead.",
		"In coordinated mode the coordinator chooses.",
	},
}

// A Clause is one clause of a suite, as a document or a command lists it.
type Clause struct {
	Suite    string // the entry point that tests it, without "Test": "DelayingQueue"
	Name     string // of the sub-test, and for relaxes
	Contract string // component and number of the sentence that it tests: "queue 3"
	Reason   string // what a caller relies on
	Weaker   bool   // whether something is left to test when it is relaxed
}

// Clauses lists the clauses of every suite.
func Clauses() []Clause {
	return slices.Concat(listed("Storage", storageClauses()), listed("Queue", queueClauses()),
		listed("DelayingQueue", delayingQueueClauses()), listed("RateLimiter", rateLimiterClauses()),
		listed("RateLimitingQueue", rateLimitingQueueClauses()), listed("Rescheduler", reschedulingClauses), listed("BackOff", backOffOptionClauses), listed("PriorityQueue", priorityQueueClauses()), listed("Oldest", oldestClauses),
		cacheClauses(), listed("Elector", electionClauses()))
}

func listed[New any](suite string, clauses []clause[New]) []Clause {
	all := make([]Clause, len(clauses))
	for i, c := range clauses {
		all[i] = Clause{Suite: suite, Name: c.name, Contract: c.contract, Reason: c.reason, Weaker: c.weaker != nil}
	}
	return all
}
