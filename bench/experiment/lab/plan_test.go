package lab

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/impl"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func someCases() []bench.Case {
	about := []impl.Variant[any]{{Name: "ring", Summary: "a ring", Relaxes: []string{"order"}}, {Name: "client-go", Peer: true}}
	return []bench.Case{
		{Component: "queue", Name: "op=cycle", Unit: "sec/op", Quick: true, Variants: []string{"slice", "ring", "client-go"}, About: about, Baseline: "client-go"},
		{Component: "queue", Name: "op=backlog", Unit: "sec/op", Variants: []string{"slice", "ring", "client-go"}, Baseline: "client-go"},
		{Component: "indexer", Name: "op=list", Unit: "sec/op", Quick: true, Variants: []string{"locked", "client-go"}, Baseline: "client-go"},
	}
}

func TestPlanArms(t *testing.T) {
	p, err := NewPlan(someCases(), Options{Variants: []string{"ring"}})
	require.NoError(t, err)
	require.Len(t, p.Cases, 1, "the indexer has no ring, the backlog is not quick")
	assert.Equal(t, []experiment.Arm{
		{Name: "client-go", Variant: "client-go", Peer: true},
		{Name: "ring", Variant: "ring", Summary: "a ring", Relaxes: []string{"order"}},
		{Name: "client-go-again", Variant: "client-go", Peer: true, Control: true},
	}, p.Cases[0].Arms)
}

func TestPlanSelects(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		want    []string
	}{
		"quick":      {Options{}, []string{"queue/op=cycle", "indexer/op=list"}},
		"full":       {Options{Profile: Full}, []string{"queue/op=cycle", "queue/op=backlog", "indexer/op=list"}},
		"component":  {Options{Components: []string{"indexer"}}, []string{"indexer/op=list"}},
		"by name":    {Options{Case: "backlog"}, []string{"queue/op=backlog"}},
		"expression": {Options{Case: "^queue/op=(cycle|backlog)$"}, []string{"queue/op=cycle", "queue/op=backlog"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := NewPlan(someCases(), c.options)
			require.NoError(t, err)
			var names []string
			for _, pc := range p.Cases {
				names = append(names, pc.Key())
			}
			assert.Equal(t, c.want, names)
		})
	}
}

func TestPlanErrors(t *testing.T) {
	for want, o := range map[string]Options{
		`unknown profile "fast", expected one of quick, full`:                             {Profile: "fast"},
		`unknown component "cache", expected one of indexer, queue`:                       {Components: []string{"cache"}},
		`unknown variant "rings", expected one of client-go, locked, ring, slice`:         {Variants: []string{"rings"}},
		`unknown case "op=lost", expected part of one of queue/op=cycle, indexer/op=list`: {Case: "op=lost", Components: nil},
		`unknown case "(", expected part of one of queue/op=cycle`:                        {Case: "(", Components: []string{"queue"}},
		`budget is -1s, expected more than 0s`:                                            {Budget: -time.Second},
		`rounds is -1, expected at least 1`:                                               {Rounds: -1},
		`precision is 5, expected a share between 0 and 1`:                                {Precision: 5},
		`no case of the quick profile is left by these components and variants`:           {Components: []string{"indexer"}, Variants: []string{"ring"}},
	} {
		_, err := NewPlan(someCases(), o)
		if assert.Error(t, err, want) {
			assert.Contains(t, err.Error(), want[:min(len(want), 50)])
		}
	}
}

func TestPlanRounds(t *testing.T) {
	p, err := NewPlan(someCases(), Options{Rounds: 3})
	require.NoError(t, err)
	assert.Equal(t, []int{3, 3}, []int{p.MinRounds, p.MaxRounds})
	precise, err := NewPlan(someCases(), Options{Precision: 0.01})
	require.NoError(t, err)
	assert.Equal(t, manyRounds, precise.MaxRounds, "the budget is the limit")
	assert.Equal(t, 24*time.Hour, p.Budget, "the rounds are the limit")
}
