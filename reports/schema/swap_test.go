package schema

import (
	"encoding/json"
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/swap"
	"github.com/informerbench/informerbench/bench/swap/probe"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSwapFollowsItsSchema(t *testing.T) {
	document, err := json.Marshal(swap.Summary{
		Schema: experiment.SchemaVersion, Layout: []string{"x"}, Versions: map[string]string{"a": "v1"}, Lifted: []string{"b"},
		Unnamed: []swap.Unnamed{{}}, Coverage: []swap.Coverage{{}}, Queues: []swap.QueueWait{{How: probe.Kept}, {How: probe.Swapped}, {How: probe.Adapted}},
		Panics: map[string]int{"library": 1}, Metrics: map[string][]string{"library": {"lacks a"}},
	})
	require.NoError(t, err)
	assert.Empty(t, check(t, "swap", document), "describe new fields in swap.schema.json")
}
