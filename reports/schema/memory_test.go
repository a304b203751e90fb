package schema

import (
	"encoding/json"
	"testing"

	"github.com/informerbench/informerbench/bench/memory"
	"github.com/informerbench/informerbench/bench/memory/child"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMemoryFollowsItsSchema(t *testing.T) {
	r := memory.Result{
		Schema: memory.SchemaVersion, Load: memory.Load{Form: "typed", Encoding: "cbor", List: "pages", Indices: []string{"namespace"}}, Stopped: "done",
		Kinds: []memory.Kind{{Name: "Pod"}}, Sizes: []memory.Usage{{Objects: 1}}, Parts: []memory.Part{{Name: "spec", Within: "x"}},
		Changes: []memory.Saving{{Name: "a", Asks: "b"}}, Settings: []memory.Setting{{Name: "GOMEMLIMIT", MemLimit: 1}}, Transforms: []memory.Transform{{Kind: "Pod"}},
		Timeline: []child.Moment{{At: 1}}, Heap: &memory.Heap{Groups: []memory.HeapPart{{Name: "x"}}}, Warnings: []string{"odd"},
	}
	for _, r := range []memory.Result{r, {Schema: memory.SchemaVersion, Load: r.Load, Stopped: "interrupted"}} {
		document, err := json.Marshal(r)
		require.NoError(t, err)
		assert.Empty(t, check(t, "memory", document), "describe new fields in memory.schema.json")
	}
}
