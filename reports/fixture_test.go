package reports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/loadgen/drive"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// A plan for a made-up component: how much faster than the baseline each
// variant is on average.
type made struct {
	name     string
	variants []madeVariant
	cases    []string
}

type madeVariant struct {
	name    string
	speed   float64
	peer    bool
	relaxes []string
}

var madeUp = []made{
	{"queue", []madeVariant{{"client-go", 1, true, nil}, {"sharded", 3.1, false, []string{"fifo-order"}}, {"ring", 1.9, false, nil},
		{"slice", 0.97, false, nil}, {"controller-runtime", 0.41, true, []string{"len-counts-queued", "drain-after-shutdown", "requeue-place", "injected-clock", "fault:shutdown-twice"}}},
		[]string{"op=cycle/keys=unique/n=10k", "op=duplicates/keys=unique/n=10k", "op=cycle/keys=hot/n=10k", "op=flow/producers=1/workers=1",
			"op=flow/producers=4/workers=16", "op=backlog/n=100k"}},
	{"delaying-queue", []madeVariant{{"client-go", 1, true, nil}, {"heap4", 1.35, false, nil}, {"heap", 1.04, false, nil}, {"controller-runtime", 0.6, true, nil}},
		[]string{"op=schedule/n=10k", "op=reschedule/n=10k", "op=pop/n=10k", "op=pop/n=1M"}},
	{"delta-fifo", []madeVariant{{"client-go", 1, true, nil}, {"ring", 1.22, false, nil}, {"slice", 0.88, false, nil}},
		[]string{"op=update/ratio=10", "op=replace/n=100k", "op=resync/n=100k"}},
	{"indexer", []madeVariant{{"client-go", 1, true, nil}, {"sharded", 4.6, false, []string{"point-in-time-list"}}, {"locked", 1.02, false, nil}},
		[]string{"op=update/indices=0/n=100k", "op=update/indices=4/n=100k", "op=get/n=100k", "op=list/n=100k", "op=write/readers=0", "op=write/readers=10", "op=write/readers=40"}},
}

// fixture is a run as an experiment leaves it: noisy samples, an A/A control,
// a failed sample, warnings, and profiles of the first case of each component.
func fixture(seed uint64) (experiment.Run, verdict.Stats) {
	random := rand.New(rand.NewPCG(seed, 0))
	began := time.Date(2026, 11, 20, 20, 15, 0, 0, time.UTC)
	run := experiment.Run{
		Schema: experiment.SchemaVersion, Started: began, Finished: began.Add(118 * time.Second), Stopped: "budget",
		Command: []string{"run", "--profile", "quick", "--seed", "42"},
		Plan: experiment.Plan{Profile: "quick", Seed: 42, Budget: 2 * time.Minute, Precision: 0.05, Confidence: 0.95,
			MinRounds: 6, MaxRounds: 20, SampleTime: 50 * time.Millisecond, Timeout: 10 * time.Second},
		Environment: experiment.Environment{Go: "go1.26.0", OS: "linux", Arch: "amd64", CPU: "AMD EPYC 7B13", Cores: 2, GOMAXPROCS: 2,
			Memory: 8 << 30, Kernel: "6.8.0"},
		Versions: map[string]string{"k8s.io/client-go": "v0.37.2", "sigs.k8s.io/controller-runtime": "v0.25.2"},
	}
	stats := verdict.Stats{Schema: experiment.SchemaVersion,
		Decision: "Replace the queue, the delaying queue and the delta FIFO: 1.90× the queue, 1.35× the delaying queue, 1.22× the delta FIFO. Keep your indexer: nothing better was shown."}
	for _, m := range madeUp {
		component := verdict.ComponentStats{Component: m.name, Decision: fmt.Sprintf("Use %s: a full drop-in, faster than client-go over %d cases.", m.variants[min(2, len(m.variants)-1)].name, len(m.cases))}
		ranks := map[string]*verdict.Rank{}
		logs := map[string]float64{}
		for _, v := range m.variants {
			ranks[v.name] = &verdict.Rank{Variant: v.name, Peer: v.peer, Relaxes: v.relaxes, Worst: math.Inf(1), Cases: len(m.cases)}
		}
		for _, name := range m.cases {
			c := madeCase(random, m, name)
			for _, r := range c.Rows {
				if r.Control {
					continue
				}
				ratio := 1.0
				if r.Comparison != nil {
					ratio = r.Comparison.Ratio
					switch r.Comparison.Verdict {
					case verdict.Faster:
						ranks[r.Variant].Faster++
					case verdict.Slower:
						ranks[r.Variant].Slower++
					}
				}
				logs[r.Variant] += math.Log(ratio)
				ranks[r.Variant].Worst = min(ranks[r.Variant].Worst, ratio)
			}
			component.Cases = append(component.Cases, c)
			for round := 1; round <= 12; round++ {
				for _, r := range c.Rows {
					run.Schedule = append(run.Schedule, experiment.Sample{Round: round, Case: m.name + "/" + name, Arm: r.Name, Took: 60 * time.Millisecond})
				}
			}
		}
		for _, v := range m.variants {
			ranks[v.name].Ratio = math.Exp(logs[v.name] / float64(len(m.cases)))
			component.Ranking = append(component.Ranking, *ranks[v.name])
		}
		slices.SortStableFunc(component.Ranking, func(a, b verdict.Rank) int { return cmp.Compare(b.Ratio, a.Ratio) })
		stats.Components = append(stats.Components, component)
	}
	run.Schedule[7].Failure = "timed out after 10s"
	stats.Warnings = []experiment.Warning{
		{Scope: "run", Text: "the machine was busy: load average 3.1 on 2 cores"},
		{Scope: "queue/op=backlog/n=100k/ring", Text: "differs from client-go by 4.1%, less than this run's noise allows to claim (floor 5.2%): more rounds or a quieter machine would tell"},
	}
	return run, stats
}

func madeCase(random *rand.Rand, m made, name string) verdict.CaseStats {
	floor := 0.02 + 0.06*random.Float64()
	c := verdict.CaseStats{Name: name, Summary: "What a controller does all day, on " + name + ".", Unit: "cpu-sec/op", Baseline: "client-go", NoiseFloor: floor}
	base := 80e-9 * math.Exp(4*random.Float64())
	add := func(arm experiment.Arm, speed float64) {
		row := verdict.Row{Arm: arm, Samples: 12, Metrics: map[string]verdict.Summary{
			"cpu-sec/op":  summary(random, base/speed, 0.04),
			"sec/op":      summary(random, base/speed*0.8, 0.05),
			"B/op":        summary(random, math.Round(96/speed), 0),
			"allocs/op":   summary(random, math.Round(3/speed), 0),
			"live-B/item": summary(random, 180/math.Sqrt(speed), 0.01),
		}}
		if name == "op=flow/producers=4/workers=16" {
			row.Metrics["mutex-wait-sec/op"] = summary(random, base/speed*3, 0.2)
		}
		if arm.Name != c.Baseline {
			half := 0.01 + 0.05*random.Float64()
			x := &verdict.Comparison{Ratio: speed, Low: speed / (1 + half), High: speed * (1 + half), P: 0.0002, PAdjusted: 0.004, Verdict: verdict.Same}
			switch {
			case arm.Control:
			case x.Low > 1+floor:
				x.Verdict = verdict.Faster
			case x.High < 1/(1+floor):
				x.Verdict = verdict.Slower
			}
			row.Comparison = x
		}
		c.Rows = append(c.Rows, row)
	}
	for _, v := range m.variants {
		speed := v.speed
		if v.name != "client-go" {
			speed *= math.Exp(0.25 * random.NormFloat64())
		}
		add(experiment.Arm{Name: v.name, Variant: v.name, Peer: v.peer, Relaxes: v.relaxes, Summary: "how " + v.name + " works and what it costs"}, speed)
	}
	add(experiment.Arm{Name: "client-go-again", Variant: "client-go", Peer: true, Control: true}, 1+floor*(random.Float64()-0.5))
	return c
}

func summary(random *rand.Rand, center, spread float64) verdict.Summary {
	s := verdict.Summary{Center: center, Low: center * (1 - spread), High: center * (1 + spread)}
	for range 12 {
		s.Values = append(s.Values, center*math.Exp(spread*random.NormFloat64()))
	}
	return s
}

// resultDir is a directory as an experiment leaves it, with profiles of the
// first case.
func resultDir(t testing.TB, stats verdict.Stats) string {
	dir := t.TempDir()
	for _, name := range []string{"raw.txt", "run.json", "stats.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("{}\n"), 0o644))
	}
	for _, component := range stats.Components[:1] {
		c := component.Cases[0]
		for i, row := range c.Rows {
			if row.Control {
				continue
			}
			at := filepath.Join(dir, experiment.ProfileDir(experiment.PlannedCase{Component: component.Component, Name: c.Name}, row.Variant))
			require.NoError(t, os.MkdirAll(at, 0o755))
			f, err := os.Create(filepath.Join(at, "cpu.pb.gz"))
			require.NoError(t, err)
			require.NoError(t, madeProfile(uint64(i), row.Variant).Write(f))
			require.NoError(t, f.Close())
		}
	}
	return dir
}

// madeProfile is a CPU profile of a queue's benchmark.
func madeProfile(seed uint64, variant string) *profile.Profile {
	random := rand.New(rand.NewPCG(seed, 1))
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000, TimeNanos: 1, DurationNanos: 1e9,
	}
	locations := map[string]*profile.Location{}
	at := func(name string) *profile.Location {
		if l, ok := locations[name]; ok {
			return l
		}
		f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, SystemName: name, Filename: "file.go"}
		p.Function = append(p.Function, f)
		l := &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f, Line: 1}}}
		p.Location = append(p.Location, l)
		locations[name] = l
		return l
	}
	queue := "k8s.io/client-go/util/workqueue.(*Typed[go.shape.string])."
	if variant != "client-go" {
		queue = "github.com/informerbench/informerbench/impl/queue.(*Ring[go.shape.string])."
	}
	start := []string{"runtime.goexit", "testing.(*B).runN", "github.com/informerbench/informerbench/bench.measured", "github.com/informerbench/informerbench/bench.cycle"}
	for _, stack := range [][]string{
		{queue + "Add"}, {queue + "Add", "internal/runtime/maps.(*Map).PutSlotFastStr"}, {queue + "Add", "internal/runtime/maps.(*Map).PutSlotFastStr", "aeshashbody"},
		{queue + "Add", "sync.(*Mutex).Lock", "internal/sync.(*Mutex).lockSlow"}, {queue + "Add", "runtime.growslice", "runtime.mallocgc"},
		{queue + "Get"}, {queue + "Get", "sync.(*Cond).Wait", "runtime.gopark"}, {queue + "Get", "internal/runtime/maps.(*Map).Delete"},
		{queue + "Done"}, {queue + "Done", "internal/runtime/maps.(*Map).Delete", "aeshashbody"}, {queue + "Done", "sync.(*Cond).Signal", "runtime.readyWithTime"}, {},
	} {
		s := &profile.Sample{Value: []int64{1 + random.Int64N(40), 0}}
		s.Value[1] = s.Value[0] * p.Period
		for _, name := range slices.Backward(slices.Concat(start, stack)) {
			s.Location = append(s.Location, at(name))
		}
		p.Sample = append(p.Sample, s)
	}
	gc := &profile.Sample{Value: []int64{25, 25 * p.Period}, Location: []*profile.Location{at("runtime.scanobject"), at("runtime.gcDrain"), at("runtime.gcBgMarkWorker"), at("runtime.goexit")}}
	p.Sample = append(p.Sample, gc)
	return p
}

// madeDrives leaves what three arms' drives over three rounds leave: a
// histogram each and a timeline with a burst that the slower arm drains late.
func madeDrives(t testing.TB, dir string) {
	t.Helper()
	for name, slow := range map[string]float64{"client-go": 1, "flagship": 0.4, "client-go-again": 1.02} {
		for round := 1; round <= 3; round++ {
			r := drive.Result{Schema: drive.SchemaVersion, Workload: "rollout", Arm: name, Round: round, Load: time.Minute, Drain: time.Second,
				Setup:      drive.Setup{Workers: 5, QPS: 20, Burst: 30, Service: "lognormal(5ms, 80ms)", ServiceMode: "sleep", Failure: 0.02, Speed: 1},
				Accounting: drive.Accounting{Sent: 6000, Delivered: 5200, Coalesced: 800, Reconciles: 5400, Failures: 100},
				Usage:      drive.Usage{CPU: time.Duration(slow * float64(time.Second)), HeapPeak: 80 << 20}, Generator: drive.Generator{Share: 0.03}}
			for i, stage := range []string{drive.Watch, drive.Settled, drive.QueueWait} {
				d := drive.Latency{Name: stage, Distribution: durations.Distribution{Count: 6000}}
				for _, q := range []float64{0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 1} {
					at := float64(time.Millisecond) * float64(1+3*i) * slow * (1 + 0.05*float64(round)) * math.Pow(1.0001-q, -0.8)
					d.Points = append(d.Points, durations.Point{Quantile: q, Value: time.Duration(at)})
				}
				r.Latencies = append(r.Latencies, d)
			}
			for s := 1; s <= 60; s++ {
				burst := math.Exp(-math.Pow(float64(s-20)/4, 2))
				r.Timeline = append(r.Timeline, drive.Tick{At: time.Duration(s) * time.Second, Sent: int(50 + 300*burst), Reconciles: 90, Depth: int(slow * 400 * burst), Unsettled: int(slow * 500 * burst),
					Settled99: time.Duration(slow * 1e7 * (1 + 50*burst)), QueueWait: time.Duration(slow * 1e6 * (1 + 50*burst)), CPU: 0.4 * slow, Heap: 60 << 20})
			}
			b, err := json.Marshal(r)
			require.NoError(t, err)
			at := filepath.Join(dir, "drive", name)
			require.NoError(t, os.MkdirAll(at, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(at, fmt.Sprintf("%d.json", round)), b, 0o644))
		}
	}
}
