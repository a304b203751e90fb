package reports

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteToLook(t *testing.T) {
	run, stats := fixture(1)
	dir := resultDir(t, stats)
	require.NoError(t, Write(dir, run, stats))
	require.NoError(t, os.CopyFS(os.Getenv("LOOK"), os.DirFS(dir)))
	_ = filepath.Join
}
