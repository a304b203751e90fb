package bench

import (
	"slices"
	"testing"

	"github.com/informerbench/informerbench/impl"
)

// A component makes cases from one catalogue list.
type component[New any] struct {
	name     string
	baseline string
	variants []impl.Variant[New]
}

// A question is what the cases of a component differ in.
type question[New any] struct {
	name    string // Case.Name
	summary string // Case.Summary
	unit    string // Case.Unit
	quick   bool
	head    string   // Case.Headline
	needs   []string // clauses: a variant that relaxes one is left out
	null    New      // a component that does nothing and satisfies run
	run     func(b *testing.B, v impl.Variant[New])
}

// withNull sets the component that does nothing for all of the questions.
func withNull[New any](null New, questions ...question[New]) []question[New] {
	for i := range questions {
		questions[i].null = null
	}
	return questions
}

func (c component[New]) cases(questions ...question[New]) []Case {
	cases := make([]Case, len(questions))
	var about []impl.Variant[any]
	for _, v := range c.variants {
		about = append(about, impl.Variant[any]{Name: v.Name, Summary: v.Summary, Peer: v.Peer, Relaxes: v.Relaxes})
	}
	for i, q := range questions {
		var names []string
		for _, v := range c.variants {
			if !slices.ContainsFunc(q.needs, func(clause string) bool { return slices.Contains(v.Relaxes, clause) }) {
				names = append(names, v.Name)
			}
		}
		cases[i] = Case{
			Component: c.name, Name: q.name, Summary: q.summary, Unit: q.unit, Quick: q.quick, Headline: q.head,
			Variants: names, About: about, Baseline: c.baseline,
			Run: func(b *testing.B, variant string) {
				v, err := impl.Find(c.variants, variant)
				if err != nil {
					b.Fatal(err)
				}
				q.run(b, v)
			},
			Load: func(b *testing.B) { q.run(b, impl.Variant[New]{Name: NullSink, New: q.null}) },
		}
	}
	return cases
}
