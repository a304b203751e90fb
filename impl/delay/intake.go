package delay

import "github.com/informerbench/informerbench/impl/internal/keytable"

const (
	// wideTable is the number of items from which the index of a table takes up much
	// of the cache that a core has for itself.
	wideTable = 1 << 15
	intakeLen = 64
)

// An intake holds items that are on their way into a large table. Each of them
// will miss the cache there, and the lock and the clock of every AddAfter keep
// these misses apart; in a lot they overlap.
type intake[T comparable] struct {
	lot *lot[T]
	n   int
}

// A lot is the arguments of so many calls of a schedule's add.
type lot[T comparable] struct {
	items  [intakeLen]T
	ats    [intakeLen]int64
	hashes [intakeLen]uint32
}

// put takes an item, and reports whether the lot is full.
func (in *intake[T]) put(hash uint32, item T, at int64) bool {
	if in.lot == nil {
		in.lot = new(lot[T])
	}
	i := in.n % intakeLen
	in.lot.items[i], in.lot.ats[i], in.lot.hashes[i] = item, at, hash
	in.n++
	return in.n == intakeLen
}

// settle empties the lot: it calls set for each.
func settle[T comparable, V any](in *intake[T], keys *keytable.Table[T, V], set func(hash uint32, item T, at int64)) {
	if in.n == 0 {
		return
	}
	lot, n := in.lot, in.n
	in.n = 0
	keys.Warm(lot.hashes[:n], lot.items[:n])
	for i := range n {
		set(lot.hashes[i], lot.items[i], lot.ats[i])
	}
	clear(lot.items[:n])
}
