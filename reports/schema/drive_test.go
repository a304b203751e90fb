package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/drive"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDriveFollowsItsSchema(t *testing.T) {
	service, err := randvar.Parse("100us")
	require.NoError(t, err)
	calls, err := randvar.Parse("1")
	require.NoError(t, err)
	result, err := drive.Run(t.Context(), drive.Config{
		Workload: "updates", Arm: "client-go", Seed: 1, ColdStart: true, OwnWrites: true,
		Spec: &loadgen.Spec{
			Resources: []loadgen.Resource{{Kind: "metadata", Count: 5, Events: loadgen.Events{Mix: loadgen.Mix{Update: 1}, Count: 20}}},
			Reconcile: loadgen.Reconcile{Service: service, Calls: calls, QPS: 1000, Failure: 0.1, Retries: 3},
		},
	})
	require.NoError(t, err)
	document, err := json.Marshal(result)
	require.NoError(t, err)
	assert.Empty(t, check(t, "drive", document), "describe new fields in drive.schema.json")

	empty, err := json.Marshal(drive.Result{Schema: drive.SchemaVersion, Stopped: "end", Setup: drive.Setup{ServiceMode: "sleep"}})
	require.NoError(t, err)
	assert.Empty(t, check(t, "drive", empty))

	newer := strings.Replace(string(document), `"schema":1`, `"schema":2`, 1)
	assert.NotEmpty(t, check(t, "drive", []byte(newer)))
}
