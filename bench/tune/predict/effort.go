package predict

// An Effort is how much is simulated for one prediction: every so many-th member of the posterior,
// or so many replicas, of so many arrivals each, and of up to so many times as many, the nearer the
// load is to what there is.
type Effort struct {
	every, replicas int
	events          int
	patience        float64
}

// What is worth how much.
var (
	Rough  = Effort{4, 4, 12_000, 1} // of one setting among many
	Surer  = Effort{2, 8, 24_000, 2} // of what people read in a curve
	Fine   = Effort{1, 8, 40_000, 2} // of what a choice turns on
	Finest = Effort{1, 8, 80_000, 2} // of the figures that are reported
)

// near is the effort for a load, as a share of what there is. Waits at one time
// resemble those before for the longer the less room there is, so that the same
// number of arrivals tells less.
func (e Effort) near(load float64) Effort {
	e.events = int(float64(e.events) * min(e.patience, max(1, 0.4/(1-load))))
	return e
}
