package search

// Where a decision turns, and why there: one a row.
const (
	floor  = 1e-3 // seconds: shorter waits are the Go scheduler's and the timers', which are not simulated
	gained = 0.9  // of the 99th percentile until settled: a tenth less is worth another setting
	spared = 1.05 // times the cost: so much is worth it to be on the safe side of a limit
)
