//go:build unix

package app

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pipe that nobody writes to holds up no command that is interrupted.
func TestInterruptedAtAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for code, commands := range map[int][][]string{
		ExitInterrupted: {
			{"compare", pipe, pipe},
			{"trend", pipe},
			{"trace", "info", pipe},
			{"workload", "show", pipe},
		},
		exitUsage: {
			{"trace", "convert", pipe},
			{"memory", pipe, "--out", filepath.Join(t.TempDir(), "out")},
			{"sim", pipe},
			{"tune", "--metrics", pipe, "--duration", "1h"},
		},
	} {
		for _, args := range commands {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			found, _, stderr := benchrunWith(ctx, args...)
			cancel()
			assert.Equal(t, code, found, "%v: %s", args, stderr)
			assert.Regexp(t, `error: interrupted( before the input was read)?\n$`, stderr, args)
		}
	}
	f, err := os.OpenFile(pipe, os.O_RDWR, 0) // lets the readers go
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// A device without an end is neither key nor settings.
func TestInputWithoutEnd(t *testing.T) {
	code, _, stderr := benchrun(t, "trace", "anonymize", "x", "--key-file", "/dev/zero", "--out", filepath.Join(t.TempDir(), "out"))
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "/dev/zero: is larger than 1024 KiB")

	code, _, stderr = benchrun(t, "tune", "--workload", "rolling-update", "--settings", "/dev/zero", "--out", filepath.Join(t.TempDir(), "out"))
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "--settings: /dev/zero: is larger than 1024 KiB")
}
