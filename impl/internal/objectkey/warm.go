package objectkey

import "k8s.io/apimachinery/pkg/api/meta"

// Block is how many objects Warm is best given at a time: their keys stay in the
// first-level cache until they are made.
const Block = 64

// Warm reads what the keys of objs are made of, for a caller who is going to make
// them: each step in a loop of its own, so that the cache misses of one object do
// not wait for those of the one before. It reads nothing if Func is unknown.
func (m Maker) Warm(objs []any) {
	if !m.meta {
		return
	}
	var names [Block]string
	for i, obj := range objs[:min(len(objs), Block)] {
		if object, err := meta.Accessor(obj); err == nil {
			names[i] = object.GetName()
		}
	}
	var sum byte
	for _, name := range names {
		if name != "" {
			sum += name[0]
		}
	}
	Keep(sum)
}

// Keep makes the compiler keep the reads that its argument was made from.
//
//go:noinline
func Keep(byte) {}
