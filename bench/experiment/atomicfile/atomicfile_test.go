package atomicfile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWriteLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, Write(path, []byte("one")))
	require.NoError(t, Write(path, []byte("two")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "taken"), 0o777))
	require.ErrorContains(t, Write(filepath.Join(dir, "taken"), []byte("three")), "taken is a directory, expected a file")
	require.ErrorContains(t, Write(filepath.Join(dir, "none", "file"), nil), filepath.Join("none", "file")+": found no directory ")
	require.NoError(t, Write(os.DevNull, []byte("four")))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "two", string(b))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2)
}

// Many processes at one path each write a whole file.
func TestWriteAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.json")
	var writers sync.WaitGroup
	for i := range 20 {
		writers.Go(func() { assert.NoError(t, WriteJSON(path, map[string]string{"name": fmt.Sprintf("\u202e%d", i)})) })
	}
	writers.Wait()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(b), "\u202e", "escaped")
	var back map[string]string
	require.NoError(t, json.Unmarshal(b, &back))
	assert.Contains(t, back["name"], "\u202e")
}

func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	require.NoError(t, os.WriteFile(path, []byte(`{"cut`), 0o666))
	require.NoError(t, Append(path, []byte("one")))
	require.NoError(t, Append(path, []byte("two")))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "{\"cut\none\ntwo\n", string(b))
	require.NoError(t, Append(os.DevNull, []byte("three")))
}
