package advice

// Where a decision turns, and why there: one a row.
const (
	// What is advised.
	floor       = 1e-3 // seconds: shorter waits are the Go scheduler's and the timers', which are not simulated
	heldUp      = 0.1  // of the work: from there on the client's limit and not the workers decides
	binding     = 0.7  // of the retry bucket, or of the queue's lock: waits for it then are longer than what waits for
	bindingWork = 0.6  // utilisation of workers: keys then wait for workers more than for anything else
	inBursts    = 2    // index of dispersion of arrivals: twice that of chance
	worthwhile  = 0.01 // cores: less is not worth another queue
	tellable    = 1.25 // how near a prediction is wanted, as a factor
	telling     = 1.5  // as a factor: from where on it is said that a prediction is not that near
	finely      = 4    // steps of a series from one burst to the next: fewer don't tell how long they are from how dense
	minSteps    = 8    // of a series: fewer tell no variance

	// What explains a measurement.
	unexplained = 0.02 // probability of one as far from what is expected: less is no chance
	fairShare   = 0.15 // of the reconciles: in other buckets than the model's, which is still fair
	unlikeMean  = 1.5  // ratio of the mean waits, measured and the model's
	strangeMean = 5    // the same: what is further off says nothing of other settings either
)
