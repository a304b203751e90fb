//go:build unix

package swap

import (
	"context"
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

// options are those of the program of testdata; its events come through a named pipe.
func options(t *testing.T, module string) Options {
	pipe := filepath.Join(t.TempDir(), "events")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	t.Setenv("PROGRAM_EVENTS", pipe)
	return Options{
		Dir: module, Main: "./cmd/manager", Arms: []string{"library"}, Load: "echo 400 > $PROGRAM_EVENTS", Library: Source(), Timeout: time.Minute, Stop: 30 * time.Second,
	}
}

// A program runs in both arms, everything that can be swapped is, and nobody's files
// were touched.
func TestSwap(t *testing.T) {
	module := newModule(t)
	before := hashOf(t, module)
	p, err := Build(t.Context(), options(t, module), t.TempDir(), said(t))
	require.NoError(t, err)
	assert.Equal(t, before, hashOf(t, module), "the module's files")

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
	for _, thing := range p.done[len(p.done)-1].Used.Things {
		how[thing.Constructor+" "+thing.Name+" "+thing.Key] = thing.How
	}
	for _, r := range p.done {
		if r.Arm == "library" {
			clear(how)
			for _, thing := range r.Used.Things {
				how[thing.Constructor+" "+thing.Name+" "+thing.Key] = thing.How
				assert.True(t, thing.Queue == nil || thing.Queue.Adds >= 50, "adds of %s: %+v", thing.Name, thing.Queue)
				assert.True(t, thing.Cache == nil || thing.Cache.Objects == 50, "objects of %s: %+v", thing.Name, thing.Cache)
			}
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

// What goes wrong is one clear error, and no process is left.
func TestFaults(t *testing.T) {
	module := newModule(t)
	o := options(t, module)
	o.Timeout = 20 * time.Second
	p, err := Build(t.Context(), o, t.TempDir(), said(t))
	require.NoError(t, err)
	c := p.Case()
	for name, x := range map[string]struct {
		fault, load, arm, want string
	}{
		"program ends":       {"ends", o.Load, Baseline, "client-go, round 0: the program ended by itself, exit status 1: manager: no such flag: --example"},
		"program leaves one": {"leaves-a-child", o.Load, Baseline, "left processes behind"},
		"program panics":     {"fails-when-swapped", o.Load, "library", "library, round 0: the program ended by itself, exit status 2: panic: it was swapped"},
		"load fails":         {"", "test $INFORMERBENCH_ARM = client-go || { echo no quota; exit 3; }", "library", "library, round 0: the load command failed: exit status 3: no output"},
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
	t.Run("interrupted", func(t *testing.T) {
		p.options.Load = "kill -INT $PPID; sleep 1000" // nobody waits for its end
		p.options.Load = "sleep 1000"
		p.Into(t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		go func() { // as soon as the load runs
			for {
				if _, err := os.Stat(p.log(Baseline, p.rounds[Baseline]-1, "load")); err == nil || ctx.Err() != nil {
					cancel()
					return
				}
			}
		}()
		_, err := p.Sampler()(ctx, c, c.Arms[0])
		assert.ErrorIs(t, err, context.Canceled)
	})
}
