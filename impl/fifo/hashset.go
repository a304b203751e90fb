package fifo

import "math/bits"

// A hashSet is a set of odd numbers that is cheap to clear. At most half of its
// cells are used.
type hashSet struct {
	cells []uint64 // a power of two
	used  []uint32
}

// reserve makes room for n numbers.
func (s *hashSet) reserve(n int) {
	if 2*n > len(s.cells) {
		s.cells = make([]uint64, 1<<bits.Len(uint(2*n-1)))
		s.used = make([]uint32, 0, len(s.cells)/2)
	}
}

// add tells whether id is new.
func (s *hashSet) add(id uint64) bool {
	mask := uint32(len(s.cells) - 1)
	i := uint32(id>>32) & mask
	for s.cells[i] != 0 {
		if s.cells[i] == id {
			return false
		}
		i = (i + 1) & mask
	}
	s.cells[i] = id
	s.used = append(s.used, i)
	return true
}

func (s *hashSet) clear() {
	for _, i := range s.used {
		s.cells[i] = 0
	}
	s.used = s.used[:0]
}
