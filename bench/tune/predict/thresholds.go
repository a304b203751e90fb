package predict

// Where a decision turns, and why there: one a row.
const (
	saturated = 0.999 // load of workers that always find a key waiting, of which there are no more than there are keys
	failing   = 0.001 // of the reconciles: fewer failures change nothing
	outside   = 0.025 // the part of a posterior that lies beyond each end of an interval
)
