package indexer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
)

// values calls an index function. Its error is a panic with upstream's message
// (contract clause 3). Every variant calls it before it changes anything, so the
// store is whole after the panic. An object that is nil has no values.
// The panic has a copy of key, which may lie on a caller's stack.
func values(name string, fn cache.IndexFunc, key string, obj any) []string {
	if obj == nil {
		return nil
	}
	vals, err := fn(obj)
	if err != nil {
		panic(fmt.Errorf("unable to calculate an index entry for key %q on index %q: %v", strings.Clone(key), name, err))
	}
	return vals
}

// distinct returns vals without repetitions, and vals itself if it has none.
func distinct(vals []string) []string {
	if len(vals) < 2 {
		return vals
	}
	if len(vals) <= 16 {
		for i, v := range vals {
			if slices.Contains(vals[:i], v) {
				return distinctBySet(vals)
			}
		}
		return vals
	}
	return distinctBySet(vals)
}

func distinctBySet(vals []string) []string {
	seen := make(sets.Set[string], len(vals))
	out := make([]string, 0, len(vals))
	for _, v := range vals {
		if !seen.Has(v) {
			seen.Insert(v)
			out = append(out, v)
		}
	}
	return out
}

// resourceVersion is obj's, and false if obj has no object metadata.
func resourceVersion(obj any) (string, bool) {
	if obj == nil {
		return "", false
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return "", false
	}
	return m.GetResourceVersion(), true
}

// tellsResourceVersion is whether LastStoreSyncResourceVersion may answer: as
// upstream's, only when FIFOs report bookmarks, or it would lag behind.
func tellsResourceVersion() bool {
	return features.FeatureGates().Enabled(features.AtomicFIFO)
}

func noIndex(name string) error { return fmt.Errorf("Index with name %s does not exist", name) } //nolint:staticcheck // upstream's words

// merged is old and added together, or upstream's error if both have a name.
func merged(old, added cache.Indexers) (cache.Indexers, error) {
	oldNames, newNames := sets.KeySet(old), sets.KeySet(added)
	if both := oldNames.Intersection(newNames); both.Len() > 0 {
		return nil, fmt.Errorf("indexer conflict: %v", both)
	}
	all := make(cache.Indexers, len(old)+len(added))
	maps.Copy(all, old)
	maps.Copy(all, added)
	return all, nil
}
