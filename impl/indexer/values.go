package indexer

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/features"
)

// distinct returns vals without repetitions, and vals itself if it has none.
func distinct(vals []string) []string {
	const few = 16 // up to which comparing each with each is quicker
	repeats := len(vals) > few
	for i := 1; i < len(vals) && !repeats; i++ {
		repeats = slices.Contains(vals[:i], vals[i])
	}
	if !repeats {
		return vals
	}
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

// reportsResourceVersion is whether LastStoreSyncResourceVersion may answer: as
// upstream's, only when FIFOs report bookmarks, or it would lag behind.
func reportsResourceVersion() bool {
	return features.FeatureGates().Enabled(features.AtomicFIFO)
}

// version is the resource version of a store.
type version struct {
	mu sync.Mutex
	rv string
}

// observe takes over obj's resource version, if it has one.
func (v *version) observe(obj any) {
	if rv, ok := resourceVersion(obj); ok {
		v.Bookmark(rv)
	}
}

func (v *version) Bookmark(rv string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rv = rv
}

func (v *version) LastStoreSyncResourceVersion() string {
	if !reportsResourceVersion() {
		return ""
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.rv
}
