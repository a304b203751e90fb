package model

// A cursor finds the step of a series in which something happens, each later than the one before.
type cursor struct {
	counts []Count   // from this step on; where there is no series, one
	ends   []float64 // of all but the last
}

func newCursor(p *Plan) cursor {
	c, end := cursor{counts: make([]Count, max(1, len(p.Steps)))}, p.Warmup
	for _, length := range p.Steps[:len(c.counts)-1] {
		end += length
		c.ends = append(c.ends, end)
	}
	return c
}

func (c *cursor) at(when float64) *Count {
	for len(c.ends) > 0 && when >= c.ends[0] {
		c.counts, c.ends = c.counts[1:], c.ends[1:]
	}
	return &c.counts[0]
}
