package swap

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/informerbench/informerbench/bench/swap/probe"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// round is one with a queue that n items went through and a cache of these keys.
func round(arm string, n int, how string, adds int64, keys string) Round {
	return Round{Arm: arm, Round: n, Metrics: []string{"go_info", "workqueue_depth{name=\"pods\"}"}, Used: probe.State{Things: []probe.Thing{
		{Constructor: "NewQueue", Name: "pods", Key: "string", How: how, Queue: &probe.Traffic{Adds: adds, P50: time.Duration(adds), P99: 100}},
		{Constructor: "NewInformer", Name: "*v1.Pod", How: how, Cache: &probe.Cache{Synced: true, Objects: 3, Keys: keys}},
	}}}
}

func TestSummary(t *testing.T) {
	p := &Program{options: Options{Metrics: "http://127.0.0.1/metrics"}, target: &target{pkg: "example.com/cmd/manager"}, left: []Unnamed{{"keys.local", "it is declared in a function"}}}
	for n := range 3 {
		p.done = append(p.done, round(Baseline, n, probe.Kept, 100, "a"), round(Baseline+"-again", n, probe.Kept, 100, "a"), round("library", n, probe.Adapted, int64(10*n), "a"))
	}
	p.done[2].Panics = 2
	for i := range p.done {
		if p.done[i].Arm == "library" {
			p.done[i].Metrics = []string{"go_info", "extra"}
		}
	}
	dir := t.TempDir()
	want, err := p.Summarise(dir, Share{Bound: 0.2})
	require.NoError(t, err)
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	s, ok, err := Load(root)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, want, s)
	assert.Equal(t, []Coverage{
		{Arm: "library", Constructor: "NewInformer", Made: 1, Swapped: 1, Adapted: 1},
		{Arm: "library", Constructor: "NewQueue", Made: 1, Swapped: 1, Adapted: 1, Adds: 20, SwappedAdds: 20, Traffic: 1},
	}, s.Coverage)
	require.Len(t, s.Queues, 3)
	assert.Equal(t, QueueWait{Queue: "pods (string)", Arm: "library", How: probe.Adapted, Adds: 15, P50: 15, P99: 100}, s.Queues[2])
	assert.Equal(t, map[string][]string{"library": {"lacks workqueue_depth{name=\"pods\"}", "adds extra"}}, s.Metrics)
	assert.True(t, s.Alike)
	var doubts []string
	for _, d := range s.Doubts() {
		doubts = append(doubts, d.Scope+": "+d.Text)
	}
	assert.Equal(t, []string{
		"swap/library: handlers panicked 2 times",
		"swap: queues with keys of type keys.local are swapped with their keys as any, which costs an allocation a key: it is declared in a function",
	}, doubts)

	p.done[8].State = "other"
	if s, err = p.Summarise(dir, Share{}); assert.NoError(t, err) {
		assert.False(t, s.Alike)
		assert.Equal(t, "library, round 2 ends with another state than client-go", s.Ends)
	}
	p.done[0].State = "third"
	if s, err = p.Summarise(dir, Share{}); assert.NoError(t, err) {
		assert.Equal(t, "not comparable: the rounds of client-go end in different states", s.Ends)
	}
	require.NoError(t, root.WriteFile(SummaryFile, []byte("{"), 0o666))
	_, _, err = Load(root)
	assert.ErrorContains(t, err, "swap.json: ")
	require.NoError(t, root.Remove(SummaryFile))
	_, ok, err = Load(root)
	assert.NoError(t, err)
	assert.False(t, ok)
}

// Pods whose names are drawn at random differ in each round: their number is compared.
func TestWhatDiffersAnywayIsNotCompared(t *testing.T) {
	round := func(arm, state string, pods ...string) Round {
		r := Round{Arm: arm, State: state}
		for _, keys := range pods {
			r.Used.Things = append(r.Used.Things, probe.Thing{Name: "Pod", Cache: &probe.Cache{Objects: len(keys), Keys: keys}})
		}
		return r
	}
	baseline := []Round{round(Baseline, "", "ab", "cd"), round(Baseline, "", "ef", "ab")}
	for _, test := range []struct {
		round Round
		want  string
		alike bool
	}{
		{round("library", "", "gh", "ij"), "all rounds of all arms end in the same state (not compared, since client-go's own rounds differ in them: set of Pod)", true},
		{round("library", "", "ab", "c"), "library, round 0 ends with another number of Pod than client-go", false},
		{round("library", ""), "library, round 0 ends with another number of Pod than client-go", false},
		{round("library", "x", "ab", "cd"), "library, round 0 ends with another state than client-go", false},
	} {
		ends, alike := ends([]string{Baseline, "library"}, map[string][]Round{Baseline: baseline, "library": {test.round}})
		assert.Equal(t, test.want, ends)
		assert.Equal(t, test.alike, alike)
	}
}

func TestMetricNames(t *testing.T) {
	names, err := namesIn(strings.NewReader("# TYPE a counter\na{name=\"x\",code=\"200\"} 1\na{name=\"x\",code=\"500\"} 1\na{name=\"y\"} 2\nb 1\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{`a{name="x"}`, `a{name="y"}`, "b"}, names)
	_, err = namesIn(strings.NewReader("a{"))
	assert.ErrorContains(t, err, "the program's metrics: ")
}

// What a library does that everybody calls is the work of whoever called it.
func TestShareIsOfWhoeverCalls(t *testing.T) {
	sample := func(value int64, innermostFirst ...string) *profile.Sample {
		s := &profile.Sample{Value: []int64{value}}
		for _, name := range innermostFirst {
			s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
		}
		return s
	}
	ours, collector, total := parts(&profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu"}}, Sample: []*profile.Sample{
		sample(1, "runtime.mallocgc", "k8s.io/client-go/tools/cache.(*threadSafeMap).List", "example.com/op.Reconcile"),
		sample(2, "k8s.io/client-go/util/workqueue.(*Typed[go.shape.string]).Add"),
		sample(4, "strings.Index", "example.com/op/keys.Of", "k8s.io/client-go/tools/cache.(*threadSafeMap).Update"),
		sample(8, "main.handle", "k8s.io/client-go/tools/cache.(*processorListener).run"),
		sample(16, "runtime.scanobject", "runtime.gcBgMarkWorker"),
		sample(32, "encoding/json.Unmarshal", "k8s.io/client-go/rest.(*Request).Do", "k8s.io/client-go/tools/cache.(*Reflector).list"),
	}}, "cpu", "example.com/op")
	assert.Equal(t, []float64{3, 16, 63}, []float64{ours, collector, total})
	_, err := shareOf([]byte("x"), nil, "")
	assert.ErrorContains(t, err, "the CPU profile: ")
}

func TestWaitsAreKnownToASixteenth(t *testing.T) {
	var h probe.Histogram
	assert.Zero(t, h.Quantile(0.5))
	for i := range 1001 {
		h.Observe(float64(i) * 1e-6)
	}
	assert.InEpsilon(t, 500*time.Microsecond, h.Quantile(0.5), 1.0/16)
	assert.InEpsilon(t, 990*time.Microsecond, h.Quantile(0.99), 1.0/16)
	h.Observe(-1)
	h.Observe(1e12)
	assert.InEpsilon(t, 500*time.Microsecond, h.Quantile(0.5), 1.0/16)
}

func TestArms(t *testing.T) {
	assert.NoError(t, CheckArms([]string{"library", probe.Queues}))
	assert.EqualError(t, CheckArms([]string{"client-go"}), `found "client-go", expected library, queues, informers or outside`)
	assert.EqualError(t, CheckArms([]string{"library", "library"}), "found library twice, expected different arms")
}
