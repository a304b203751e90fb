package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDecisionOfABaselineAlone(t *testing.T) {
	alone := ComponentStats{Component: "drive", Cases: []CaseStats{{Baseline: "client-go"}}, Ranking: []Rank{{Variant: "client-go"}}}
	assert.Equal(t, "Nothing to compare was measured for drive (client-go alone).", overall([]ComponentStats{alone}))
	beside := alone
	beside.Ranking = append(beside.Ranking, Rank{Variant: "ring"})
	assert.Equal(t, "Keep what you have for drive (client-go): nothing better was shown.", overall([]ComponentStats{beside}))
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
