package tune

// Where a decision turns, and why there: one a row.
const (
	// What is advised.
	floor     = 1e-3 // seconds: shorter waits are the Go scheduler's and the timers', which are not simulated
	idle      = 0.02 // utilisation: beside fewer keys than that no change of workers shows
	quietLoad = 0.2  // of what there is: with four fifths of workers and client free, a wait is a burst's and not theirs
	feltWait  = 1    // seconds: what settles within one is not felt by people or by other controllers, whose own waits are longer
	heldUp    = 0.1  // of the work: from there on the client's limit and not the workers decides

	// What a measurement has to hold.
	minObservations = 200   // reconciles: a 99th percentile then has two beyond it
	minSteps        = 8     // of a series: fewer tell no variance
	inaccurate      = 0.02  // of an interval that somebody gives: what it takes to scrape twice
	grownShare      = 0.05  // of the adds, and ...
	grownLeast      = 20    // ... keys: a queue that grew by more was not carried
	overloadedAt    = 0.985 // utilisation: simulations of more do not end
	coarse          = 4     // ratio of a bucket's bounds: a quantile read from it may be off by as much
	underWay        = 0.05  // of the work: so much of it had not ended
	worthSaying     = 0.01  // of the reconciles, of which something is not known
	failing         = 0.001 // of the reconciles: fewer failures change nothing
	delayed         = 0.6   // delayed adds a reconcile: more are no failures
	alwaysWaiting   = 0.95  // of a key's time: it can't be that many

	// What is told of API calls.
	fewCalls    = 0.01  // a reconcile: fewer are as good as none
	few         = 0.02  // a reconcile: so few of several queues' are tried as none
	worked      = 0.02  // of all queues' work: less makes no calls that matter
	overlapping = 1.1   // of the work: calls that take longer were made at the same time or outside of it
	limited     = 0.002 // seconds that a call waited: no client without a limit takes as long
	throttledBy = 0.01  // of the work: few calls wait, but long, so 3% of the work may be a sixth of what a bucket holds
)
