package core

// A Map is a Go map that gives memory back: one that was filled keeps its size
// however few keys are left. It is for the plain references.
type Map[K comparable, V any] struct {
	M    map[K]V
	most int // keys since it was copied for the last time
}

// Delete deletes a key, and copies a map in which few are left.
func (m *Map[K, V]) Delete(key K) {
	m.most = max(m.most, len(m.M))
	delete(m.M, key)
	if m.most <= 1024 || len(m.M) >= m.most/8 {
		return
	}
	few := make(map[K]V, len(m.M)) // maps.Clone would keep the size
	for k, v := range m.M {
		few[k] = v
	}
	m.M, m.most = few, len(few)
}
