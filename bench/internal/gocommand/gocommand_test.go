package gocommand

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestErrorNamesTheLine(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module a.example/a\n\ngo 1.25.0\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("package main\n\nfunc main() { gone() }\n"), 0o666))
	_, err := Run(t.Context(), dir, "build", ".")
	assert.EqualError(t, err, "go build: ./a.go:3:15: undefined: gone")
}

func TestReason(t *testing.T) {
	assert.Equal(t, "go: k8s.io/client-go@v9: reading https://proxy.example.com/…: 404 Not Found",
		reason("go: downloading x\ngo: k8s.io/client-go@v9: reading https://proxy.example.com/…: 404 Not Found\n\tserver response: not found\n"))
	assert.Equal(t, "main.go:3:2: no required module provides package x; to add it: go get x", reason("# a/b\nmain.go:3:2: no required module provides package x; to add it:\n\tgo get x\n"))
	assert.Equal(t, "go: a@v1 requires b@v1 requires c@v1: module lookup disabled by GOPROXY=off", reason("go: a@v1 requires\n\tb@v1 requires\n\tc@v1: module lookup disabled by GOPROXY=off\n"))
	assert.Equal(t, "failed without a word", reason("\n# heading\n"))
}
