package infer

// Where a decision turns, and why there: one a row.
const (
	floor       = 1e-3   // seconds: shorter waits are the Go scheduler's and the timers', which are not simulated
	minSteps    = 8      // of a series: fewer tell no variance
	manyKeys    = 20_000 // so many that two adds hardly meet on one
	throttledBy = 0.01   // of the work: few calls wait for a limit, but long, so 3% of the work may be a sixth of what a bucket holds
	explains    = 0.1    // probability of a measurement as odd: with more, arrivals at random explain it and no bursts are tried
	steep       = 3      // about the power of the difference between two rates that waits go with, by which the members lie evenly
	muchLonger  = 40     // times the mean wait: so long is a simulation, that what makes keys wait comes often in it
	mostFreedom = 12     // of Student's t: figures are not quite normal, and likelihoods that take them to be so are too sure

	// trust is the power of the likelihood that tells one member of a family of bursts from another:
	// regressions on some dozen simulations make too much of it. With all of it intervals held
	// the truth in three of four predictions for bursts and pauses.
	trust = 0.6
)

// How much is simulated. More of any of them changes results by less than their scatter.
const (
	mostEvents = 150_000 // in one simulation: of an arrival its own, each call and its end
	replicas   = 6       // that are looked at to solve a value
	trained    = 20      // for each share
	finer      = 3       // places from one share to the next
	drawn      = 300     // that the likelihood is taken of, for each place
	refined    = 160     // once more where it is likely
	kept       = 96      // members that stand for the posterior
	mostShares = 26      // of a family
)
