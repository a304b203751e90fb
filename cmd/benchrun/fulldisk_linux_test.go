package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fullDisk runs a shell script in a folder on a disk of that size, where
// $BENCHRUN is benchrun, and returns what it printed.
func fullDisk(t *testing.T, size, script string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("unshare", "--mount", "--map-root-user", "sh", "-c",
		`mount -t tmpfs -o size=`+size+` tmpfs "$1" && cd "$1" && . "$2"`, "sh", filepath.Join(dir, "disk"), filepath.Join(dir, "script"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "disk"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o666))
	cmd.Env = append(os.Environ(), "BENCHRUN="+build(t))
	out, err := cmd.CombinedOutput()
	if err != nil && (strings.Contains(string(out), "unshare:") || strings.Contains(string(out), "mount:")) {
		t.Skipf("no disk of its own here: %s", out)
	}
	require.NoError(t, err, "%s", out)
	return string(out)
}

// A disk that fills up while a history is kept keeps all its whole lines.
func TestFullDiskKeepsTheHistoryWhole(t *testing.T) {
	programs(t)
	out := fullDisk(t, "64k", `
		head -c 48000 /dev/zero > ballast
		for i in 1 2 3 4 5 6 7 8; do echo "BenchmarkQueueWithANameOfSomeLength$i 1 5 ns/op 7 B/op 1 allocs/op"; done > raw.txt
		n=0
		while "$BENCHRUN" compare raw.txt raw.txt --history history.jsonl > out.txt 2> error.txt; do n=$((n+1)); done
		tail -n 1 error.txt
		echo "kept $n of $(wc -l < history.jsonl) lines, the last ends in $(tail -c 3 history.jsonl)"
	`)
	require.Contains(t, out, "error: --history: ")
	require.Contains(t, out, "no space left on device")
	require.Regexp(t, `kept (\d+) of \d+ lines, the last ends in \]}`, out)
	var kept, lines string
	for _, field := range strings.Split(out, "\n") {
		if words := strings.Fields(field); len(words) > 4 && words[0] == "kept" {
			kept, lines = words[1], words[3]
		}
	}
	require.Equal(t, kept, lines, "a line that does not fit is not begun: %s", out)
}

// A disk that is full by the time of the profiles leaves no folder that promises
// some, and the decision is printed.
func TestFullDiskLeavesNoEmptyProfiles(t *testing.T) {
	programs(t)
	out := fullDisk(t, "512k", `
		head -c 380000 /dev/zero > ballast
		"$BENCHRUN" run --component queue --case op=cycle --variant ring --rounds 6 --budget 20s --out result 2> error.txt && echo fine || echo "exit code $?"
		echo "empty folders: $(find result -type d -empty)."
		echo "unfinished files: $(find result -name '*.part')."
		tail -n 1 error.txt
	`)
	require.Contains(t, out, "empty folders: .")
	require.Contains(t, out, "unfinished files: .")
	require.Contains(t, out, "no space left on device")
	require.Contains(t, out, "ring", "the decision")
}
