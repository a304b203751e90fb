package app

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every variant of the catalogue is listed, also one that no case can measure.
func TestListNamesTheWholeCatalogue(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Zero(t, Main(t.Context(), []string{"list", "variants", "-o", "csv"}, &stdout, &stderr), stderr.String())
	for _, suite := range Default().Conformance() {
		if strings.HasPrefix(suite.Name, "queue-struct-keys/") {
			continue // the queues once more
		}
		row := "\n" + strings.Replace(suite.Name, "/", ",", 1) + ","
		assert.True(t, strings.Contains(stdout.String(), row), suite.Name)
	}
}
