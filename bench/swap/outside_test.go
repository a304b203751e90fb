package swap

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A package from outside is copied with what it imports, but not with what the program has.
func TestOutside(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.org/fast\n\ngo 1.25\n")
	write(t, filepath.Join(dir, "fast.go"), "package fast\n\nimport \"example.org/fast/internal/tree\"\n\nfunc NewStorage[T comparable]() tree.Tree { return 0 }\n")
	write(t, filepath.Join(dir, "internal/tree/tree.go"), "package tree\n\nimport \"strings\"\n\ntype Tree = int\n\nvar _ = strings.Clone\n")
	write(t, filepath.Join(dir, "none/none.go"), "package none\n\nfunc (x) NewIndexer() {}\n\ntype x int\n")
	write(t, filepath.Join(dir, "asm/asm.go"), "package asm\n\nfunc NewIndexer()\n")
	write(t, filepath.Join(dir, "asm/asm.s"), "\n")

	x := &target{module: "example.com/op", root: "/op", versions: map[string]string{"example.com/op": ""}}
	o, err := x.readOutside(t.Context(), dir)
	require.NoError(t, err)
	assert.True(t, o.storage)
	assert.False(t, o.indexer)
	assert.Equal(t, "example.com/op/informerbench_swap/outside/example.org/fast", o.importPath(x))
	assert.Equal(t, []string{"example.org/fast/internal/tree", "example.org/fast"}, o.copied)
	const file = "/op/informerbench_swap/outside/example.org/fast/fast.go"
	_, text, err := x.rewriteImports(file, o.files[filepath.FromSlash(file)], o.copied)
	require.NoError(t, err)
	assert.Contains(t, string(text), `import "example.com/op/informerbench_swap/outside/example.org/fast/internal/tree"`)

	own := &target{module: "example.org/fast", root: dir, versions: map[string]string{"example.org/fast": ""}}
	o, err = own.readOutside(t.Context(), dir)
	require.NoError(t, err)
	assert.True(t, o.storage)
	assert.Equal(t, "example.org/fast", o.importPath(own), "a package of the program's own module is there already")
	assert.Empty(t, o.files)

	for folder, want := range map[string]string{
		"none":    "none: found neither NewIndexer nor NewStorage in example.org/fast/none, expected one of them",
		"asm":     "example.org/fast/asm has assembly or cgo, expected Go alone",
		"missing": "--outside ",
	} {
		_, err := x.readOutside(t.Context(), filepath.Join(dir, folder))
		assert.ErrorContains(t, err, want)
	}
}
