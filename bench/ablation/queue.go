package ablation

var queueTechniques = []Technique{{
	Name: "prompt-done", Component: "queue", Variant: "compact",
	Why:   "while items are done before others are handed out, Done does not hash",
	Cases: []string{"op=reconcile/workers=4", "op=cycle/keys=unique/n=100k"},
	Edits: []Edit{{
		File: "impl/queue/core.go",
		Old:  "if prompt := c.lazy && c.last == end; prompt != c.prompt.Load() {",
		New:  "if prompt := false; prompt != c.prompt.Load() {",
	}},
}}
