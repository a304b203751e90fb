package tune

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/bench/tune/search"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func objectives(t *testing.T, texts ...string) []search.Objective {
	t.Helper()
	var list []search.Objective
	for _, text := range texts {
		o, err := search.ParseObjective(text)
		require.NoError(t, err)
		list = append(list, o)
	}
	return list
}

func advise(t *testing.T, s system, o Options) advice.Advice {
	t.Helper()
	if o.Current.Told == nil {
		o.Current = s.given()
	}
	r, err := Metrics(t.Context(), s.run(o.Seed, *length).delta(t), o)
	require.NoError(t, err)
	require.Len(t, r.Queues, 1)
	require.Equal(t, "complete", r.Stopped)
	require.Empty(t, r.Queues[0].Refused)
	return r.Queues[0]
}

// twelve advises on a controller of twelve workers, once for the tests that look at it.
func twelve(t *testing.T) advice.Advice {
	t.Helper()
	twelveOnce.Do(func() {
		s := system{rate: 85, service: exponentially(0.05), mean: 0.05, workers: 12}
		twelveAdvice = advise(t, s, Options{Objectives: objectives(t, "p99 queue wait < 50ms", "max workers 32"), Seed: *seed, WhatIf: []advice.Alternative{
			workersTo(8), workersTo(3), {Text: "resync", Change: func(s *predict.Settings) { s.Resync = 1e9 }}, {Text: "qps", Change: func(s *predict.Settings) { s.QPS = 7 }},
		}})
	})
	return twelveAdvice
}

var (
	twelveOnce   sync.Once
	twelveAdvice advice.Advice
)

func TestAdvice(t *testing.T) {
	numbers(t)
	a := twelve(t)
	require.NotNil(t, a.Then)
	assert.True(t, a.Then.Stable)
	assert.LessOrEqual(t, a.Then.Wait.P99.Low, a.Then.Wait.P99.Mean)
	assert.Less(t, a.Recommended.Workers, 12)
	var curves []string
	for _, c := range a.Curves {
		curves = append(curves, c.Setting)
	}
	assert.Equal(t, []string{"workers", "load"}, curves)
	assert.Greater(t, len(a.Pareto), 1)
	for i := 1; i < len(a.Pareto); i++ {
		assert.Greater(t, a.Pareto[i].Cost, a.Pareto[i-1].Cost)
		assert.Less(t, a.Pareto[i].SettleP99, a.Pareto[i-1].SettleP99)
	}
}

func TestLimitedClient(t *testing.T) {
	numbers(t)
	slow(t)
	s := system{rate: 8, service: exponentially(0.02), mean: 0.02, workers: 5, calls: 2, latency: 0.01, qps: 18, tokens: 10}
	a := advise(t, s, Options{Objectives: objectives(t, "p99 queue wait < 100ms", "api qps <= 50"), Seed: *seed})
	assert.Contains(t, a.Bottleneck, "The client's limit binds")
	assert.Greater(t, a.Recommended.QPS, 18.0)
	assert.LessOrEqual(t, a.Recommended.QPS, 50.0)
	assert.Empty(t, a.Impossible)
	s.workers, s.qps, s.tokens = a.Recommended.Workers, a.Recommended.QPS, a.Recommended.Burst
	assert.Less(t, percentile(s.run(*seed+9, 4*(*length)).wait, 0.99), 1.1*0.1)
}

func TestUnstableAndImpossible(t *testing.T) {
	numbers(t)
	s := system{rate: 90, service: exponentially(0.05), mean: 0.05, workers: 3}
	a := advise(t, s, Options{Objectives: objectives(t, "p99 queue wait < 1s", "max workers 16"), Seed: *seed})
	assert.Regexp(t, `^the load is 1(49|50|51)% of what the current settings can carry \(workers\).*stable from 5 workers on$`, a.Unstable)
	assert.Greater(t, a.Recommended.Workers, 4)

	a = advise(t, s, Options{Objectives: objectives(t, "max workers 4"), Seed: *seed})
	require.Len(t, a.Impossible, 1)
	assert.Contains(t, a.Impossible[0], "the nearest possible is 5 workers")
	assert.Empty(t, a.Paste, "what carries the load no more than the current settings is not for pasting")

	s.rate, s.workers = 20, 6
	a = advise(t, s, Options{Objectives: objectives(t, "p99 settle < 10ms"), Seed: *seed})
	require.Len(t, a.Impossible, 1)
	assert.Contains(t, a.Impossible[0], "p99 settle < 10ms: the nearest possible within the limits is")
}

func TestLimitOutOfReach(t *testing.T) {
	numbers(t)
	slow(t)
	limited := system{rate: 8, service: exponentially(0.02), mean: 0.02, workers: 5, calls: 2, latency: 0.01, qps: 18, tokens: 10}
	a := advise(t, limited, Options{Objectives: objectives(t, "api qps <= 12"), Seed: *seed})
	require.Len(t, a.Impossible, 1)
	assert.Regexp(t, `^api qps 12: the load makes 1[56][0-9.]* API calls a second`, a.Impossible[0])
}

func TestRefusals(t *testing.T) {
	enough := system{rate: 30, service: exponentially(0.05), mean: 0.05, workers: 2}.run(*seed, 60)
	for name, c := range map[string]struct {
		change       func(*scrape.Queue)
		why, instead string
	}{
		"few":        {func(q *scrape.Queue) { q.Work.Counts = []float64{0, 0, 0, 0, 0, 0, 10, 20, 3, 0, 0} }, "33 reconciles in 1m0s, expected at least 200", "an interval of 31m0s"},
		"one bucket": {func(q *scrape.Queue) { q.Work, q.Wait = oneBucket(q.Work), oneBucket(q.Wait) }, "every reconcile lies in one bucket", "more load"},
		"reset":      {func(q *scrape.Queue) { q.Reset, q.Doubts = true, []string{"it fell"} }, "the second scrape doesn't go on where the first one ended: it fell", "without a restart"},
		"no waits":   {func(q *scrape.Queue) { q.Wait = scrape.Histogram{} }, "workqueue_queue_duration_seconds counted nothing", "all workqueue_… families"},
		"no buckets": {func(q *scrape.Queue) { q.Work = scrape.Histogram{Counts: []float64{q.Work.Count()}, Sum: q.Work.Sum} }, "sums but no buckets", "classic buckets"},
		"lost adds":  {func(q *scrape.Queue) { q.Adds, q.Kind = q.Adds+50_000, scrape.Plain }, "these don't go together", "of all its workqueue_… families"},
		"idle":       {func(q *scrape.Queue) { *q = scrape.Queue{Name: "q"} }, "nothing was added", "works"},
	} {
		t.Run(name, func(t *testing.T) {
			d := enough.delta(t)
			q := d.Queues["q"]
			c.change(&q)
			d.Queues["q"] = q
			r, err := Metrics(t.Context(), d, Options{})
			require.NoError(t, err)
			require.Len(t, r.Queues, 1)
			assert.Contains(t, r.Queues[0].Refused, c.why)
			assert.Contains(t, r.Queues[0].Record, c.instead)
			assert.Nil(t, r.Queues[0].Then)
		})
	}
	_, err := Metrics(t.Context(), enough.delta(t), Options{Queue: "other"})
	assert.EqualError(t, err, `queue: unknown queue "other", expected one of q`)
}

// What holds all reconciles in one bucket is named, and what to do about it: of a client
// whose limit does, more load would tell less.
func TestRefusalNamesTheLimit(t *testing.T) {
	s := system{rate: 3, service: always(0.02), mean: 0.02, workers: 10, calls: 4, latency: 0.01, qps: 5, tokens: 10}
	refused := func(d *scrape.Delta) advice.Advice {
		require.Equal(t, []int{1, 1}, []int{d.Queues["q"].Work.Buckets(), d.Queues["q"].Wait.Buckets()})
		r, err := Metrics(t.Context(), d, Options{Current: s.given()})
		require.NoError(t, err)
		require.NotEmpty(t, r.Queues[0].Refused)
		assert.NotContains(t, r.Queues[0].Record, "more load")
		return r.Queues[0]
	}
	d := s.run(*seed, 400).delta(t)
	a := refused(d)
	assert.Regexp(t, `^every reconcile lies in one bucket \(1s to 10s\) and so does every wait \(more than 10s\): the client's limit holds them there \([45]\.?\d* API calls a second waited \S+ each for it, 9\d% of the work\)`, a.Refused)
	assert.Regexp(t, `with QPS and burst of the controller's client raised for that time, the QPS to (10|9\.\d) or more, and its new values as --qps and --burst$`, a.Record)

	d.Client = scrape.Client{}
	a = refused(d)
	assert.Contains(t, a.Refused, "every key waits that long")
	assert.Contains(t, a.Record, "an interval with less load, or with more workers")
}

func oneBucket(h scrape.Histogram) scrape.Histogram {
	all := scrape.Histogram{Bounds: h.Bounds, Counts: make([]float64, len(h.Counts)), Sum: 0.05 * h.Count()}
	all.Counts[7] = h.Count()
	return all
}

// Of an overloaded controller rate and service time are still exact.
func TestOverloadIsNamed(t *testing.T) {
	d := system{rate: 50, service: exponentially(0.05), mean: 0.05, workers: 2}.run(*seed, 300).delta(t)
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(predict.Current{Settings: predict.Settings{Workers: 2}, Told: map[string]string{"workers": "given"}}, d.Queues["q"]), Options{}, false)
	assert.True(t, f.Measured.Overloaded)
	assert.InEpsilon(t, 50, f.ArrivalRate, 0.05)
	assert.InEpsilon(t, 2.5, f.Offered, 0.05)
}

func TestSeveralQueuesShareAClient(t *testing.T) {
	busy := system{rate: 10, service: exponentially(0.05), mean: 0.05, workers: 3, calls: 2, latency: 0.01, qps: 100, tokens: 100}.run(*seed, 300)
	calm := system{rate: 5, service: exponentially(0.02), mean: 0.02, workers: 2}.run(*seed, 300)
	s, err := scrape.Parse("m", strings.NewReader(text([]string{"busy", "calm"}, []observed{busy, calm})))
	require.NoError(t, err)
	d, err := scrape.Since(s[0], 300*time.Second)
	require.NoError(t, err)
	shared := newFit(d, d.Queues["busy"], defaults.ClientGo.Current(predict.Current{}, d.Queues["busy"]), Options{}, false)
	own := newFit(d, d.Queues["busy"], defaults.ClientGo.Current(predict.Current{}, d.Queues["busy"]), Options{}, true)
	assert.InDelta(t, 20, shared.CallRate+shared.Background, 1)
	assert.Greater(t, shared.Background, 0.5)
	assert.Zero(t, own.Background)
	assert.Contains(t, strings.Join(shared.Unidentified, " "), "which queue made which API call")
}

// A queue whose client has a limit of its own may make all the calls that the process
// counts, and by its part of the work it would make a third of them: its limit is not
// lowered to what that needs, unless an objective says so.
func TestUndividedCallsKeepTheLimit(t *testing.T) {
	numbers(t)
	slow(t)
	calling := system{rate: 30, service: exponentially(0.05), mean: 0.05, workers: 5, calls: 1, latency: 0.01, qps: 50, tokens: 75}.run(*seed, 300)
	silent := system{rate: 4, service: exponentially(0.9), mean: 0.9, workers: 5}.run(*seed, 300)
	s, err := scrape.Parse("m", strings.NewReader(text([]string{"calling", "silent"}, []observed{calling, silent})))
	require.NoError(t, err)
	d, err := scrape.Since(s[0], 300*time.Second)
	require.NoError(t, err)
	given := predict.Current{Settings: predict.Settings{Workers: 5, QPS: 50, Burst: 75}, Told: map[string]string{"workers": "given", "qps": "given", "burst": "given"}}
	for bound, least := range map[string]float64{"api qps <= 100": 50, "api qps <= 40": 40} {
		o := Options{Objectives: objectives(t, "p99 queue wait < 50ms", bound), Seed: *seed, Queues: predict.MeasuredQueues}
		f := newFit(d, d.Queues["calling"], defaults.ClientGo.Current(given, d.Queues["calling"]), o, true)
		require.Less(t, f.Calls, 0.5)
		require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
		x, err := search.New(f.Model, o.search(f.Current, defaults.ClientGo, f.undivided, func(string) {})).Best(t.Context())
		require.NoError(t, err)
		assert.Equal(t, least, x.QPS, bound)
		assert.Equal(t, 75, x.Burst, bound)
		if least == 50 { // nor is the one that a flag sets for all controllers
			o.Calls = 1
			f := newFit(d, d.Queues["calling"], defaults.ClientGo.Current(given, d.Queues["calling"]), o, true)
			require.False(t, f.undivided)
			require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
			x, err := search.New(f.Model, o.search(f.Current, defaults.ControllerManager, f.undivided, func(string) {})).Best(t.Context())
			require.NoError(t, err)
			assert.Equal(t, least, x.QPS, bound)
		}
	}
}

// Calls that are told stay, though those of the whole process wait longer than a
// reconcile takes: how long this queue's wait is then told by its work.
func TestToldCallsStay(t *testing.T) {
	d := system{rate: 10, service: exponentially(0.02), mean: 0.02, workers: 2, calls: 1, latency: 0.005, qps: 100, tokens: 100}.run(*seed, 300).delta(t)
	d.Client.Limiter.Sum = 10 * d.Client.Limiter.Count()
	given := predict.Current{Settings: predict.Settings{Workers: 2, QPS: 100, Burst: 100}, Told: map[string]string{}}
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(given, d.Queues["q"]), Options{}, false)
	assert.Zero(t, f.Calls)
	f = newFit(d, d.Queues["q"], defaults.ClientGo.Current(given, d.Queues["q"]), Options{Calls: 1, CallLatency: 5 * time.Millisecond}, false)
	assert.Equal(t, 1.0, f.Calls)
	assert.Zero(t, f.Throttle)
	assert.Zero(t, f.limiter.Count())
	assert.Contains(t, strings.Join(f.Unidentified, "; "), "all the process's calls waited 10s each")
}

// A limit that nobody told of is no tighter than the calls' waits for it tell: a queue that
// doesn't grow is carried under it.
func TestUntoldLimitCarriesTheLoad(t *testing.T) {
	d := system{rate: 10, service: exponentially(0.05), mean: 0.05, workers: 2, calls: 1, latency: 0.005, qps: 100, tokens: 100}.run(*seed, 300).delta(t)
	d.Client.Limiter.Sum = 0.01 * d.Client.Limiter.Count()
	for qps, told := range map[float64]string{0: "said to be none", 5: "more than a QPS of 5"} {
		given := predict.Current{Settings: predict.Settings{Workers: 2, QPS: qps, Burst: 1}, Told: map[string]string{"workers": "given", "qps": "given", "burst": "given"}}
		f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(given, d.Queues["q"]), Options{}, false)
		assert.Contains(t, strings.Join(f.Doubts, "; "), told)
		assert.InDelta(t, 28, f.Current.QPS, 4)
		assert.Equal(t, f.Current.Settings, f.Recommended, "also where the search doesn't come so far")
		load, _ := f.Demand(f.Current.Settings)
		assert.Less(t, load, 0.5)
		f.Measured.Grown = true
		assert.Equal(t, 10.0, f.limitBehind(10), "which let no more through")
	}
}

// Where no calls are known the client's limit stays as it is, and out of what is pasted.
func TestUnknownCallsLeaveTheLimit(t *testing.T) {
	d := system{rate: 5, service: exponentially(0.02), mean: 0.02, workers: 2}.run(*seed, 300).delta(t)
	given := predict.Current{Settings: predict.Settings{QPS: 40, Burst: 80}, Told: map[string]string{"qps": "given", "burst": "given"}}
	wanted := objectives(t, "api qps <= 20")
	for name, q := range d.Queues {
		f := newFit(d, q, defaults.ClientGo.Current(given, q), Options{Objectives: wanted}, false)
		require.Equal(t, 40.0, f.Current.QPS, name)
		require.Equal(t, 80, f.Current.Burst)
		require.Contains(t, strings.Join(f.Doubts, "; "), wanted[0].Text)
		a := advice.Advice{Model: f.Model, Recommended: f.Current.Settings, Now: &predict.Figures{Stable: true}}
		a.Explain(defaults.ClientGo)
		require.Len(t, a.Paste, 2)
		for _, s := range a.Paste {
			require.NotContains(t, s.Text, "config.QPS")
		}
	}
}

func TestBudgetKeepsWhatWasFound(t *testing.T) {
	s := system{rate: 85, service: exponentially(0.05), mean: 0.05, workers: 5}
	r, err := Metrics(t.Context(), s.run(*seed, 120).delta(t), Options{Current: s.given(), Budget: time.Millisecond, Seed: 1})
	require.NoError(t, err)
	assert.Equal(t, "budget", r.Stopped)
	assert.InDelta(t, 85, r.Queues[0].Model.ArrivalRate, 5)
	assert.NotEmpty(t, r.Queues[0].Summary)
	_, err = json.Marshal(r)
	assert.NoError(t, err)
}

// A fit that is cut short advises from what it tried, where that explains the waits: here
// the time, which is virtual, goes by while few keys are tried, beside arrivals at random.
func TestBudgetEndsTheFit(t *testing.T) {
	numbers(t)
	slow(t)
	s := system{rate: 14, service: lognormally(0.05, 1), mean: 0.05, workers: 2}
	d := s.run(1, 600).delta(t)
	synctest.Test(t, func(t *testing.T) {
		slept := false
		r, err := Metrics(t.Context(), d, Options{Current: s.given(), Budget: time.Hour, Seed: 1, Progress: func(p advice.Progress) {
			if !slept && strings.HasSuffix(p.Doing, ": few keys") {
				slept = true
				time.Sleep(40 * time.Minute)
			}
		}})
		require.NoError(t, err)
		a := r.Queues[0]
		assert.True(t, slept)
		assert.Equal(t, "budget", r.Stopped)
		assert.Contains(t, strings.Join(a.Doubts, "; "), "the time for the fit was over")
		assert.NotNil(t, a.Then)
		assert.NotEmpty(t, a.Curves)
		assert.InDelta(t, 0.05, a.Model.Service, 0.005)
	})
}

// One that is cut short before anything was found says what the counters tell.
func TestBudgetEndsTheFitAtOnce(t *testing.T) {
	s := system{rate: 14, service: lognormally(0.05, 1), mean: 0.05, workers: 2}
	d := s.run(1, 600).delta(t)
	synctest.Test(t, func(t *testing.T) {
		more := advice.Alternative{Text: "workers=4", Change: func(s *predict.Settings) { s.Workers = 4 }}
		r, err := Metrics(t.Context(), d, Options{Current: s.given(), Budget: time.Hour, Seed: 1, Objectives: objectives(t, "p99 queue wait < 50ms"), WhatIf: []advice.Alternative{more}, Progress: func(p advice.Progress) {
			if strings.HasSuffix(p.Doing, ": arrivals at random") {
				time.Sleep(40 * time.Minute)
			}
		}})
		require.NoError(t, err)
		a := r.Queues[0]
		assert.Equal(t, "budget", r.Stopped)
		assert.Nil(t, a.Now)
		assert.Nil(t, a.Reproduction)
		assert.Equal(t, []advice.WhatIf{{Text: "workers=4"}}, a.WhatIf, "what was asked for is not forgotten")
		assert.Empty(t, a.Paste)
		assert.Equal(t, a.Current.Settings, a.Recommended)
		assert.Contains(t, a.Summary, "The search ended before anything was predicted. Not reached: p99 queue wait < 50ms")
		assert.InEpsilon(t, 14, a.Model.ArrivalRate, 0.1)
	})
}

// So does one that is cut short among the forms of bursts: those that were tried by then
// explain the waits, and arrivals at random don't.
func TestBudgetEndsTheFitOfBursts(t *testing.T) {
	numbers(t)
	slow(t)
	s := system{rate: 40, service: exponentially(0.05), mean: 0.05, workers: 4, batch: 20}
	d := s.run(1, 300).delta(t)
	synctest.Test(t, func(t *testing.T) {
		slept := false
		r, err := Metrics(t.Context(), d, Options{Current: s.given(), Budget: time.Hour, Seed: 1, Progress: func(p advice.Progress) {
			if !slept && strings.HasSuffix(p.Doing, ": two rates in turn") {
				slept = true
				time.Sleep(40 * time.Minute)
			}
		}})
		require.NoError(t, err)
		a := r.Queues[0]
		assert.True(t, slept)
		assert.Equal(t, "budget", r.Stopped)
		assert.Contains(t, strings.Join(a.Doubts, "; "), "the time for the fit was over")
		assert.Contains(t, a.Model.Bursts, "in bursts of")
		require.NotNil(t, a.Then)
		assert.InEpsilon(t, 0.94, a.Now.Wait.P99.Mean, 0.4)
	})
}

func TestWorkload(t *testing.T) {
	numbers(t)
	spec, err := loadgen.ParseSpec("w.yaml", []byte(`
name: two
seed: 1
duration: 5m
resources:
- {name: a, kind: custom, count: 500, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: poisson, rate: 40}}}
reconcile: {workers: 3, service: exp(50ms), failure: 0.05}
`))
	require.NoError(t, err)
	r, err := Workload(t.Context(), spec, nil, Options{Objectives: objectives(t, "p99 queue wait < 20ms"), Seed: 1})
	require.NoError(t, err)
	a := r.Queues[0]
	require.NotNil(t, a.Then)
	assert.Greater(t, a.Recommended.Workers, 4)
	assert.Less(t, a.Then.Wait.P99.Mean, 0.022)
	assert.InDelta(t, 40, a.Model.RawRate, 2)

	spec.Reconcile.Workers, spec.Resources[0].Count = 1, 20_000
	r, err = Workload(t.Context(), spec, nil, Options{Seed: 1})
	require.NoError(t, err)
	assert.Regexp(t, `^the load is 1[5-9]\d% of what the current settings can carry \(workers\): waits grow .*; stable from [23] workers on$`, r.Queues[0].Unstable)

	spec.Reconcile.Service = randvar.Dist{}
	_, err = Workload(t.Context(), spec, nil, Options{})
	assert.ErrorContains(t, err, "reconcile.service: missing")
}
