package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/bench/experiment"
)

// A child process has as many processors as its case's name says, and go test's
// suffix says so too.
func TestCPU(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "result")
	code, stdout, stderr := benchrun(t, "run", "--cpu", "1,3", "--variant", "fast", "--rounds", "1", "--out", dir)
	require.Equal(t, 0, code, stderr)
	assert.Contains(t, stdout, "fast")
	run, samples, err := experiment.Load(dir)
	require.NoError(t, err)
	require.Len(t, run.Plan.Cases, 2)
	assert.Equal(t, "op=cycle/cpu=1", run.Plan.Cases[0].Name)
	assert.Len(t, samples, 2*3, "of the baseline, its control and the variant")
	raw, err := os.ReadFile(filepath.Join(dir, "raw.txt"))
	require.NoError(t, err)
	assert.Regexp(t, `BenchmarkQueue/op=cycle/cpu=1/impl=fast\s`, string(raw))
	assert.Regexp(t, `BenchmarkQueue/op=cycle/cpu=3/impl=fast-3\s`, string(raw))
}
