package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary play the program, and so its child processes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Getenv("BRING_YOUR_OWN") != "" {
		main()
	}
	os.Exit(m.Run())
}

func run(t *testing.T, args ...string) string {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, args...)
	cmd.Env = append(os.Environ(), "BRING_YOUR_OWN=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func TestMineIsEverywhere(t *testing.T) {
	assert.Regexp(t, `queue +mine .*client-go's under another name`, run(t, "list", "variants"))
	assert.Regexp(t, `queue/mine`, run(t, "verify", "--component", "queue", "--variant", "mine"))

	dir := filepath.Join(t.TempDir(), "result")
	out := run(t, "run", "--component", "queue", "--variant", "mine", "--case", "op=cycle/keys=unique/n=100", "--rounds", "6", "--out", dir)
	assert.Regexp(t, `queue +mine `, out)
	raw, err := os.ReadFile(filepath.Join(dir, "raw.txt"))
	require.NoError(t, err)
	assert.Contains(t, string(raw), "/impl=mine")
	report, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	assert.Contains(t, string(report), "mine")

	out = run(t, "drive", "hot-keys", "--queue", "mine", "--rate-limiting-queue", "heap", "--duration", "1s", "--out", filepath.Join(t.TempDir(), "drive"))
	assert.Contains(t, out, "Add → Get")
}
