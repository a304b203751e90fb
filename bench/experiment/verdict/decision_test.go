package verdict

import (
	"fmt"
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/impl"
	"github.com/stretchr/testify/assert"
)

func TestDecisionOfABaselineAlone(t *testing.T) {
	alone := ComponentStats{Component: "drive", Cases: []CaseStats{{Baseline: "client-go"}}, Ranking: []Rank{{Variant: "client-go"}}}
	assert.Equal(t, "Nothing to compare was measured for drive (client-go alone).", overall([]ComponentStats{alone}))
	beside := alone
	beside.Ranking = append(beside.Ranking, Rank{Variant: "ring"})
	assert.Equal(t, "Keep your drive: nothing better was shown.", overall([]ComponentStats{beside}))
}

// A variant that failed was not shown to be slower.
func TestWhyNotTellsOfVerdictsAlone(t *testing.T) {
	component := func(verdicts ...Verdict) ComponentStats {
		cs := CaseStats{Baseline: "client-go"}
		c := ComponentStats{Ranking: []Rank{{Variant: "client-go"}}}
		for _, v := range verdicts {
			cs.Rows = append(cs.Rows, Row{Comparison: &Comparison{Verdict: v}})
		}
		c.Cases = []CaseStats{cs}
		return c
	}
	assert.Equal(t, "every full drop-in is slower", whyNot(component(Slower, Slower)))
	assert.Equal(t, "every full drop-in with a verdict is slower", whyNot(component(Slower, NoResult)))
	assert.Equal(t, "every full drop-in with a verdict is slower", whyNot(component(TooFew, Slower)))
	assert.Equal(t, "There are too few samples to tell whether anything is faster than client-go.", decide(component(TooFew, NoResult)))
}

// A queue that takes its provider of metrics from its configuration is a drop-in, and
// the decision says what it wants.
func TestDropInWithProvider(t *testing.T) {
	c := ComponentStats{Cases: []CaseStats{{Baseline: "client-go"}}, Ranking: []Rank{
		{Variant: "ours", Relaxes: []string{impl.ExplicitProvider}, Ratio: 2, Worst: 2, Cases: 1, Faster: 1},
		{Variant: "client-go", Ratio: 1, Cases: 1},
	}}
	assert.Equal(t, "Use ours: 2.00× as fast as client-go, a full drop-in if its configuration has a MetricsProvider.", decide(c))
	c.Ranking[0].Relaxes = append(c.Ranking[0].Relaxes, "global-fifo")
	assert.Contains(t, decide(c), "Keep client-go: ")
}

// A headline names what gains most where it counts, and fits on two lines however
// many components there are.
func TestHeadline(t *testing.T) {
	component := func(name, headline string, ratio float64) ComponentStats {
		better := Row{Arm: experiment.Arm{Variant: "better"}, Comparison: &Comparison{Ratio: ratio, Verdict: Faster}}
		r := Rank{Variant: "better", Ratio: ratio, Worst: ratio, Cases: 1, Faster: 1}
		if ratio <= 1 {
			better.Comparison.Verdict, r.Faster = Same, 0
		}
		return ComponentStats{Component: name, Cases: []CaseStats{{Baseline: "client-go", Headline: headline, Rows: []Row{{Arm: experiment.Arm{Variant: "client-go"}}, better}}},
			Ranking: []Rank{r, {Variant: "client-go", Ratio: 1, Cases: 1}}}
	}
	storage, queue := component("storage", "", 1), component("queue", "", 4.8)
	indexer, fifo := component("indexer", "the writes beside ten listers", 120), component("in-order-fifo", "", 2)
	assert.Equal(t, "Use better: 4.80× as fast as client-go, a full drop-in.", overall([]ComponentStats{queue}))
	assert.Equal(t, "Replace the indexer, the queue and the in order FIFO: 120× the writes beside ten listers, 4.80× the queue, 2.00× the in order FIFO. Keep your storage: nothing better was shown.",
		overall([]ComponentStats{storage, queue, fifo, indexer}))
	many := []ComponentStats{storage, queue, fifo, indexer, component("elector", "", 0.9)}
	for i := range 9 {
		many = append(many, component(fmt.Sprintf("rate-limiting-queue-%d", i), "", 1.1))
	}
	headline := overall(many)
	assert.Contains(t, headline, "Replace the indexer, the queue, the in order FIFO and 9 others: 120× the writes")
	assert.Contains(t, headline, "Keep your storage and elector:")
	assert.LessOrEqual(t, len([]rune(headline)), 2*120)
}
