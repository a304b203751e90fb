package ablation

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"

	"github.com/informerbench/informerbench/bench"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTechniquesAreWellFormed(t *testing.T) {
	all, err := bench.Cases(bench.Options{})
	require.NoError(t, err)
	cases, of, err := Cases(all, Techniques())
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, x := range Techniques() {
		assert.False(t, seen[x.String()], "%s is there twice", x)
		seen[x.String()] = true
		assert.Regexp(t, `^[a-z0-9-]+$`, x.Name)
		assert.NotEmpty(t, x.Why, x)
		assert.NotEmpty(t, x.Cases, x)
		assert.NotEmpty(t, x.Edits, x)
	}
	for _, c := range cases {
		assert.Equal(t, AsItIs, c.Variants[0])
		assert.Len(t, c.About, len(c.Variants))
		assert.Contains(t, of, c.Component+"/"+c.Name)
	}
	_, _, err = Cases(all, []Technique{{Name: "x", Component: "queue", Variant: "none", Cases: []string{"op=ping-pong"}}})
	assert.EqualError(t, err, "queue/none: x: no case queue/op=ping-pong of this variant")
}

// What an edit replaces is still there, and what is left compiles.
func TestEveryEditAppliesAndCompiles(t *testing.T) {
	root, err := Root(t.Context(), ".")
	require.NoError(t, err)
	for _, x := range Techniques() {
		t.Run(x.Component+"-"+x.Variant+"-"+x.Name, func(t *testing.T) {
			pkg := "github.com/informerbench/informerbench/" + path.Dir(x.Edits[0].File)
			_, err := x.Build(t.Context(), root, pkg, t.TempDir())
			require.NoError(t, err)
		})
	}
}

// A small module whose program prints what it does, with and without its technique.
func TestBuild(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module a.example/a\n\ngo 1.25.0\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.go"), []byte("package main\n\nfunc main() { print(\"fast\", \"fast\") }\n"), 0o666))
	technique := func(edits ...Edit) Technique {
		return Technique{Name: "haste", Component: "queue", Variant: "mine", Edits: edits}
	}
	for want, edits := range map[string][]Edit{
		"fastfast": nil,
		"slowfast": {{File: "a.go", Old: `print("fast"`, New: `print("slow"`}},
		"slowslow": {{File: "a.go", Old: `print("fast"`, New: `print("slow"`}, {File: "a.go", Old: `"fast")`, New: `"slow")`}},
	} {
		program, err := technique(edits...).Build(t.Context(), root, ".", filepath.Join(t.TempDir(), "new"))
		require.NoError(t, err)
		out, err := exec.Command(program).CombinedOutput()
		require.NoError(t, err)
		assert.Equal(t, want, string(out))
	}
	for want, e := range map[string]Edit{
		`queue/mine: haste: a.go: found "faster" 0 times, expected it once`:   {File: "a.go", Old: "faster"},
		`queue/mine: haste: a.go: found "\"fast\"" 2 times, expected it once`: {File: "a.go", Old: `"fast"`},
		`queue/mine: haste: a.go: found ""`:                                   {File: "a.go"},
		"a.go:3:15: undefined: gone":                                          {File: "a.go", Old: `print(`, New: `gone(`},
	} {
		_, err := technique(e).Build(t.Context(), root, ".", t.TempDir())
		assert.ErrorContains(t, err, want)
	}
	_, err := technique(Edit{File: "b.go"}).Apply(root)
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = Root(t.Context(), root)
	assert.ErrorContains(t, err, "is not in a clone of github.com/informerbench/informerbench")
}
