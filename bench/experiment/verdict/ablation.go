package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// EnoughGain is what a technique has to bring in one of its cases to stay: a tenth.
const EnoughGain = 1.1

// A Technique is what a run of profile ablation shows of one technique. Its gain is
// how many times as long the variant takes without it.
type Technique struct {
	Component, Variant, Name, Why string
	Cases                         []TechniqueCase
}

// A TechniqueCase is a technique's gain in one case.
type TechniqueCase struct {
	Case            CaseStats
	Row             Row
	Gain, Low, High float64
}

// Pays reports that some case shows a gain of a tenth or more.
func (t Technique) Pays() bool {
	for _, c := range t.Cases {
		if c.Row.Comparison.Verdict == Slower && c.Gain >= EnoughGain {
			return true
		}
	}
	return false
}

// Costs reports that some case shows a loss, and none a gain of a tenth.
func (t Technique) Costs() bool {
	return !t.Pays() && slices.ContainsFunc(t.Cases, func(c TechniqueCase) bool { return c.Row.Comparison.Verdict == Faster })
}

// Undecided reports that no case has a verdict.
func (t Technique) Undecided() bool {
	for _, c := range t.Cases {
		if v := c.Row.Comparison.Verdict; v != TooFew && v != NoResult {
			return false
		}
	}
	return true
}

// Techniques sorts the rows of an ablation by technique, in the order of the plan.
func Techniques(components []ComponentStats) []Technique {
	var all []Technique
	at := map[string]int{}
	for _, component := range components {
		for _, c := range component.Cases {
			_, variant, _ := strings.Cut(c.Name, "/of=")
			for _, r := range c.Rows {
				name, ok := strings.CutPrefix(r.Name, experiment.Without)
				if !ok || r.Comparison == nil {
					continue
				}
				key := component.Component + "/" + variant + "/" + name
				i, ok := at[key]
				if !ok {
					i = len(all)
					at[key] = i
					all = append(all, Technique{Component: component.Component, Variant: variant, Name: name, Why: r.Summary})
				}
				x := r.Comparison
				all[i].Cases = append(all[i].Cases, TechniqueCase{c, r, 1 / x.Ratio, 1 / x.High, 1 / x.Low})
			}
		}
	}
	return all
}

// techniques is the decision of an ablation.
func techniques(components []ComponentStats) string {
	var pay int
	var idle, open, costly []string
	all := Techniques(components)
	for _, t := range all {
		switch {
		case t.Pays():
			pay++
		case t.Costs():
			costly = append(costly, t.Component+"/"+t.Name)
		case t.Undecided():
			open = append(open, t.Component+"/"+t.Name)
		default:
			idle = append(idle, t.Component+"/"+t.Name)
		}
	}
	s := fmt.Sprintf("A tenth or more in a case is shown of %d of %s.", pay, wording.Count(len(all), "technique"))
	if len(idle) > 0 {
		s += fmt.Sprintf(" Not shown of: %s.", strings.Join(idle, ", "))
	}
	if len(costly) > 0 {
		s += fmt.Sprintf(" A loss is shown of: %s.", strings.Join(costly, ", "))
	}
	if len(open) > 0 {
		s += fmt.Sprintf(" Too few samples to tell: %s.", strings.Join(open, ", "))
	}
	return s
}
