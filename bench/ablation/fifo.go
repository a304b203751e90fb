package ablation

var fifoTechniques = []Technique{{
	Name: "keys-without-strings", Component: "in-order-fifo", Variant: "ring",
	Why:   "an object's key is written into a buffer on the stack, not made as a string",
	Cases: []string{"op=store/burst=10/indices=1/n=10k", "op=store/burst=1k/indices=1/n=100k"},
	Edits: []Edit{{File: "impl/internal/objectkey/maker.go", Old: "\tif m.meta {", New: "\tif false && m.meta {"}},
}}
