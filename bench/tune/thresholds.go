package tune

// A threshold is where a decision turns, and why there.
type threshold struct {
	value  float64
	reason string
}

// thresholds are of what is advised and of what is believed.
var thresholds = struct{ quietLoad, feltWait, heldUp threshold }{
	quietLoad: threshold{0.2, "with four fifths of the workers and of the client's limit free, a wait is a burst's and not theirs"},
	feltWait:  threshold{1, "seconds: what settles within one is not felt by people or by other controllers, whose own waits are longer"},
	heldUp:    threshold{0.1, "of the work: from there on the client's limit and not the workers decides"},
}
