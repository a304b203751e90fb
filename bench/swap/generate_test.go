package swap

import (
	"go/types"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A key type is registered where it can be named: beside main, in its own package if that
// is the author's and the type is private to it, or nowhere.
func TestKeysAreRegisteredWhereTheyCanBeNamed(t *testing.T) {
	const source = "\n\ntype Public string\ntype private string\ntype Pair[T comparable] struct{ x T }\nfunc f() { type local string; _ = local(\"\") }\n"
	mine, theirs := checked(t, "example.com/op/keys", "package keys"+source), checked(t, "example.org/lib", "package lib"+source)
	inside := checked(t, "example.org/lib/internal/x", "package x"+source)
	named := func(p *types.Package, name string) types.Type { return p.Scope().Lookup(name).Type() }
	pair := func(p *types.Package, of types.Type) types.Type {
		made, err := types.Instantiate(nil, named(p, "Pair"), []types.Type{of}, false)
		require.NoError(t, err)
		return made
	}
	var local types.Type
	for id, o := range mine.TypesInfo.Defs {
		if id.Name == "local" {
			local = o.Type()
		}
	}
	x := &target{pkg: "example.com/op/cmd/op", source: "/op/cmd/op", module: "example.com/op", root: "/op"}
	for _, c := range []struct {
		key     types.Type
		in, why string
	}{
		{types.Typ[types.String], "/op/cmd/op", ""},
		{named(theirs.Types, "Public"), "/op/cmd/op", ""},
		{named(mine.Types, "private"), "/op/keys", ""},
		{pair(theirs.Types, named(mine.Types, "private")), "/op/keys", ""},
		{types.NewPointer(named(mine.Types, "private")), "/op/keys", ""},
		{named(theirs.Types, "private"), "", "it is private to example.org/lib"},
		{named(inside.Types, "Public"), "", "it is private to example.org/lib/internal/x"},
		{local, "", "it is declared in a function"},
	} {
		in, why := x.nameable(c.key)
		assert.Equal(t, c.why, why, "%s", c.key)
		if c.why == "" {
			assert.Equal(t, c.in, filepath.ToSlash(in.dir), "%s", c.key)
		}
	}

	x.hooks = []hooked{workqueueHooks, priorityHooks}
	x.types = map[string][]types.Type{
		"k8s.io/client-go/util/workqueue.NewTypedWithConfig":              {named(mine.Types, "private"), local},
		"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue.New": {types.Typ[types.Int]},
	}
	files, left, err := x.generate(&outside{path: "example.org/fast", copied: []string{"example.org/fast"}, storage: true})
	require.NoError(t, err)
	assert.Equal(t, []Unnamed{{"example.com/op/keys.local", "it is declared in a function"}}, left)
	require.Len(t, files, 2)
	main := string(files[filepath.FromSlash("/op/cmd/op/informerbench_register.go")])
	assert.Contains(t, main, "package main")
	assert.Contains(t, main, "NewFusedQueue[any]")
	assert.Contains(t, main, ".New[int])")
	assert.Contains(t, main, ".Serve()")
	assert.Contains(t, main, `"example.com/op/informerbench_swap/outside/example.org/fast"`)
	assert.Contains(t, main, ".NewStorage[any])")
	keys := string(files[filepath.FromSlash("/op/keys/informerbench_register.go")])
	assert.Contains(t, keys, "package keys")
	assert.Contains(t, keys, "NewFusedQueue[private]")
	assert.Contains(t, keys, ".NewStorage[private])")
	assert.NotContains(t, keys, `"example.com/op/keys"`, "a package can't import itself")
}
