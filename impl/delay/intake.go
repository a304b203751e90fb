package delay

const (
	// wideIndex is the length from which an index of eight-byte words takes up much
	// of the cache that a core has for itself.
	wideIndex = 1 << 16
	intakeLen = 64
)

// An intake holds items that are on their way into a table with a wide index.
// Each of them will miss the cache there, and the lock and the clock of every
// AddAfter keep these misses apart; in a lot they overlap.
type intake[T comparable] struct {
	lot     []added[T]
	soonest int64 // the least time of the lot, if it is not empty
}

// added are the arguments of a schedule's add.
type added[T comparable] struct {
	item T
	at   int64
	hash uint32
}

// put takes an item, and reports whether the lot is full.
func (in *intake[T]) put(hash uint32, item T, at int64) bool {
	if in.lot == nil {
		in.lot = make([]added[T], 0, intakeLen)
	}
	if len(in.lot) == 0 || at < in.soonest {
		in.soonest = at
	}
	in.lot = append(in.lot, added[T]{item, at, hash})
	return len(in.lot) == intakeLen
}

// before is the least of next and the times of the lot.
func (in *intake[T]) before(next int64) int64 {
	if len(in.lot) == 0 {
		return next
	}
	return min(next, in.soonest)
}

// empty forgets the lot.
func (in *intake[T]) empty() {
	clear(in.lot)
	in.lot = in.lot[:0]
}

// warm brings what enter will read for each of a lot into the cache. It returns
// something that depends on all of it.
func (t *table[T, V]) warm(lot []added[T]) (known int) {
	n := len(t.index)
	var words [intakeLen]uint64
	for i := range lot {
		words[i] = t.index[home(lot[i].hash, n)]
	}
	for i := range lot {
		if word := words[i]; uint32(word>>32) == lot[i].hash && word != 0 && t.item(uint32(word)-1) == lot[i].item {
			known++
		}
	}
	return known
}
