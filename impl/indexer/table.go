package indexer

// A table leads from hashes to slots, by linear probing. An entry is 32 bits of the
// hash above the slot plus one; 0 is none. It says where the search for it began, so
// that the table grows without a look at the keys.
//
// Invariant: no entry between an entry and its home is 0.
type table struct {
	entries []uint64
	used    int
}

func newTable(n int) table {
	if n == 0 {
		return table{}
	}
	return table{entries: make([]uint64, max(n+n/3+1, 4))}
}

func entryOf(h uint64, slot uint32) uint64 { return h<<32 | uint64(slot+1) }
func slotOf(entry uint64) uint32           { return uint32(entry) - 1 }

// home is where the search for an entry begins.
func (t *table) home(entry uint64) int {
	return int(entry >> 32 * uint64(len(t.entries)) >> 32)
}

func (t *table) after(i int) int {
	if i++; i == len(t.entries) {
		return 0
	}
	return i
}

// insert adds an entry that is not there.
func (t *table) insert(entry uint64) {
	if n := len(t.entries); 5*(t.used+1) > 4*n {
		t.resize(max(n+n/3, min(2*n, 128), 4)) // a small one grows fast: most of a small store's build is this
	}
	t.used++
	i := t.home(entry)
	for t.entries[i] != 0 {
		i = t.after(i)
	}
	t.entries[i] = entry
}

func (t *table) resize(n int) {
	old := t.entries
	*t = table{entries: make([]uint64, n)}
	for _, entry := range old {
		if entry != 0 {
			t.insert(entry)
		}
	}
}

// where is the place of an entry that is there.
func (t *table) where(entry uint64) int {
	i := t.home(entry)
	for t.entries[i] != entry {
		i = t.after(i)
	}
	return i
}

// replace changes the slot of an entry.
func (t *table) replace(old, entry uint64) { t.entries[t.where(old)] = entry }

// remove removes an entry and moves those behind it that would not be found any
// more.
func (t *table) remove(entry uint64) {
	gap := t.where(entry)
	for i := t.after(gap); t.entries[i] != 0; i = t.after(i) {
		// The way from home to i passes the gap?
		if home := t.home(t.entries[i]); t.steps(home, i) >= t.steps(gap, i) {
			t.entries[gap] = t.entries[i]
			gap = i
		}
	}
	t.entries[gap] = 0
	if t.used--; len(t.entries) > 8 && 5*t.used < len(t.entries) {
		t.resize(2 * t.used)
	}
}

// steps is how far place to is behind place from.
func (t *table) steps(from, to int) int {
	if to < from {
		to += len(t.entries)
	}
	return to - from
}
