//go:build unix

package swap

import (
	"flag"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/swap/probe"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var built = flag.Bool("built", false, "build and run a program with both arms too, which compiles client-go")

// TestBuilt swaps the program of testdata, whose events come through a named pipe:
// everything that can be swapped is, and the author's files stay as they are.
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
		Dir: module, Main: "./cmd/manager", Arms: []string{"library", "outside"}, Load: "echo 40000 > $PROGRAM_EVENTS", Library: Source(), Outside: "../peers/outside", Timeout: time.Minute, Stop: time.Minute,
	}, t.TempDir(), func(step string) { t.Log(step) })
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

	how, outside := map[string]string{}, map[string]string{}
	for _, r := range p.done {
		how := map[string]map[string]string{"library": how, "outside": outside}[r.Arm]
		if how == nil {
			continue
		}
		for _, thing := range r.Used.Things {
			how[thing.Constructor+" "+thing.Name+" "+thing.Key] = thing.How
			assert.True(t, thing.Queue == nil || thing.Queue.Adds >= 50, "adds of %s: %+v", thing.Name, thing.Queue)
			assert.True(t, thing.Cache == nil || thing.Cache.Objects == 50, "objects of %s: %+v", thing.Name, thing.Cache)
		}
	}
	const limiting = "NewTypedRateLimitingQueueWithConfig "
	want := map[string]string{
		"NewSharedIndexInformerWithOptions *v1.Pod ":                 probe.Swapped,
		limiting + "pods string":                                     probe.Swapped,
		limiting + "own main.podKey":                                 probe.Swapped,
		limiting + "private keys.key":                                probe.Swapped,
		limiting + "local keys.local":                                probe.Adapted,
		limiting + "old any":                                         probe.Swapped,
		"NewTypedDelayingQueueWithConfig later types.NamespacedName": probe.Swapped,
		"NewTypedWithConfig  string":                                 probe.Kept,
	}
	assert.Equal(t, want, how)
	want[limiting+"local keys.local"] = probe.Kept // client-go's own type takes no adapter
	assert.Equal(t, want, outside)
	pods := slices.IndexFunc(s.Coverage, func(c Coverage) bool { return c.Constructor == "NewTypedRateLimitingQueueWithConfig" })
	assert.Equal(t, s.Coverage[pods].SwappedAdds, s.Coverage[pods].Adds, "traffic of rate limiting queues")
}
