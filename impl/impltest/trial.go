package impltest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// How long a clause may take. A call counts as blocked for ever
// when bubbleLimit of fake time passes: far beyond any delay that the clauses
// use, yet few enough ticks of an implementation's ticker to pass at once. A
// goroutine that blocks on a mutex stops the fake time too; wallLimit ends that.
// It is long, as with -race a clause with many goroutines may have to share the
// machine, and only what is stuck ever waits for it.
const bubbleLimit = 6 * time.Hour

var wallLimit = 3 * time.Minute

// maxFailures is how many failures of a clause are printed.
const maxFailures = 6

// A trial is one run of one clause. It stands in for testing.T, so that a clause
// that is stuck can be given up without touching a test that has ended: it
// serves testify's assert and require. Its methods may be called from any
// goroutine.
type trial struct {
	mu       sync.Mutex
	failures []string
	cleanups []func()
	seed     uint64
	seeded   bool
	relaxes  []string
	missing  atomic.Pointer[string] // a relaxed clause that this one needs
	// unconditional makes needs do nothing: whether a fault is there is asked of the
	// whole clause.
	unconditional bool
	// abandoned is set when the clause was given up while it was still running.
	abandoned atomic.Bool
	bubble    string // how the runtime names the bubble in goroutine headers
}

// Helper, Errorf and FailNow have the meaning that they have in testing.T.
func (*trial) Helper() {}

func (t *trial) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// The trace of an assertion is the same few lines of this package each time.
	failure := errorTrace.ReplaceAllString(fmt.Sprintf(format, args...), "$1")
	if failure = strings.Trim(failure, "\n"); !slices.Contains(t.failures, failure) {
		t.failures = append(t.failures, failure)
	}
}

var errorTrace = regexp.MustCompile(`(?s)\tError Trace:.*?\n(\s*\tError:)`)

func (*trial) FailNow() { runtime.Goexit() }

// Fatalf is Errorf and the end of the calling goroutine.
func (t *trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	t.FailNow()
}

// Failed tells whether anything failed so far.
func (t *trial) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.failures) > 0
}

// Cleanup makes f run when the clause has ended. It is not part of the clause:
// when f blocks or panics, nothing fails.
func (t *trial) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

// Go runs f in a goroutine of its own, where a panic is a failure. The returned
// channel is closed when f ends.
func (t *trial) Go(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("panic: %v\n%s", p, panicStack())
			}
		}()
		f()
	}()
	return done
}

// Rand returns a source of random numbers whose seed is printed on failure and
// can be set with IMPLTEST_SEED.
func (t *trial) Rand() *rand.Rand {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.seeded {
		t.seed = rand.Uint64()
		if s, err := strconv.ParseUint(os.Getenv("IMPLTEST_SEED"), 10, 64); err == nil {
			t.seed = s
		}
		t.seeded = true
	}
	return rand.New(rand.NewPCG(t.seed, 0))
}

// relaxed tells whether the implementation gives up the clause of that name, so
// that a clause that combines others leaves it out.
func (t *trial) relaxed(name string) bool {
	return slices.Contains(t.relaxes, name) || slices.Contains(t.relaxes, faultPrefix+name)
}

// needs ends the calling goroutine where one of the named clauses is relaxed,
// which the rest of this clause takes for granted. The sub-test is skipped, unless
// something failed.
func (t *trial) needs(names ...string) {
	for _, name := range names {
		if t.relaxed(name) && !t.unconditional {
			t.missing.Store(&name)
			runtime.Goexit()
		}
	}
}

// unordered tells whether the implementation gives up the order of Get.
func (t *trial) unordered() bool {
	return t.relaxed("global-fifo") || t.relaxed("requeue-place") || t.relaxed("storage-fifo")
}

// countsQueued tells whether Len may be compared.
func (t *trial) countsQueued() bool {
	return !t.relaxed("len-counts-queued") && !t.relaxed("storage-len")
}

// report is what the trial found, or "".
func (t *trial) report(name, reason string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.failures) == 0 {
		return ""
	}
	failures := t.failures
	if more := len(failures) - maxFailures; more > 0 {
		failures = append(failures[:maxFailures:maxFailures], fmt.Sprintf("and %d more", more))
	}
	var seed string
	if t.seeded {
		seed = fmt.Sprintf("\nseed %d: run it again with IMPLTEST_SEED=%[1]d", t.seed)
	}
	return fmt.Sprintf("clause %s: %s\n%s%s", name, reason, strings.Join(failures, "\n"), seed)
}

func (t *trial) firstLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	line, _, _ := strings.Cut(strings.TrimSpace(t.failures[0]), "\n")
	return line
}

// try runs f to its end, or until it is plain that it has none: at the latest
// after limit of real time.
func try(sub *testing.T, relaxes []string, limit time.Duration, f func(*trial)) *trial {
	t := &trial{relaxes: relaxes}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// A goroutine that outlives the bubble makes synctest.Test panic. The
		// clauses about leaks look for them; for the others it is no failure.
		defer func() {
			if p := recover(); p != nil && !strings.Contains(fmt.Sprint(p), "blocked goroutines remain") {
				t.Errorf("panic: %v", p)
			}
		}()
		synctest.Test(sub, func(*testing.T) {
			t.mu.Lock()
			t.bubble = bubbleHeader.FindStringSubmatch(ownStack())[1]
			t.mu.Unlock()
			done := t.Go(func() { f(t) })
			select {
			case <-done:
			case <-time.After(bubbleLimit):
				t.Errorf("blocked for ever:\n%s", strings.Join(t.Goroutines(), "\n\n"))
			}
			t.cleanup()
			synctest.Wait()
			if t.abandoned.Load() {
				select {} // the sub-test has ended: it must not hear of races now
			}
		})
	}()
	wall := time.NewTimer(limit)
	defer wall.Stop()
	select {
	case <-ended:
	case <-wall.C:
		t.abandoned.Store(true)
		t.Errorf("no end after %v: a deadlock on a mutex, or a loop\n%s", limit, strings.Join(t.Goroutines(), "\n\n"))
	}
	return t
}

func (t *trial) cleanup() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.cleanups {
		go func() {
			defer func() { _ = recover() }()
			f()
		}()
	}
}

var bubbleHeader = regexp.MustCompile(`^goroutine \d+ .*(synctest bubble \d+\])`)

// Goroutines returns the stacks of the goroutines in the clause's bubble, but
// not the caller's own and not those that make up the bubble: what is left over
// when a clause has stopped its goroutines was leaked by the implementation.
func (t *trial) Goroutines() []string {
	t.mu.Lock()
	bubble := t.bubble
	t.mu.Unlock()
	var stacks []string
	for _, stack := range otherStacks(bubble) {
		if !strings.Contains(stack, "created by testing/synctest.") && !strings.Contains(stack, "[synctest.Run") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// otherStacks returns the stacks of all goroutines but the caller's whose header
// contains word.
func otherStacks(word string) []string {
	buf := make([]byte, 1<<20)
	n := runtime.Stack(buf, true)
	for n == len(buf) { // there may be more
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	buf = buf[:n]
	var stacks []string
	for i, stack := range strings.Split(strings.TrimSpace(string(buf)), "\n\n") {
		header, _, _ := strings.Cut(stack, "\n")
		if i > 0 && strings.Contains(header, word) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// panicStack returns the frames from the panic to the clause, without what
// differs from one goroutine to another.
func panicStack() string {
	stack := ownStack()
	if _, after, ok := strings.Cut(stack, "\npanic("); ok {
		stack = "panic(" + after
	}
	stack, _, _ = strings.Cut(stack, "\ngithub.com/informerbench/informerbench/impl/impltest.(*trial).Go")
	return frameArgs.ReplaceAllString(stack, "(...)")
}

var frameArgs = regexp.MustCompile(`(?m)\([0-9a-fx?, {}.]*\)$`)

func ownStack() string {
	buf := make([]byte, 16<<10)
	return string(buf[:runtime.Stack(buf, false)])
}
