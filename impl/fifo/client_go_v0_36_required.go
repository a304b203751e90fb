package fifo

import "k8s.io/client-go/tools/cache"

// The floor of this package is client-go v0.36: the first with the deltas of atomic
// events, bookmarks for stores, and checkers that say what they wait for, which
// cache.Queue asks for. A type in the first file is what a compiler complains of first.
type required struct {
	_ cache.ReplacedAllInfo
	_ cache.BookmarkInfo
	_ cache.ReflectorBookmarkStore
	_ cache.DoneChecker
}

var _ required
