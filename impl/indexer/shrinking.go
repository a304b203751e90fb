package indexer

// A shrinking map gives memory back when most of its entries are gone, which Go's
// maps don't: a store whose objects come and go would keep what the most of them
// ever took.
type shrinking[K comparable, V any] struct {
	m    map[K]V
	peak int // the most entries since m was made, as far as del knows
}

// roomKept is the number of entries up to which a map is not made anew.
const roomKept = 64

func (s *shrinking[K, V]) set(k K, v V) {
	if s.m == nil {
		s.m = map[K]V{}
	}
	s.m[k] = v
}

// del deletes k. A map of which a quarter is left is made anew: what that takes is
// paid for by the deletions before it.
func (s *shrinking[K, V]) del(k K) {
	s.peak = max(s.peak, len(s.m))
	delete(s.m, k)
	if s.peak <= roomKept || 4*len(s.m) > s.peak {
		return
	}
	smaller := make(map[K]V, len(s.m))
	for k, v := range s.m {
		smaller[k] = v
	}
	s.m, s.peak = smaller, len(smaller)
}

// trimmed is s, in a smaller array if it takes a quarter of the present one.
func trimmed[E any](s []E) []E {
	if cap(s) <= roomKept || 4*len(s) > cap(s) {
		return s
	}
	return append(make([]E, 0, 2*len(s)), s...)
}
