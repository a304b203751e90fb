package model

// A cursor finds the step of a series in which something happens, each later than the one before.
type cursor struct {
	counts  []Count // nil: there is no series
	lengths []float64
	i       int
	end     float64
	none    Count
}

func newCursor(counts []Count, p *Plan) cursor {
	c := cursor{counts: counts, lengths: p.Steps}
	if len(counts) > 0 {
		c.end = p.Warmup + p.Steps[0]
	}
	return c
}

func (c *cursor) at(when float64) *Count {
	if len(c.counts) == 0 {
		return &c.none
	}
	for when >= c.end && c.i < len(c.counts)-1 {
		c.i++
		c.end += c.lengths[c.i]
	}
	return &c.counts[c.i]
}
