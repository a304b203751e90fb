package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// examples are the commands that a command's help shows.
func examples(t *testing.T, bin string, command ...string) []string {
	t.Helper()
	help, err := exec.Command(bin, append(command, "--help")...).CombinedOutput()
	require.NoError(t, err, "%s", help)
	_, text, found := strings.Cut(string(help), "Examples:\n")
	require.True(t, found, "%v has no examples", command)
	text, _, _ = strings.Cut(text, "\n\nFlags:")
	text, _, _ = strings.Cut(text, "\n\nAvailable Commands:")
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// Every example of the help runs as it stands, where the files that it names are,
// but for budgets, which are shorter.
func TestHelpExamples(t *testing.T) {
	programs(t)
	bin := build(t)
	budget := regexp.MustCompile(` --budget \S+`)
	for command, shorter := range map[string]string{
		"run": " --budget 3s --variant ring", "compare": "", "trend": "", "report": "", "merge": "", "list": "", "schema": "",
		"serve": "", "verify": " --component storage",
	} {
		t.Run(command, func(t *testing.T) {
			work := t.TempDir()
			for _, dir := range []string{"reports/sample", "reports/out/old", "reports/out/new", "reports/out/20261120T201500Z-quick", "old", "new"} {
				require.NoError(t, os.CopyFS(filepath.Join(work, dir), os.DirFS(filepath.Join(root, "reports/sample"))))
			}
			raw, err := os.ReadFile(filepath.Join(root, "reports/sample/raw.txt"))
			require.NoError(t, err)
			for _, name := range []string{"main.txt", "branch.txt", "raw.txt"} {
				require.NoError(t, os.WriteFile(filepath.Join(work, name), raw, 0o666))
			}
			recording, err := filepath.Abs(filepath.Join(root, "loadgen/trace/sample/rolling-update-pods.jsonl.gz"))
			require.NoError(t, err)
			for _, line := range examples(t, bin, command) {
				line = strings.ReplaceAll(line, "/results", "results")
				line = strings.ReplaceAll(line, "$(git rev-parse --short HEAD)", "a1b2c3") // it is no repository
				switch {
				case strings.HasPrefix(line, "kubectl "):
					line = "cp '" + recording + "' pods.json"
				case strings.HasPrefix(line, "benchrun run "), line == "benchrun run":
					line, _, _ = strings.Cut(line, " #")
					line = strings.Replace(budget.ReplaceAllString(line, ""), "benchrun run", "benchrun run --budget 3s --rounds 6 --case op=cycle --component queue", 1)
					if strings.Contains(line, "pipeline") {
						line = "benchrun run --component pipeline --trace pods.json --budget 3s --rounds 6"
					}
				case strings.HasPrefix(line, "benchrun serve"):
					line = "timeout -s INT 3 " + line + " || [ $? = 124 ]"
				case strings.HasPrefix(line, "benchrun "+command):
					line += shorter
				}
				if strings.Contains(line, "merge results") { // what the Job leaves
					require.NoError(t, os.MkdirAll(filepath.Join(work, "results"), 0o777))
					line = "mv one two results && " + line
				}
				cmd := exec.Command("bash", "-euc", line)
				cmd.Dir = work
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"), "GITHUB_STEP_SUMMARY="+filepath.Join(work, "summary.md"))
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s\n%s", line, out)
			}
		})
	}
}
