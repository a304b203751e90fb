package ablation

var queueTechniques = []Technique{{
	Name: "small-table", Component: "queue", Variant: "compact",
	Why:   "a table of four keys or fewer is searched without a hash",
	Cases: []string{"op=reconcile/workers=4", "op=cycle/keys=unique/n=10k", "op=cycle/keys=hot"},
	Edits: smallTable,
}, {
	Name: "one-on-its-way", Component: "queue", Variant: "compact",
	Why:   "a push wakes no worker while a woken one is on its way",
	Cases: []string{"op=reconcile/workers=4", "op=concurrent/producers=4/workers=1024/window=4096"},
	Edits: []Edit{{
		File: "impl/internal/core/workers.go",
		Old:  "if queued == 0 || w.sleeping == 0 || w.woken > 0 {",
		New:  "if queued == 0 || w.sleeping == 0 {",
	}},
}, {
	Name: "turns", Component: "queue", Variant: "compact",
	Why:   "one goroutine at a time waits for the lock, the others for their turn to do so",
	Cases: []string{"op=reconcile/workers=4", "op=concurrent/producers=4/workers=16/window=4096", "op=concurrent/producers=4/workers=1024/window=4096"},
	Edits: []Edit{{File: "impl/internal/core/turns.go", Old: "\tt.turn.Lock()\n\tt.mu.Lock()\n\tt.turn.Unlock()\n", New: "\tt.mu.Lock()\n"}},
}, {
	Name: "gather-due", Component: "delaying-queue", Variant: "heap4",
	Why:   "many items that are due at once are sorted together, not popped one by one",
	Cases: []string{"op=pop-due/n=10k", "op=pop-due/n=1M"},
	Edits: []Edit{{File: "impl/delay/heap4.go", Old: "\th.times.Gather(now)\n", New: ""}},
}, {
	Name: "lists", Component: "priority-queue", Variant: "levels",
	Why:   "most items are appended to the list of their priority, and only those with an earlier turn go into a heap",
	Cases: []string{"op=backlog/n=100k", "op=concurrent/producers=4/workers=16/window=4096"},
	Edits: []Edit{{
		File: "impl/priority/levels.go",
		Old:  "if v.list.Len == 0 || e.X.turn() > l.Keys.At(v.list.Tail).X.turn() {",
		New:  "if false {",
	}},
}}

var smallTable = []Edit{
	{File: "impl/internal/keytable/keytable.go", Old: "\tt.small.Store(!t.irreflexive)\n", New: "\tt.small.Store(false)\n"},
	{File: "impl/internal/keytable/keytable.go", Old: "\tif t.used == 0 && !t.irreflexive {", New: "\tif false {"},
}
