package ablation

var informerTechniques = []Technique{{
	Name: "batches-reused", Component: "informer", Variant: "snapshot",
	Why:   "the batches that handlers are given come from a pool",
	Cases: []string{"op=event/readers=10/pause=10ms/n=10k", "op=fan-out/handlers=10/n=10k"},
	Edits: []Edit{{
		File: "impl/informer/batch.go",
		Old:  "if cap(b.notifications) <= pooledBatch {",
		New:  "if false && cap(b.notifications) <= pooledBatch {",
	}},
}}
