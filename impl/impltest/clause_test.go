package impltest

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

// failing returns the sub-tests that fail, without the name of the test, when
// those that match the slash-separated names run again in a process of its own
// with IMPLTEST_CHILD=1, and what it printed. The child must come to its end: a
// suite that hangs or dies finds no clause.
func failing(t *testing.T, names string) (failed []string, output string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+strings.ReplaceAll(names, "/", "$/^")+"$", "-test.v", "-test.timeout=120s")
	cmd.Env = append(os.Environ(), "IMPLTEST_CHILD=1")
	out, err := cmd.CombinedOutput()
	output = string(out)
	if err == nil {
		return nil, output
	}
	require.True(t, strings.HasSuffix(output, "\nFAIL\n"), "the child died:\n%s", output)
	test, _, _ := strings.Cut(names, "/")
	for _, m := range regexp.MustCompile(`(?m)^ *--- FAIL: `+test+`/(\S+)`).FindAllStringSubmatch(output, -1) {
		failed = append(failed, m[1])
	}
	return failed, output
}

func inChild() bool { return os.Getenv("IMPLTEST_CHILD") != "" }

// TestStuckClauses has clauses that can't end. Each must fail by itself.
func TestStuckClauses(t *testing.T) {
	if inChild() {
		wallLimit = 2 * time.Second
		runClauses(t, []clause[struct{}]{
			{name: "blocked", reason: "r", run: func(t *trial, _ struct{}) { <-make(chan int) }},
			{name: "ticking", reason: "r", run: func(t *trial, _ struct{}) {
				go func() {
					for range time.Tick(time.Second) {
					}
				}()
				<-make(chan int)
			}},
			{name: "mutex", reason: "r", run: func(t *trial, _ struct{}) {
				var mu sync.Mutex
				mu.Lock()
				mu.Lock() // the deadlock is the point
			}},
			{name: "panic", reason: "r", run: func(t *trial, _ struct{}) { panic("oops") }},
			{name: "require", reason: "r", run: func(t *trial, _ struct{}) { require.Equal(t, 1, 2, "two") }},
			{name: "leak", reason: "r", run: func(t *trial, _ struct{}) {
				go func() { <-make(chan int) }()
				synctest.Wait()
				assert.Empty(t, t.Goroutines())
			}},
			{name: "kept", reason: "r", run: func(t *trial, _ struct{}) {
				t.Cleanup(func() { <-make(chan int) })
				t.Cleanup(func() { panic("late") })
			}},
			{name: "fault-gone", reason: "r", run: func(t *trial, _ struct{}) {}},
			{name: "fault-there", reason: "r", run: func(t *trial, _ struct{}) { t.Errorf("a fault") }},
			{name: "given-up", reason: "given up", run: func(t *trial, _ struct{}) { t.Errorf("not run") }},
			{name: "weaker", reason: "r", run: func(t *trial, _ struct{}) { t.Errorf("not run") },
				weaker: func(t *trial, _ struct{}) {}},
		}, struct{}{}, []string{"fault:fault-gone", "fault:fault-there", "given-up", "weaker"})
		return
	}
	clauses, output := failing(t, "TestStuckClauses")
	assert.Equal(t, []string{"blocked", "ticking", "mutex", "panic", "require", "leak", "fault-gone"}, clauses, output)
	assert.Contains(t, output, `remove "fault:fault-gone"`)
	assert.Contains(t, output, "relaxed by this implementation: given up")
}

func TestUnknownRelaxes(t *testing.T) {
	if inChild() {
		TestStorage(t, workqueue.DefaultQueue[string], "storage-fifo", "no-such-clause", "fault:neither")
		return
	}
	clauses, output := failing(t, "TestUnknownRelaxes")
	assert.Empty(t, clauses, "no clause is run")
	assert.Contains(t, output, `relaxes: unknown clause "no-such-clause", "fault:neither", expected one of storage-fifo, storage-len`)
	assert.NotContains(t, output, "=== RUN   TestUnknownRelaxes/")
}
