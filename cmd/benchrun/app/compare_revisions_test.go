package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A repository has two revisions of a module in the folder "module": bench.sh
// says 100 ns in the first and 150 in the second, and notes its turn.
type repository struct{ dir, turns, temp string }

func newRepository(t *testing.T) repository {
	t.Helper()
	for _, tool := range []string{"bash", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s: %v", tool, err)
		}
	}
	r := repository{t.TempDir(), filepath.Join(t.TempDir(), "turns"), t.TempDir()}
	r.git(t, "init", "--quiet", "--initial-branch=main")
	r.write(t, "go.mod", "module example.com/tiny\n\ngo 1.24\n")
	r.write(t, "tiny_test.go", "package tiny\n\nimport \"testing\"\n\nfunc BenchmarkNothing(b *testing.B) {\n\tfor b.Loop() {\n\t}\n}\n")
	r.commit(t, "100", "base")
	r.commit(t, "150", "head")
	away := filepath.Join(t.TempDir(), "away") // as on a disk that is not mounted
	r.git(t, "worktree", "add", "--quiet", "--detach", away)
	require.NoError(t, os.RemoveAll(away))
	r.write(t, "bench.sh", "not committed, never run")
	return r
}

func (r repository) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(r.dir, "module"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(r.dir, "module", name), []byte(text), 0o666))
}

func (r repository) commit(t *testing.T, ns, turn string) {
	t.Helper()
	r.write(t, "bench.sh", `echo `+turn+` >>"`+r.turns+`"
n=$(wc -l <"`+r.turns+`")
printf 'BenchmarkX/n=10-2\t1\t`+ns+`.%03d ns/op\n' "$n"
`)
	r.git(t, "add", ".")
	r.git(t, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", turn)
}

func (r repository) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func (r repository) compare(t *testing.T, args ...string) (code int, output string) {
	t.Helper()
	script, err := filepath.Abs("../../../scripts/compare-revisions.sh")
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command("bash", append([]string{script}, args...)...)
	cmd.Dir = filepath.Join(r.dir, "module")
	cmd.Env = append(os.Environ(), "BENCHRUN="+self, "TMPDIR="+r.temp)
	out, err := cmd.CombinedOutput()
	require.NotNil(t, cmd.ProcessState, "%v", err)
	left, err := os.ReadDir(r.temp)
	require.NoError(t, err)
	assert.Empty(t, left, "it cleans up")
	assert.Equal(t, 2, strings.Count(r.git(t, "worktree", "list"), "\n"), "and leaves other worktrees alone")
	assert.Equal(t, " M module/bench.sh\n", r.git(t, "status", "--short"), "nothing changes in place")
	return cmd.ProcessState.ExitCode(), string(out)
}

func TestCompareRevisions(t *testing.T) {
	r := newRepository(t)
	code, output := r.compare(t, "--fail-on", "time>5%", "HEAD~1", "HEAD", "--", "bash", "bench.sh")
	assert.Equal(t, exitGate, code, output)
	assert.Contains(t, output, "failed: BenchmarkX/n=10-2: sec/op is +49.99%")
	turns, err := os.ReadFile(r.turns)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(turns), "base\nhead\nhead\nbase\nhead\nbase\nbase\nhead\nbase\n"), "%s", turns)
	assert.Equal(t, 40, strings.Count(string(turns), "\n"), "ten rounds, each twice")

	out := filepath.Join(t.TempDir(), "kept")
	code, output = r.compare(t, "--fail-on=time>1%", "--out="+out, "HEAD", "HEAD", "--", "bash", "bench.sh")
	assert.Equal(t, exitOK, code, output)
	for _, file := range []string{"base.txt", "head.txt"} {
		raw, err := os.ReadFile(filepath.Join(out, file))
		require.NoError(t, err)
		assert.Equal(t, 10, strings.Count(string(raw), "BenchmarkX/n=10-2\t"))
		assert.Equal(t, 10, strings.Count(string(raw), "BenchmarkX/n=10-again-2\t"))
	}
}

// What was sampled before the command failed, or was interrupted, is kept.
func TestCompareRevisionsKeepsWhatThereIs(t *testing.T) {
	r := newRepository(t)
	out := filepath.Join(t.TempDir(), "kept")
	code, output := r.compare(t, "--out="+out, "HEAD", "HEAD", "--", "bash", "-c", `. ./bench.sh && [ "$n" -le 5 ]`)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, output, "the command failed on base")
	for file, want := range map[string]int{"base.txt": 2, "head.txt": 3} { // of a round and a quarter
		raw, err := os.ReadFile(filepath.Join(out, file))
		require.NoError(t, err)
		assert.Equal(t, want, strings.Count(string(raw), "ns/op\n"), file)
	}
}

func TestCompareRevisionsOfGoTest(t *testing.T) {
	code, output := newRepository(t).compare(t, "--rounds", "1", "HEAD~1", "HEAD", "--", "go", "test", "-run", "^$", "-bench", ".", "-benchtime", "10x")
	assert.Equal(t, exitOK, code, output)
	assert.Regexp(t, `Nothing\S* +sec/op`, output)
}

func TestCompareRevisionsBadInput(t *testing.T) {
	r := newRepository(t)
	for line, want := range map[string]string{
		"HEAD":                      "found 1 revision, expected BASE HEAD",
		"HEAD none":                 `unknown revision "none"`,
		"HEAD --speed=x":            "unknown flag --speed",
		"--rounds many HEAD HEAD":   `--rounds: found "many", expected a number`,
		"HEAD HEAD --rounds":        "--rounds: found nothing, expected a value",
		"HEAD HEAD --":              "found nothing after --",
		"--out . HEAD HEAD":         "is not empty",
		"HEAD HEAD -- bash none.sh": "the command failed on base: bash none.sh",
		"HEAD HEAD -- echo ok":      "the command printed no benchmark on base: echo ok",
		"--fail-on x HEAD HEAD -- echo BenchmarkX 1 1 ns/op": `--fail-on: found "x"`,
	} {
		code, output := r.compare(t, strings.Fields(line)...)
		assert.Equal(t, exitUsage, code, line)
		assert.Contains(t, output, want)
	}
	code, output := r.compare(t, "--help")
	assert.Zero(t, code)
	assert.Contains(t, output, "examples:")
}
