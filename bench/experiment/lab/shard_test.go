package lab

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The shards hold every case once, and all plan as many rounds as the whole.
func TestShardsArePartsOfThePlan(t *testing.T) {
	whole, err := NewPlan(someCases(), Options{Profile: Full})
	require.NoError(t, err)
	seen, arms := map[string]int{}, map[string]int{}
	for _, c := range whole.Cases {
		arms[c.Key()] = len(c.Arms)
	}
	for i := 1; i <= 2; i++ {
		part, err := NewPlan(someCases(), Options{Profile: Full, Shard: Shard{i, 2}})
		require.NoError(t, err)
		assert.Equal(t, whole.MinRounds, part.MinRounds)
		for _, c := range part.Cases {
			seen[c.Key()]++
			assert.Len(t, c.Arms, arms[c.Key()], "each is whole")
		}
	}
	for _, c := range whole.Cases {
		assert.Equal(t, 1, seen[c.Key()], c.Key())
	}
	_, err = NewPlan(someCases(), Options{Profile: Full, Shard: Shard{4, 9}})
	assert.EqualError(t, err, "shard 4/9 has nothing to do: 3 cases for 9 shards, expected no more shards than cases")
}

func TestParseShard(t *testing.T) {
	for _, c := range []struct {
		text, completion string
		want             Shard
		fails            string
	}{
		{text: "2/5", want: Shard{2, 5}}, {text: "2/5", completion: "0", want: Shard{2, 5}}, {text: "5", completion: "4", want: Shard{5, 5}},
		{text: "5", fails: `found "5", and JOB_COMPLETION_INDEX is not set: expected INDEX/COUNT as in 1/5`},
		{text: "0/5", fails: `found index "0" of 5 shards, expected 1 to 5`}, {text: "6/5", fails: `found index "6"`},
		{text: "5", completion: "5", fails: `found index "5" of 5 shards`}, {text: "5", completion: "x", fails: `found index "x"`},
		{text: "a/b", fails: `found "a/b", expected INDEX/COUNT`}, {text: "1/0", fails: `found "1/0"`}, {text: "1/2/3", fails: `found "1/2/3"`},
	} {
		got, err := ParseShard(c.text, c.completion)
		if c.fails != "" {
			assert.ErrorContains(t, err, c.fails)
			continue
		}
		require.NoError(t, err, c.text)
		assert.Equal(t, c.want, got)
	}
}
