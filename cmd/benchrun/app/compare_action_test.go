package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// inAction runs a line of a CI system in a repository, as its runner does.
func (r repository) inAction(t *testing.T, script string, env ...string) (code int, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir = filepath.Join(r.dir, "module")
	cmd.Env = append(append(os.Environ(), "BENCHRUN="+self, "TMPDIR="+r.temp), env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the exit code is in the state
	require.NotNil(t, cmd.ProcessState)
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// The GitHub action's step, with what a runner puts into its environment.
func TestGitHubAction(t *testing.T) {
	r := newRepository(t)
	var action struct {
		Inputs map[string]struct{ Description, Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Shell, Run string
				Env        map[string]string
			}
		}
	}
	folder, err := filepath.Abs("../../../scripts/action")
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(folder, "action.yml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &action))
	require.Equal(t, "composite", action.Runs.Using)
	require.Len(t, action.Runs.Steps, 1)
	step := action.Runs.Steps[0]
	require.Equal(t, "bash", step.Shell)
	assert.NotContains(t, step.Run, "${{", "what a user names can't become a part of the script")

	summary := filepath.Join(t.TempDir(), "summary.md")
	run := func(given map[string]string) (int, string, string) {
		env := []string{"GITHUB_STEP_SUMMARY=" + summary}
		for name, value := range step.Env {
			for input, i := range action.Inputs {
				assert.NotEmpty(t, i.Description, input)
				wanted, ok := given[input]
				if !ok {
					wanted = i.Default
				}
				value = strings.ReplaceAll(value, "${{ inputs."+input+" }}", wanted)
			}
			value = strings.ReplaceAll(value, "${{ github.action_path }}", folder)
			assert.NotContains(t, value, "${{", "%s is filled in", name)
			env = append(env, name+"="+value)
		}
		return r.inAction(t, step.Run, env...)
	}
	code, _, stderr := run(map[string]string{"base": "HEAD~1", "command": "bash bench.sh"})
	assert.Equal(t, exitGate, code, stderr)
	assert.Contains(t, stderr, "::error title=slower%3A BenchmarkX/n=10-2::", "an annotation")
	page, err := os.ReadFile(summary)
	require.NoError(t, err)
	assert.Contains(t, string(page), "X/n=10-2")

	code, _, stderr = run(map[string]string{"base": "HEAD~1", "command": "bash bench.sh", "fail-on": "", "rounds": "6"})
	assert.Equal(t, exitOK, code, stderr)
	code, _, _ = run(map[string]string{"base": "$(touch owned)", "command": "bash bench.sh"})
	assert.NotZero(t, code)
	assert.NoFileExists(t, filepath.Join(r.dir, "module", "owned"))
}

// GitLab's job, on a copy of this repository in place of the clone.
func TestGitLabJob(t *testing.T) {
	r := newRepository(t)
	var jobs struct {
		Benchmarks struct {
			Variables map[string]string
			Script    []string
			Artifacts struct{ Reports map[string]string }
		}
	}
	text, err := os.ReadFile("../../../scripts/action/gitlab-ci.yml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &jobs))
	job := jobs.Benchmarks
	require.Len(t, job.Script, 2)
	here, err := filepath.Abs("../../..")
	require.NoError(t, err)
	env := []string{"CI_MERGE_REQUEST_DIFF_BASE_SHA=HEAD~1", "CI_COMMIT_SHA=HEAD"}
	for name, value := range job.Variables {
		if name == "COMMAND" {
			value = "bash bench.sh"
		}
		env = append(env, name+"="+value)
	}
	code, _, stderr := r.inAction(t, strings.ReplaceAll(job.Script[1], "/tmp/informerbench", here), env...)
	assert.Equal(t, exitGate, code, stderr)
	for _, file := range job.Artifacts.Reports {
		report, err := os.ReadFile(filepath.Join(r.dir, "module", file))
		require.NoError(t, err)
		assert.Contains(t, string(report), "BenchmarkX/n=10", file)
	}
}
