package reports

import (
	"math"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/stretchr/testify/assert"
)

func TestColumnsShareAScaleAndSayTheirUnit(t *testing.T) {
	for _, x := range []struct {
		unit   string
		values []float64
		title  string
		texts  []string
	}{
		{"sec/op", []float64{412e-9, 1.5e-6}, "time, ns/op", []string{"412.0", "1500.0"}},
		{"cpu-sec/op", []float64{3e-6}, "CPU time, µs/op", []string{"3.000"}},
		{"allocs/op", []float64{0, 3}, "allocs/op", []string{"0", "3"}},
		{"B/op", []float64{96, 480}, "B/op", []string{"96", "480"}},
		{"live-B/item", []float64{2048, 4096}, "live KiB/item", []string{"2.000", "4.000"}},
		{"mutex-wait-sec/op", []float64{1e-3}, "mutex-wait, ms/op", []string{"1.000"}},
		{"lists/s", []float64{12e3, math.NaN()}, "lists/s, k", []string{"12.00", none}},
	} {
		c := newColumn(x.unit, x.values)
		assert.Equal(t, x.title, c.title())
		for i, v := range x.values {
			assert.Equal(t, x.texts[i], c.value(v), x.unit)
		}
	}
}

func TestSpread(t *testing.T) {
	assert.Equal(t, "±5%", spread(verdict.Summary{Center: 100, Low: 98, High: 105}))
	assert.Equal(t, "", spread(verdict.Summary{Center: 3, Low: 3, High: 3}), "exact figures need none")
	assert.Equal(t, "", spread(verdict.Summary{Center: 3, Low: math.Inf(-1), High: math.Inf(1)}), "too few samples")
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{118 * time.Second: "1m58s", 2 * time.Minute: "2m", 130 * time.Second: "2m10s", 90 * time.Minute: "1h30m", 2 * time.Hour: "2h", time.Hour + 30*time.Second: "1h0m30s", 2*time.Second + 340*time.Millisecond: "2.3s", 50 * time.Millisecond: "50ms"} {
		assert.Equal(t, want, wording.Elapsed(d))
	}
}

func TestShortName(t *testing.T) {
	for full, want := range map[string]string{
		"k8s.io/client-go/util/workqueue.(*Typed[go.shape.string]).Add": "workqueue.(*Typed).Add",
		"github.com/x/y/bench.cycle[...].func1":                         "bench.cycle.func1",
		"runtime.mallocgc":                                              "runtime.mallocgc",
		"k8s.io/client-go/util/workqueue.(*Typed[go.shape.struct { a/b.Namespace string }]).Get.deferwrap1": "workqueue.(*Typed).Get.deferwrap1",
		"internal/runtime/maps.(*Map).PutSlotFastStr":                                                       "maps.(*Map).PutSlotFastStr",
		"aeshashbody": "aeshashbody",
	} {
		assert.Equal(t, want, shortName(full))
	}
}

func TestKinds(t *testing.T) {
	for full, want := range map[string]string{
		"github.com/informerbench/informerbench/impl/queue.(*Ring[...]).Add": "queue and cache code",
		"github.com/informerbench/informerbench/bench.cycle":                 "load and measurement",
		"internal/sync.(*Mutex).lockSlow":                                    "locks and channels",
		"runtime.mallocgcTiny":                                               "allocation and garbage collection",
		"runtime.findRunnable":                                               "scheduling and the rest of the runtime",
		"internal/runtime/maps.(*Iter).Next":                                 "maps, hashing and comparing",
		"encoding/json.Marshal":                                              "other libraries",
	} {
		assert.Equal(t, want, kinds[kindOf(full)].Name, full)
	}
}

func TestConfidence(t *testing.T) {
	run, stats := fixture(1)
	assert.Equal(t, "fair", judge(run, stats).Word)
	run.Stopped = "interrupted"
	assert.Equal(t, "weak", judge(run, stats).Word)
	run.Stopped = "precision"
	failed := run
	failed.Schedule = []experiment.Sample{{Failure: "exit status 2"}}
	assert.Equal(t, "the wanted precision was reached, where samples did not fail", stopped(failed))
	for i := range stats.Components {
		for j := range stats.Components[i].Cases {
			stats.Components[i].Cases[j].NoiseFloor = 0.01
		}
	}
	assert.Equal(t, "solid", judge(run, stats).Word)
	stats.Components[0].Cases[0].Rows[1].Comparison.Verdict = verdict.TooFew
	assert.Equal(t, "fair", judge(run, stats).Word)
}
