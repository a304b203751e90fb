// Package gocommand runs the go command, for those who build programs to measure.
package gocommand

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Run runs the go command in dir, apart from any workspace and vendor folder
// around it, and returns what it printed. Its error is one line that says why.
func Run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return In(ctx, dir, []string{"GOWORK=off", "GOFLAGS=" + flagsWithoutMod(os.Getenv("GOFLAGS"))}, args...)
}

// In is Run with the workspace and vendor folder that there are, and more variables.
func In(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if stderr.Len() == 0 {
			return nil, fmt.Errorf("go %s: %w", args[0], err)
		}
		return nil, fmt.Errorf("go %s: %s", args[0], reason(stderr.String()))
	}
	return stdout.Bytes(), nil
}

func flagsWithoutMod(flags string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(flags), func(f string) bool { return strings.HasPrefix(f, "-mod") }), " ")
}

// reason is the line of the go command's output that says why: the first that
// is no heading and no download, with those that it goes on in.
func reason(output string) string {
	text := ""
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "go: downloading") || strings.HasPrefix(line, "go: finding") || strings.HasPrefix(line, "go: found") || strings.HasPrefix(line, "go: added") {
			continue
		}
		text = strings.TrimSpace(text + " " + line)
		if !strings.HasSuffix(line, ":") && !strings.HasSuffix(line, " requires") {
			return text
		}
	}
	return cmp.Or(text, "failed without a word")
}
