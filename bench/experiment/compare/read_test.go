package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Units count as names do: each has samples of its own to keep.
func TestTooManySeries(t *testing.T) {
	var text strings.Builder
	for i := range 201 {
		fmt.Fprintf(&text, "BenchmarkA%d 1", i)
		for unit := range 1000 {
			fmt.Fprintf(&text, " 1 u%d/op", unit)
		}
		text.WriteByte('\n')
	}
	path := filepath.Join(t.TempDir(), "raw.txt")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o666))
	_, err := read(Options{}, path)
	require.EqualError(t, err, path+":201: found more than 200000 series (benchmarks by units) in all files, expected at most that: choose some with --filter")
}
