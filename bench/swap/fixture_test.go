package swap

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
)

// newModule writes the program of testdata as a module on its own, which requires
// what ours does.
func newModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/program")))
	text, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	mod, err := modfile.Parse("go.mod", text, nil)
	require.NoError(t, err)
	require.NoError(t, mod.AddModuleStmt("example.com/program"))
	for _, r := range mod.Replace {
		require.NoError(t, mod.DropReplace(r.Old.Path, r.Old.Version))
		require.NoError(t, mod.DropRequire(r.Old.Path))
	}
	for _, tool := range mod.Tool {
		require.NoError(t, mod.DropTool(tool.Path))
	}
	mod.Cleanup()
	text, err = mod.Format()
	require.NoError(t, err)
	write(t, filepath.Join(dir, "go.mod"), string(text))
	require.NoError(t, copyFile("../../go.sum", filepath.Join(dir, "go.sum")))
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
}

// hashOf is a hash of all files below a folder, names included.
func hashOf(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			fmt.Fprintln(sum, path)
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s\n%s\n", path, text)
		return err
	}))
	return fmt.Sprintf("%x", sum.Sum(nil))
}
