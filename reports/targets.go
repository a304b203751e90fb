package reports

import (
	"cmp"
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

// A target is what is wanted of the variant that stands for its component.
type target struct {
	load      string // in words
	component string
	name      string // of the case
	variant   string
	unit      string  // of the metric; "" for the case's own
	more      bool    // more of that unit is better
	atLeast   float64 // times as good as the baseline
}

// targets are the loads that decide whether a variant is worth adopting.
var targets = []target{
	{load: "unique keys, one goroutine", component: "queue", name: "op=cycle/keys=unique/n=10k", variant: "compact", atLeast: 4.5},
	{load: "the same, struct keys", component: "queue", name: "op=cycle/keys=unique/key=struct/n=10k", variant: "compact", atLeast: 4.5},
	{load: "half of the adds find their key queued", component: "queue", name: "op=cycle/keys=dup50/n=10k", variant: "compact", atLeast: 2.6},
	{load: "one hot key", component: "queue", name: "op=cycle/keys=hot", variant: "compact", atLeast: 3},
	{load: "every Get waits", component: "queue", name: "op=ping-pong", variant: "compact", atLeast: 1.6},
	{load: "all metrics", component: "queue", name: "op=cycle/keys=unique/n=10k/metrics=all", variant: "compact", atLeast: 3},
	{load: "all metrics, coarse clock", component: "queue", name: "op=cycle/keys=unique/n=10k/metrics=all/clock=coarse", variant: "compact", atLeast: 5},
	{load: "one producer, one worker", component: "queue", name: "op=concurrent/producers=1/workers=1/window=4096", variant: "compact", atLeast: 2.5},
	{load: "16 workers", component: "queue", name: "op=concurrent/producers=4/workers=16/window=4096", variant: "compact", atLeast: 3},
	{load: "1,024 workers", component: "queue", name: "op=concurrent/producers=4/workers=1024/window=4096", variant: "compact", atLeast: 3},
	{load: "backlog", component: "queue", name: "op=backlog/n=100k", variant: "compact", atLeast: 3.5},
	{load: "large backlog", component: "queue", name: "op=backlog/n=1M", variant: "compact", atLeast: 3.5},
	{load: "backlog", component: "queue", name: "op=backlog/n=1M", variant: "compact", unit: "live-B/item", atLeast: 1 / 0.6},

	{load: "items are scheduled", component: "delaying-queue", name: "op=schedule/n=10k", variant: "heap4", atLeast: 4.5},
	{load: "many items are scheduled", component: "delaying-queue", name: "op=schedule/n=1M", variant: "heap4", atLeast: 6},
	{load: "items are scheduled again", component: "delaying-queue", name: "op=reschedule/n=1M", variant: "heap4", atLeast: 5},
	{load: "many items fall due", component: "delaying-queue", name: "op=pop-due/n=1M", variant: "heap4", atLeast: 3.5},

	{load: "failures are forgotten", component: "rate-limiter", name: "op=when-forget/keys=10k", variant: "compact", atLeast: 5},
	{load: "failures pile up", component: "rate-limiter", name: "op=when/keys=10k", variant: "compact", atLeast: 5},
	{load: "items fail and come back", component: "rate-limiting-queue", name: "op=retry/n=500", variant: "fused", atLeast: 5},

	{load: "one producer, one worker", component: "priority-queue", name: "op=concurrent/producers=1/workers=1/window=4096", variant: "levels", atLeast: 14},
	{load: "16 workers", component: "priority-queue", name: "op=concurrent/producers=4/workers=16/window=4096", variant: "levels", atLeast: 9},
	{load: "backlog", component: "priority-queue", name: "op=backlog/n=100k", variant: "levels", atLeast: 14},
	{load: "1M queued beside 1,000 sleeping workers", component: "priority-queue", name: "op=add-contended/n=1M/workers=1k", variant: "levels", atLeast: 14},

	{load: "a writer beside 10 listers", component: "indexer", name: "op=write/listers=10/n=100k", variant: "snapshot", atLeast: 1000},
	{load: "lists meanwhile", component: "indexer", name: "op=write/listers=10/n=100k", variant: "snapshot", unit: "reads/s", more: true, atLeast: 2},
	{load: "hot Get", component: "indexer", name: "op=get/access=hot/indices=1/n=100k", variant: "snapshot", atLeast: 1},
	{load: "Get and Update from 8 goroutines, 95:5", component: "indexer", name: "op=mixed/goroutines=8/get=95/n=100k", variant: "snapshot", atLeast: 2},
	{load: "hot Update, no index", component: "indexer", name: "op=update/access=hot/indices=0/n=100k", variant: "snapshot", atLeast: 1.2},
	{load: "hot Update, one index", component: "indexer", name: "op=update/access=hot/indices=1/n=100k", variant: "snapshot", atLeast: 1.4},
	{load: "hot Update, four indices", component: "indexer", name: "op=update/access=hot/indices=4/n=100k", variant: "snapshot", atLeast: 1.5},
	{load: "a namespace of 1,000", component: "indexer", name: "op=by-index/members=1k/indices=1/n=100k", variant: "snapshot", atLeast: 2.5},
	{load: "the same through an iterator", component: "indexer", name: "op=iterate/members=1k/indices=1/n=100k", variant: "snapshot", atLeast: 10},
	{load: "List", component: "indexer", name: "op=list/indices=1/n=100k", variant: "snapshot", atLeast: 1.3},

	{load: "events, no reader", component: "informer", name: "op=event/readers=0/n=10k", variant: "snapshot", atLeast: 1.6},
	{load: "events beside 10 readers that pause", component: "informer", name: "op=event/readers=10/pause=10ms/n=40k", variant: "snapshot", atLeast: 50},
	{load: "events beside 40 readers that pause", component: "informer", name: "op=event/readers=40/pause=10ms/n=40k", variant: "snapshot", atLeast: 1000},
	{load: "events beside readers that never pause", component: "informer", name: "op=event/readers=10/pause=none/n=40k", variant: "snapshot", atLeast: 5},
	{load: "reads meanwhile", component: "informer", name: "op=event/readers=10/pause=none/n=40k", variant: "snapshot", unit: "reads/s", more: true, atLeast: 2},
}

func (t target) quantity() string {
	switch {
	case t.unit == "":
		return "time"
	case t.more:
		return t.unit
	}
	return t.unit + ", less is better"
}

// measure is how many times as good as the baseline the variant came out; a ratio
// of 0 if it was not measured.
func (t target) measure(run experiment.Run, stats verdict.Stats) verdict.Comparison {
	i := slices.IndexFunc(stats.Components, func(c verdict.ComponentStats) bool { return c.Component == t.component })
	if i < 0 {
		return verdict.Comparison{}
	}
	cases := stats.Components[i].Cases
	if i = slices.IndexFunc(cases, func(c verdict.CaseStats) bool { return c.Name == t.name }); i < 0 {
		return verdict.Comparison{}
	}
	row := func(name string) (r verdict.Row) {
		if at := slices.IndexFunc(cases[i].Rows, func(r verdict.Row) bool { return r.Name == name }); at >= 0 {
			r = cases[i].Rows[at]
		}
		return r
	}
	mine := row(t.variant)
	if t.unit == "" {
		if mine.Comparison == nil || mine.Comparison.Verdict == verdict.NoResult {
			return verdict.Comparison{}
		}
		return *mine.Comparison
	}
	theirs, confidence := row(cases[i].Baseline), cmp.Or(run.Plan.Confidence, 0.95)
	if t.more {
		mine, theirs = theirs, mine
	}
	return verdict.Ratio(theirs.Metrics[t.unit].Values, mine.Metrics[t.unit].Values, confidence)
}

func (t target) judge(x verdict.Comparison) string {
	switch {
	case x.Ratio == 0 || math.IsNaN(x.Ratio):
		return "not measured"
	case x.Low >= t.atLeast:
		return "reached"
	case x.Ratio >= t.atLeast:
		return "reached, not shown"
	case x.High >= t.atLeast:
		return "not shown"
	}
	return "missed"
}
