package ablation

var indexerTechniques = []Technique{{
	Name: "stripes", Component: "indexer", Variant: "snapshot",
	Why:   "Get takes the lock of its key's stripe, not one that every Get and write takes",
	Cases: []string{"op=mixed/goroutines=8/get=95/n=100k", "op=get/access=cold/indices=1/n=100k"},
	Edits: []Edit{{File: "impl/indexer/contents.go", Old: "fewObjects  = 256", New: "fewObjects  = 1 << 40"}},
}, {
	Name: "quiet-writes", Component: "indexer", Variant: "snapshot",
	Why:   "when every snapshot was read to its end, the writer need not copy what they saw",
	Cases: []string{"op=update-then-read/members=100/indices=4/n=10k", "op=update-then-read/members=30/indices=4/n=100k"},
	Edits: []Edit{{File: "impl/indexer/snapshot.go", Old: "moment{s.now, s.live.Load() == 0}", New: "moment{s.now, false}"}},
}, {
	Name: "keys-on-stack", Component: "indexer", Variant: "snapshot",
	Why:   "an Update makes the key on the stack, and a string of it only for a new object",
	Cases: []string{"op=update/access=cold/indices=1/n=100k", "op=update/access=hot/indices=0/n=10k"},
	Edits: []Edit{{
		File: "impl/indexer/snapshot_indexer.go",
		Old:  "\tupdate(x.store, maphash.Bytes(x.store.seed, key), key, obj)\n",
		New:  "\tx.store.Update(string(key), obj)\n",
	}},
}, {
	Name: "same-value", Component: "indexer", Variant: "snapshot",
	Why:   "an update that keeps an index's value reads it, and changes no posting",
	Cases: []string{"op=update/access=cold/indices=4/n=100k", "op=update/access=hot/indices=1/n=10k"},
	Edits: []Edit{{
		File: "impl/indexer/index.go",
		Old:  "len(want) == 0 ||\n\t\tr.id < manyValues && len(want) == 1 && x.postings[r.id].value == want[0] {",
		New:  "len(want) == 0 {",
	}},
}, {
	Name: "hole", Component: "indexer", Variant: "snapshot",
	Why:   "a deletion leaves its slot to the next new object, and no other object moves",
	Cases: []string{"op=delete/access=cold/indices=1/n=100k", "op=delete/access=hot/indices=4/n=10k"},
	Edits: []Edit{{
		File: "impl/indexer/contents.go",
		Old:  "\tcase w.hole == 0:\n\t\tw.hole = slot + 1\n\t\treturn\n",
	}},
}}
