package sim

import "time"

// A Pair is what a reconcile worked and what its calls waited for the client's limit.
// One worker's calls wait the less the longer it works between them.
type Pair struct{ Service, Held time.Duration }

// pairs keeps one of so many.
type pairs struct {
	list  []Pair
	every int // a power of two; 0: as 1
	left  int // to pass over
}

const mostPairs = 4096

func (p *pairs) add(x Pair) {
	if p.left > 0 {
		p.left--
		return
	}
	if len(p.list) == mostPairs {
		for i := range mostPairs / 2 {
			p.list[i] = p.list[2*i]
		}
		p.list = p.list[:mostPairs/2]
		p.every = 2 * max(1, p.every)
	}
	p.list = append(p.list, x)
	p.left = max(1, p.every) - 1
}
