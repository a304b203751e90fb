package impltest

import (
	"testing"

	"github.com/informerbench/informerbench/impl/indexer"
	"k8s.io/client-go/tools/cache"
)

var ourIndexers = map[string]newIndexer{
	"locked":   func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return indexer.NewLocked(k, i) },
	"sharded":  func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return indexer.NewSharded(k, i) },
	"snapshot": func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return indexer.NewSnapshot(k, i) },
}

func TestUpstreamIndexer(t *testing.T) {
	t.Parallel()
	TestIndexer(t, func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return cache.NewIndexer(k, i) },
		"fault:index-func-error-changes-nothing", "fault:indexers-owned-by-store")
}

func TestOurIndexers(t *testing.T) {
	t.Parallel()
	for name, new := range ourIndexers {
		t.Run(name, func(t *testing.T) { TestIndexer(t, new) })
	}
}

// FuzzIndexer runs calls that the fuzzer writes on each indexer and on client-go's.
func FuzzIndexer(f *testing.F) {
	f.Add([]byte{0x10, 0, 0x30, 0, 0x06, 0, 0x29, 0xc1, 0xfb, 0x82, 0x0d, 1, 0x20, 1})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 400 {
			t.Skip("a longer program says no more")
		}
		for name, new := range ourIndexers {
			if err := compareIndexers(new, program); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
