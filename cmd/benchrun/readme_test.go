package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// block matches a fenced block of the README: its language and its text.
var block = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

func blocks(t *testing.T, language string) []string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	var found []string
	for _, m := range block.FindAllStringSubmatch(string(readme), -1) {
		if m[1] == language {
			found = append(found, m[2])
		}
	}
	require.NotEmpty(t, found, "no %s block in the README", language)
	return found
}

// programs skips a test that runs programs as users build them, which are without
// the detector: a second time it would find what it found the first.
func programs(t *testing.T) {
	t.Helper()
	if racing {
		t.Skip("runs programs that are built without the race detector")
	}
}

var builtIn string // the folder of build, "" before it is asked for

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "benchrun-test-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	bin := filepath.Join(dir, "benchrun")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

// build builds benchrun once for all tests.
func build(t *testing.T) string {
	t.Helper()
	bin, err := built()
	require.NoError(t, err)
	return bin
}

func TestMain(m *testing.M) {
	code := m.Run()
	if builtIn != "" {
		os.RemoveAll(builtIn)
	}
	os.Exit(code)
}

// Every command of the README's sh blocks runs as it stands, but for shorter
// budgets and for make, which is asked what it would do: it would run this test.
func TestReadmeCommands(t *testing.T) {
	programs(t)
	repository, err := filepath.Abs(root)
	require.NoError(t, err)
	work := t.TempDir()
	bin := filepath.Join(work, "bin")
	for _, folder := range []string{"reports/sample", "loadgen/trace/sample"} {
		require.NoError(t, os.CopyFS(filepath.Join(work, folder), os.DirFS(filepath.Join(root, folder))))
	}
	budget := regexp.MustCompile(`--budget \S+`)
	for _, text := range blocks(t, "sh") {
		for line := range strings.Lines(text) {
			command := strings.TrimSpace(line)
			t.Run(command, func(t *testing.T) {
				dir := work
				switch {
				case strings.HasPrefix(command, "make "):
					dir, command = repository, strings.Replace(command, "make ", "make -n ", 1)
				case strings.HasPrefix(command, "go "):
					dir = repository
				default:
					command = budget.ReplaceAllString(command, "--budget 2s")
				}
				cmd := exec.Command("bash", "-euc", command)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "GOBIN="+bin, "PATH="+bin+":"+os.Getenv("PATH"))
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", out)
			})
		}
	}
}

// The page of incidents names presets and flags that there are: what it predicts in
// virtual time is run, what it drives in real time is run where that takes seconds.
func TestIncidents(t *testing.T) {
	programs(t)
	page, err := os.ReadFile(filepath.Join(root, "loadgen", "presets", "README.md"))
	require.NoError(t, err)
	bin := build(t)
	commands := regexp.MustCompile("`benchrun ((?:sim|drive) ([a-z0-9-]+)[^`]*)`(?:, then with `(--[^`]+)`)?").FindAllStringSubmatch(string(page), -1)
	require.GreaterOrEqual(t, len(commands), 6)
	for _, m := range commands {
		line, preset := m[1]+" "+m[3], m[2]
		require.FileExists(t, filepath.Join(root, "loadgen", "presets", preset+".yaml"))
		endless := preset == "list-without-end"
		if !endless && strings.HasPrefix(line, "drive") {
			continue
		}
		cmd := exec.Command(bin, strings.Fields(line)...)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		if endless {
			require.Equal(t, 1, cmd.ProcessState.ExitCode(), "%s", out)
			require.Contains(t, string(out), "failed: pods: never synced")
			continue
		}
		require.NoError(t, err, "%s: %s", line, out)
	}
}

// The README's Go is taken from examples that are compiled and run.
func TestReadmeExamples(t *testing.T) {
	var examples strings.Builder
	for _, file := range []string{"impl/example_test.go", "impl/impltest/example_test.go"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		examples.Write(text)
	}
	for _, text := range blocks(t, "go") {
		require.Contains(t, examples.String(), text)
	}
}

// make help lists every target, those with a digit in their name too.
func TestMakeHelp(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	_, line, found := strings.Cut(string(makefile), "\n.PHONY: ")
	require.True(t, found)
	line, _, _ = strings.Cut(line, "\n")
	cmd := exec.Command("make", "-s", "help")
	cmd.Dir = root
	help, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", help)
	for _, target := range strings.Fields(line) {
		require.Contains(t, string(help), "make "+target+" ")
	}
}
