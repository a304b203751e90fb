package releases

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBisectFindsEachStep(t *testing.T) {
	for n := 2; n < 40; n++ {
		for step := 1; step < n; step++ {
			asked := 0
			before, found, err := Bisect(n, func(i int) (bool, error) {
				assert.True(t, i > 0 && i < n-1, "the ends are known")
				asked++
				return i >= step, nil
			})
			require.NoError(t, err)
			assert.Equal(t, [2]int{step - 1, step}, [2]int{before, found})
			assert.LessOrEqual(t, 1<<asked, 2*n, "%d of %d", asked, n)
		}
	}
	failed := errors.New("disk full")
	_, _, err := Bisect(3, func(int) (bool, error) { return false, failed })
	assert.ErrorIs(t, err, failed)
}

// A change that came, went and came again has several steps; any will do.
func TestBisectOfABackport(t *testing.T) {
	history := []bool{false, false, true, false, false, true, true}
	before, found, err := Bisect(len(history), func(i int) (bool, error) { return history[i], nil })
	require.NoError(t, err)
	assert.True(t, history[found] && !history[before])
	assert.Equal(t, before+1, found)
}

func TestBisectPassesOverWhatCannotBeBuilt(t *testing.T) {
	for step := 1; step < 10; step++ {
		for broken := 1; broken < 9; broken++ {
			before, found, err := Bisect(10, func(i int) (bool, error) {
				if i == broken || i == broken+1 && i < 9 {
					return false, fmt.Errorf("%d: %w", i, ErrNotBuilt)
				}
				return i >= step, nil
			})
			require.NoError(t, err)
			assert.True(t, before < step && found >= step, "%d to %d for %d without %d", before, found, step, broken)
			for i := before + 1; i < found; i++ {
				assert.True(t, i == broken || i == broken+1)
			}
		}
	}
}

// A proxy that has two of three commits, of which the pseudo-versions are told.
func TestCommits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	clone := t.TempDir()
	run := func(args ...string) string {
		out, err := git(t.Context(), clone, append([]string{"-c", "user.name=a", "-c", "user.email=a@a.example"}, args...)...)
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
	run("init", "--quiet", "--template=")
	var hashes []string
	commit := func(file, subject string) {
		require.NoError(t, os.WriteFile(filepath.Join(clone, file), []byte(subject), 0o666))
		run("add", ".")
		run("commit", "--quiet", "--no-gpg-sign", "-m", subject)
		hashes = append(hashes, run("rev-parse", "HEAD"))
	}
	commit("go.mod", "begin")
	run("tag", "v0.1.0")
	commit("a.go", "first | of three")
	commit("README.md", "words")
	commit("a_test.go", "a test")
	commit("a.go", "second")
	commit("go.mod", "third")
	commit("a.go", "release")
	run("tag", "v0.2.0")

	proxy := t.TempDir()
	versions := filepath.Join(proxy, "k8s.io", "client-go", "@v")
	require.NoError(t, os.MkdirAll(versions, 0o777))
	has := func(hash, version string) {
		for _, query := range []string{hash, version} {
			require.NoError(t, os.WriteFile(filepath.Join(versions, query+".info"), []byte(`{"Version": "`+version+`", "Time": "2026-01-02T03:04:05Z"}`), 0o666))
		}
		require.NoError(t, os.WriteFile(filepath.Join(versions, version+".mod"), []byte("module k8s.io/client-go\n"), 0o666))
	}
	pseudo := func(hash string) string { return "v0.1.1-0.20260102030405-" + hash[:12] }
	has(hashes[1], pseudo(hashes[1]))
	has(hashes[5], pseudo(hashes[5]))
	has(hashes[6], "v0.2.0")
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy))
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	from, to := Release{Module: "k8s.io/client-go", Version: "v0.1.0"}, Release{Module: "k8s.io/client-go", Version: "v0.2.0"}
	found, n, err := Commits(t.Context(), clone, from, to)
	require.NoError(t, err)
	assert.Equal(t, 4, n, "without words and tests")
	assert.Equal(t, []Release{{from.Module, pseudo(hashes[1]), "first | of three"}, {from.Module, pseudo(hashes[5]), "third"}}, found)

	newer := Release{Module: "k8s.io/client-go", Version: "v0.3.0"}
	require.NoError(t, CheckClone(t.Context(), clone, from, newer))
	assert.ErrorContains(t, CheckClone(t.Context(), clone, newer), clone+": expected a git clone of k8s.io/client-go with its tags: git rev-parse: fatal: ")
	assert.ErrorContains(t, CheckClone(t.Context(), filepath.Join(clone, "gone"), from), "git rev-parse: fatal: cannot change to ")
	_, _, err = Commits(t.Context(), clone, from, newer)
	assert.ErrorContains(t, err, "git log: fatal: ")
	found, n, err = Commits(t.Context(), clone, from, from)
	require.NoError(t, err)
	assert.Equal(t, [2]int{0, 0}, [2]int{len(found), n})
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
		all, err := Between(t.Context(), Release{Module: "k8s.io/client-go", Version: from}, Release{Module: "k8s.io/client-go", Version: to})
		require.NoError(t, err)
		var names []string
		for _, r := range all {
			names = append(names, r.Version)
		}
		return names
	}
	assert.Equal(t, []string{"v0.34.9", "v0.34.10", "v0.35.0", "v0.36.0-alpha.1", "v0.36.0"}, between("v0.34.9", "v0.36.0"))
	assert.Equal(t, []string{"v0.36.0-alpha.1", "v0.36.0", "v0.37.0"}, between("v0.36.0-alpha.1", "v0.37.0"))
	_, err := Between(t.Context(), Release{Module: "k8s.io/client-go", Version: "v0.36.0"}, Release{Module: "k8s.io/client-go", Version: "v0.34.0"})
	assert.EqualError(t, err, "found v0.36.0 before v0.34.0, expected the older release first")
}
