package indexer

import "k8s.io/client-go/tools/cache"

func (s *shardedStore) Replace(items map[string]any, resourceVersion string) {
	parts := newParts(len(items))
	for key, obj := range items {
		parts[s.shardOf(key)][key] = obj
	}
	s.exchange(parts, resourceVersion)
}

// replaceList is Replace by a list, without a map of all of it in between.
func (s *shardedStore) replaceList(keyFunc cache.KeyFunc, list []any, resourceVersion string) error {
	parts := newParts(len(list))
	for _, obj := range list {
		key, err := keyFunc(obj)
		if err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		parts[s.shardOf(key)][key] = obj
	}
	s.exchange(parts, resourceVersion)
	return nil
}

// newParts makes maps for the shards' parts of n objects.
func newParts(n int) *[shardCount]map[string]any {
	parts := &[shardCount]map[string]any{}
	for i := range parts {
		parts[i] = make(map[string]any, n/shardCount)
	}
	return parts
}

// exchange makes parts the contents.
func (s *shardedStore) exchange(parts *[shardCount]map[string]any, resourceVersion string) {
	defer s.lock(all)()
	var next [shardCount]plain
	for i := range next {
		next[i] = plainOf(parts[i], s.shards[i].schema)
	}
	for i := range next {
		s.shards[i].plain = next[i]
	}
	s.Bookmark(resourceVersion)
}
