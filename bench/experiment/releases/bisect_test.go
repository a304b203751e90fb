package releases

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBisectFindsEachStep(t *testing.T) {
	for n := 2; n < 40; n++ {
		for step := 1; step < n; step++ {
			asked := 0
			found, err := Bisect(n, func(i int) (bool, error) {
				assert.True(t, i > 0 && i < n-1, "the ends are known")
				asked++
				return i >= step, nil
			})
			require.NoError(t, err)
			assert.Equal(t, step, found)
			assert.LessOrEqual(t, 1<<asked, 2*n, "%d of %d", asked, n)
		}
	}
	failed := errors.New("can't be built")
	_, err := Bisect(3, func(int) (bool, error) { return false, failed })
	assert.ErrorIs(t, err, failed)
}

// A change that came, went and came again has several steps; any will do.
func TestBisectOfABackport(t *testing.T) {
	history := []bool{false, false, true, false, false, true, true}
	found, err := Bisect(len(history), func(i int) (bool, error) { return history[i], nil })
	require.NoError(t, err)
	assert.True(t, history[found] && !history[found-1])
}

func TestBetween(t *testing.T) {
	proxy := t.TempDir()
	versions := filepath.Join(proxy, "k8s.io", "client-go", "@v")
	require.NoError(t, os.MkdirAll(versions, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(versions, "list"), []byte("v0.35.0\nv0.36.0-alpha.1\nv0.34.10\nv0.34.9\nv0.36.0\nv0.34.0\nv0.37.0\n"), 0o666))
	for _, version := range []string{"v0.37.0"} { // the go command asks for the latest
		require.NoError(t, os.WriteFile(filepath.Join(versions, version+".info"), []byte(`{"Version": "`+version+`"}`), 0o666))
		require.NoError(t, os.WriteFile(filepath.Join(versions, version+".mod"), []byte("module k8s.io/client-go\n"), 0o666))
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy))
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	between := func(from, to string) []string {
		all, err := Between(t.Context(), Release{"k8s.io/client-go", from}, Release{"k8s.io/client-go", to})
		require.NoError(t, err)
		var names []string
		for _, r := range all {
			names = append(names, r.Version)
		}
		return names
	}
	assert.Equal(t, []string{"v0.34.9", "v0.34.10", "v0.35.0", "v0.36.0"}, between("v0.34.9", "v0.36.0"))
	assert.Equal(t, []string{"v0.36.0-alpha.1", "v0.36.0", "v0.37.0"}, between("v0.36.0-alpha.1", "v0.37.0"))
	_, err := Between(t.Context(), Release{"k8s.io/client-go", "v0.36.0"}, Release{"k8s.io/client-go", "v0.34.0"})
	assert.EqualError(t, err, "found v0.36.0 before v0.34.0, expected the older release first")
}
