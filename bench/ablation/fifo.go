package ablation

var fifoTechniques = []Technique{{
	Name: "keys-without-strings", Component: "in-order-fifo", Variant: "ring",
	Why:   "an object's key is written into a buffer on the stack, not made as a string",
	Cases: []string{"op=store/burst=10/indices=1/n=10k", "op=burst/keys=distinct/atomic=true"},
	Edits: []Edit{{File: "impl/internal/objectkey/maker.go", Old: "\tif m.meta {", New: "\tif false && m.meta {"}},
}, {
	Name: "segments-reused", Component: "in-order-fifo", Variant: "ring",
	Why:   "up to 16 segments that were worked off are kept for the next events",
	Cases: []string{"op=store/burst=1k/indices=1/n=100k", "op=burst/keys=distinct/atomic=true"},
	Edits: []Edit{{File: "impl/fifo/positions.go", Old: "\tif s.spares < maxSpares {", New: "\tif false {"}},
}, {
	Name: "changes-reused", Component: "delta-fifo", Variant: "ring",
	Why:   "a slot keeps its buffer of the changes after the first",
	Cases: []string{"op=burst/keys=repeated"},
	Edits: []Edit{{File: "impl/fifo/pending.go", Old: "cap(*p.newer) > keptNewer {", New: "cap(*p.newer) > 0 {"}},
}}
