package verdict

import (
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/stretchr/testify/assert"
)

func TestTechniques(t *testing.T) {
	row := func(name string, ratio float64, v Verdict) Row {
		return Row{Arm: experiment.Arm{Name: name}, Comparison: &Comparison{Ratio: ratio, Low: ratio / 2, High: ratio * 2, Verdict: v}}
	}
	components := []ComponentStats{{Component: "queue", Cases: []CaseStats{
		{Name: "op=a/of=ring", Rows: []Row{{Arm: experiment.Arm{Name: "as-it-is"}}, row("as-it-is-again", 1, Same),
			row("without-links", 0.5, Slower), row("without-hashes", 0.95, Slower), row("without-luck", 0.5, TooFew), row("without-hope", 0.8, Same)}},
		{Name: "op=b/of=ring", Rows: []Row{row("without-links", 1, Same)}},
		{Name: "op=a/of=compact", Rows: []Row{row("without-links", 2, Faster)}},
	}}}
	all := Techniques(components)
	assert.Len(t, all, 5)
	assert.Equal(t, "links", all[0].Name)
	assert.Equal(t, "ring", all[0].Variant)
	assert.Len(t, all[0].Cases, 2)
	assert.InDelta(t, 2, all[0].Cases[0].Gain, 1e-9)
	assert.InDelta(t, 1, all[0].Cases[0].Low, 1e-9)
	assert.InDelta(t, 4, all[0].Cases[0].High, 1e-9)
	assert.Equal(t, "A tenth or more in a case is shown of 1 of 5 techniques. Not shown of: queue/hashes, queue/hope. A loss is shown of: queue/links. Too few samples to tell: queue/luck.",
		techniques(components))
}
