package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every variant of the catalogue is listed, also one that no case can measure.
func TestListNamesTheWholeCatalogue(t *testing.T) {
	code, stdout, stderr := ownBenchrun("list", "variants", "-o", "csv")
	require.Zero(t, code, stderr)
	for _, suite := range Default().Conformance() {
		if strings.HasPrefix(suite.Name, "queue-struct-keys/") {
			continue // the queues once more
		}
		row := "\n" + strings.Replace(suite.Name, "/", ",", 1) + ","
		assert.True(t, strings.Contains(stdout, row), suite.Name)
	}
}

// offered is what the shell is offered at the end of a command line.
func offered(t *testing.T, args ...string) []string {
	t.Helper()
	code, stdout, stderr := ownBenchrun(append([]string{"__complete"}, args...)...)
	require.Zero(t, code, stderr)
	names := strings.Fields(stdout)
	require.NotEmpty(t, names)
	return names[:len(names)-1] // the last is a directive
}

// After --component the shell offers the variants of those components, and every
// one that the command takes with them.
func TestCompleteVariants(t *testing.T) {
	of := map[string][]string{}
	l, err := Default().listing()
	require.NoError(t, err)
	for _, c := range l.Cases {
		assert.NotContains(t, c.Summary, ".,", "a summary is one phrase")
	}
	for _, v := range l.Variants {
		of["listed"] = append(of["listed"], v.Name)
	}
	for _, suite := range Default().Conformance() {
		component, variant, _ := strings.Cut(suite.Name, "/")
		of[component] = append(of[component], variant)
		of["with a suite"] = append(of["with a suite"], variant)
	}
	for _, test := range []struct {
		args       []string
		components []string
	}{
		{[]string{"run"}, []string{"listed"}},
		{[]string{"run", "--component", "queue"}, []string{"queue"}},
		{[]string{"run", "--component=queue,storage"}, []string{"queue", "storage"}},
		{[]string{"run", "--component", "queue", "--component", "storage", "--profile", "quick"}, []string{"queue", "storage"}},
		{[]string{"verify"}, []string{"with a suite"}},
		{[]string{"verify", "--component", "queue"}, []string{"queue"}},
		{[]string{"verify", "--component", "queue-struct-keys"}, []string{"queue-struct-keys"}},
	} {
		var want []string
		for _, c := range test.components {
			want = append(want, of[c]...)
		}
		slices.Sort(want)
		assert.Equal(t, slices.Compact(want), offered(t, append(test.args, "--variant", "")...), "%v", test.args)
	}
}

// Behind a comma the shell offers the names that are not given yet, with those
// before them, as it drops what does not begin with all that was typed.
func TestCompleteBehindComma(t *testing.T) {
	for _, args := range [][]string{
		{"run", "--component", "queue", "--variant", "client-go,ri"},
		{"drive", "rolling-update", "--queue", "client-go,"},
	} {
		names := offered(t, args...)
		assert.Contains(t, names, "client-go,ring")
		assert.NotContains(t, names, "client-go,client-go")
	}
}

func TestCompleteValues(t *testing.T) {
	for flag, want := range map[string]string{
		"memory --form": "typed unstructured metadata", "memory --encoding": "protobuf json cbor", "memory --list": "watchlist list pages",
		"memory --index": "namespace owner", "drive hot-keys --speed": "1 10 max",
		"workload apply hot-keys --only": "objects events", "trace convert a --format": "compact jsonl", "list -o": "table json yaml csv",
	} {
		assert.Equal(t, strings.Fields(want), offered(t, append(strings.Fields(flag), "")...), flag)
	}
	for flag, want := range map[string]string{
		"memory --informer": "snapshot", "memory": "hot-keys", "ablation --component": "in-order-fifo", "ablation --technique": "segments-reused",
		"ablation --case": "queue/op=cycle/keys=unique/n=10k", "election --elector": "deadline",
	} {
		assert.Contains(t, offered(t, append(strings.Fields(flag), "")...), want, flag)
	}
}
