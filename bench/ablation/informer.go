package ablation

var informerTechniques = []Technique{{
	Name: "pacer", Component: "informer", Variant: "snapshot",
	Why:   "a handler waits now and then, so that the workers that its calls woke need not wait for the end of its batch; other handlers go on meanwhile",
	Cases: []string{"op=wait/burst=20/gap=2ms/handlers=1 queue-wait-p50-sec", "op=wait/burst=200/gap=20ms/handlers=10", "op=event/readers=10/pause=10ms/n=10k"},
	Edits: []Edit{{File: "impl/informer/handler.go", Old: "\t\th.pace.before()\n"}},
}}
