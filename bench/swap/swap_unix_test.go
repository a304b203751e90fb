//go:build unix

package swap

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/swap/probe"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var built = flag.Bool("built", false, "build and run a program with both arms too, which compiles client-go")

// TestBuilt swaps the program of testdata, whose events come through a named pipe.
func TestBuilt(t *testing.T) {
	if !*built {
		t.Skip("compiles client-go, which takes minutes the first time: run with -args -built")
	}
	module := newModule(t)
	before := hashOf(t, module)
	pipe := filepath.Join(t.TempDir(), "events")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	t.Setenv("PROGRAM_EVENTS", pipe)
	p, err := Build(t.Context(), Options{
		Dir: module, Main: "./cmd/manager", Arms: []string{"library"}, Load: "echo 400 > $PROGRAM_EVENTS", Library: Source(), Timeout: time.Minute, Stop: time.Minute,
	}, t.TempDir(), func(step string) { t.Log(step) })
	require.NoError(t, err)
	assert.Equal(t, before, hashOf(t, module), "the module's files")
	t.Run("rounds", func(t *testing.T) { rounds(t, p) })
	t.Run("faults", func(t *testing.T) { faults(t, p) })
	t.Run("interrupted", func(t *testing.T) { interrupted(t, p) })
}

// rounds runs the program in both arms: everything that can be swapped is.
func rounds(t *testing.T, p *Program) {
	share, err := p.Profile(t.Context(), t.TempDir())
	require.NoError(t, err)
	assert.Greater(t, share.Bound, 0.0)
	assert.LessOrEqual(t, share.Bound, 1.0)

	dir := t.TempDir()
	p.Into(dir)
	c := p.Case()
	for range 2 {
		for _, arm := range c.Arms {
			line, err := p.Sampler()(t.Context(), c, arm)
			require.NoError(t, err, arm.Name)
			assert.Contains(t, string(line), "cpu-ns/op")
		}
	}
	s, err := p.Summarise(dir, share)
	require.NoError(t, err)
	assert.Equal(t, "all rounds of all arms end in the same state", s.Ends)
	assert.True(t, s.Alike)
	assert.Empty(t, s.Lifted, "versions of modules")
	assert.Empty(t, s.Panics)
	assert.Equal(t, []Unnamed{{"example.com/program/keys.local", "it is declared in a function"}}, s.Unnamed)

	how := map[string]string{}
	for _, r := range p.done {
		if r.Arm != "library" {
			continue
		}
		for _, thing := range r.Used.Things {
			how[thing.Constructor+" "+thing.Name+" "+thing.Key] = thing.How
			assert.True(t, thing.Queue == nil || thing.Queue.Adds >= 50, "adds of %s: %+v", thing.Name, thing.Queue)
			assert.True(t, thing.Cache == nil || thing.Cache.Objects == 50, "objects of %s: %+v", thing.Name, thing.Cache)
		}
	}
	const limiting = "NewTypedRateLimitingQueueWithConfig "
	assert.Equal(t, map[string]string{
		"NewSharedIndexInformerWithOptions *v1.Pod ":                 probe.Swapped,
		limiting + "pods string":                                     probe.Swapped,
		limiting + "own main.podKey":                                 probe.Swapped,
		limiting + "private keys.key":                                probe.Swapped,
		limiting + "local keys.local":                                probe.Adapted,
		limiting + "old any":                                         probe.Swapped,
		"NewTypedDelayingQueueWithConfig later types.NamespacedName": probe.Swapped,
		"NewTypedWithConfig  string":                                 probe.Kept,
	}, how)
	pods := slices.IndexFunc(s.Coverage, func(c Coverage) bool { return c.Constructor == "NewTypedRateLimitingQueueWithConfig" })
	assert.Equal(t, s.Coverage[pods].SwappedAdds, s.Coverage[pods].Adds, "traffic of rate limiting queues")
}

// faults are each one clear error.
func faults(t *testing.T, p *Program) {
	c, load := p.Case(), p.options.Load
	defer func() { p.options.Load = load }()
	for name, x := range map[string]struct {
		fault, load, arm, want string
	}{
		"program ends":       {"ends", load, Baseline, "client-go, round 0: the program ended by itself, exit status 1: manager: no such flag: --example"},
		"program leaves one": {"leaves-a-child", load, Baseline, "left processes behind"},
		"program panics":     {"fails-when-swapped", load, "library", "library, round 0: the program ended by itself, exit status 2: panic: it was swapped"},
		"load fails":         {"", "test $INFORMERBENCH_ARM = client-go || { echo no quota >&2; exit 3; }", "library", "library, round 0: the load command failed: exit status 3: no quota"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PROGRAM_FAULT", x.fault)
			p.options.Load, p.rounds = x.load, map[string]int{}
			p.Into(t.TempDir())
			arm := c.Arms[slices.IndexFunc(c.Arms, func(a experiment.Arm) bool { return a.Name == x.arm })]
			_, err := p.Sampler()(t.Context(), c, arm)
			assert.ErrorContains(t, err, x.want)
		})
	}
}

// interrupted ends a round as soon as its load runs.
func interrupted(t *testing.T, p *Program) {
	pipe := filepath.Join(t.TempDir(), "began")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	p.options.Load = "echo began > " + pipe + "; sleep 1000"
	p.Into(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(pipe) // which waits for the load
		cancel()
		read <- err
	}()
	_, err := p.Sampler()(ctx, p.Case(), p.Case().Arms[0])
	assert.True(t, errors.Is(err, context.Canceled), "%v", err)
	assert.NoError(t, <-read)
}
