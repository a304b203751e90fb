package indexer

// A pool is a vector whose elements keep their places until they are given back.
type pool[E interface{ none() bool }] struct {
	vector[E]
	free []uint32 // places without an element, and some that are cut off since
}

// take puts e in a free place.
func (p *pool[E]) take(e E, c *clock) uint32 {
	for {
		n := len(p.free)
		if n == 0 {
			p.push(e, c)
			return uint32(p.n - 1)
		}
		place := p.free[n-1]
		p.free = shorter(p.free, n-1)
		if int(place) < p.n {
			p.set(place, e, c)
			return place
		}
	}
}

// give takes an element away.
func (p *pool[E]) give(place uint32, c *clock) {
	var none E
	p.set(place, none, c)
	p.free = append(p.free, place)
	for n := p.n; n > 0 && p.at(uint32(n-1)).none(); n-- {
		p.pop(c)
	}
	if p.n == 0 {
		p.free = nil
	}
}
