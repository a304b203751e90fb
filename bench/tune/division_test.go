package tune

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sharedRun simulates queues of one process, of which each has its workers and keys that
// differ, behind the first one's limit, in a few plain lines.
func sharedRun(seed uint64, span float64, queues ...system) []observed {
	type happens struct {
		at         float64
		queue      int
		left       int // calls; -1: an arrival
		got, since float64
	}
	r := rand.New(rand.NewPCG(seed, 11))
	warm := min(span/5, 600)
	seen := make([]observed, len(queues))
	waiting := make([][]float64, len(queues))
	idle := make([]int, len(queues))
	tokens, filled := float64(queues[0].tokens), 0.0
	var heap agenda
	var all []happens
	var free []int
	push := func(h happens) {
		if len(free) == 0 {
			all, free = append(all, h), append(free, len(all))
		}
		at := free[len(free)-1]
		free = free[:len(free)-1]
		all[at] = h
		heap.push(happening{at: h.at, key: at})
	}
	for i, s := range queues {
		seen[i].span, seen[i].bounds, idle[i] = span, workBounds, s.workers
		push(happens{at: r.ExpFloat64() / s.rate, queue: i, left: -1})
	}
	for {
		next := heap.pop().key
		h := all[next]
		free = append(free, next)
		s, x := queues[h.queue], &seen[h.queue]
		if h.at > warm+span {
			return seen
		}
		counts := h.at > warm
		switch {
		case h.left < 0:
			waiting[h.queue] = append(waiting[h.queue], h.at)
			if counts {
				x.adds++
			}
			push(happens{at: h.at + r.ExpFloat64()/s.rate, queue: h.queue, left: -1})
		case h.left > 0:
			tokens = min(float64(queues[0].tokens), tokens+(h.at-filled)*queues[0].qps) - 1
			filled = h.at
			wait, latency := max(0, -tokens/queues[0].qps), r.ExpFloat64()*s.latency
			if counts {
				x.limiter, x.request = append(x.limiter, wait), append(x.request, wait+latency)
			}
			push(happens{h.at + wait + latency, h.queue, h.left - 1, h.got, h.since})
		default:
			idle[h.queue]++
			if counts {
				x.work = append(x.work, h.at-h.got)
			}
		}
		for idle[h.queue] > 0 && len(waiting[h.queue]) > 0 {
			since := waiting[h.queue][0]
			waiting[h.queue] = waiting[h.queue][1:]
			idle[h.queue]--
			if counts {
				x.wait = append(x.wait, h.at-since)
			}
			push(happens{h.at + s.service(r), h.queue, s.calls, h.at, since})
		}
	}
}

// By the time that it worked, short work among long gets too few of the calls that both
// make: the waits tell better.
func TestSharedCallsByTheWaits(t *testing.T) {
	numbers(t)
	short := system{rate: 20, service: exponentially(0.005), mean: 0.005, calls: 1, workers: 2, latency: 0.005, qps: 33, tokens: 10}
	long := system{rate: 10, service: exponentially(0.1), mean: 0.1, calls: 1, workers: 6, latency: 0.005}
	d := both(t, sharedRun(*seed, 600, short, long), 600)
	f := newFit(d, d.Queues["a"], defaults.ClientGo.Current(short.given(), d.Queues["a"]), Options{}, false)
	assert.Less(t, f.Calls, 0.5, "by time")
	require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
	assert.InDelta(t, 1, f.Calls, 0.2)
	assert.InDelta(t, 30, f.CallRate+f.Background, 1, "all calls are made")
	assert.InEpsilon(t, 0.01, f.Busy, 0.3)
	assert.Contains(t, strings.Join(f.Unidentified, "; "), undivided+": the client's counters hold those of all queues; of 0.02 to 1.")
	assert.Equal(t, 1, strings.Count(strings.Join(f.Unidentified, "; "), undivided))
	others := 0
	for _, m := range f.Posterior.Members {
		if math.Abs(m.System.MeanCalls()-1) > 0.3 {
			others++
		}
	}
	assert.Less(t, others, len(f.Posterior.Members)/3, "most make as many")

	// With --calls nothing is open.
	f = newFit(d, d.Queues["a"], defaults.ClientGo.Current(short.given(), d.Queues["a"]), Options{Calls: 1}, false)
	require.Len(t, f.hypotheses(), 1)
	assert.Equal(t, 1.0, f.hypotheses()[0].Mean())
}

// Nothing counts whose the calls are that several queues make through one limit. The
// waits tell them, or it is said that they don't: the interval holds the truth.
func TestSharedCallsAreDivided(t *testing.T) {
	if *known == 1 {
		t.Skip("takes minutes: run with -known 2 or more")
	}
	numbers(t)
	q := func(rate, mean float64, calls, workers int) system {
		return system{rate: rate, service: exponentially(mean), mean: mean, calls: calls, workers: workers, latency: 0.005}
	}
	for _, c := range []struct {
		name   string
		qps    float64
		a, b   system
		factor float64 // of the 99th percentile of the wait, unless it is far below the work
	}{
		{"fewer than the other", 44, q(10, 0.05, 1, 3), q(10, 0.05, 3, 6), 10},
		{"more than the other", 44, q(10, 0.05, 3, 4), q(10, 0.05, 1, 6), 2},
		{"slower", 33, q(10, 0.1, 1, 3), q(20, 0.005, 1, 6), 1.6},
		{"faster", 33, q(20, 0.005, 1, 2), q(10, 0.1, 1, 6), 1.6},
		{"all", 16.5, q(5, 0.02, 3, 3), q(30, 0.05, 0, 4), 2.2},
		{"none", 16.5, q(30, 0.05, 0, 3), q(5, 0.02, 3, 4), 2.2},
		{"no limit", 100, q(10, 0.05, 1, 2), q(10, 0.05, 3, 6), 1.25},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.a.qps, c.a.tokens = c.qps, 10
			d := both(t, sharedRun(*seed, 1200, c.a, c.b), 1200)
			f := newFit(d, d.Queues["a"], defaults.ClientGo.Current(c.a.given(), d.Queues["a"]), Options{Seed: *seed, Queues: predict.MeasuredQueues}, false)
			byTime := f.Calls
			require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
			t.Logf("%.3g calls of %d, by time %.3g; %s; %s", f.Calls, c.a.calls, byTime, f.Bursts, strings.Join(f.Unidentified, "; "))
			for _, change := range []func(*system){func(*system) {}, func(s *system) { s.workers++ }, func(s *system) { s.qps *= 1.4 }, func(s *system) { s.workers++; s.qps *= 1.4 }} {
				y := c.a
				change(&y)
				var list []float64
				for n := range uint64(3) {
					list = append(list, percentile(sharedRun(1000+n, 6000, y, c.b)[0].wait, 0.99))
				}
				truth, _ := moments(list)
				z := f.Current.Settings
				z.Workers, z.QPS = y.workers, y.qps
				p, err := f.Predict(t.Context(), z, predict.Finest, *seed)
				require.NoError(t, err)
				x := p.Wait.P99
				t.Logf("%s: p99 %.3g [%.3g, %.3g], true %.3g", z.Brief(), x.Mean, x.Low, x.High, truth)
				// What is a tenth of the work can't be felt beside it.
				least := 0.1 * f.Work
				assert.Less(t, math.Abs(math.Log((x.Mean+least)/(truth+least))), math.Log(c.factor), z.Brief())
				assert.True(t, x.Low < 1.1*truth+least && truth < 1.1*x.High+least, "the interval holds the truth: %s", z.Brief())
			}
		})
	}
}

func both(t *testing.T, seen []observed, span float64) *scrape.Delta {
	s, err := scrape.Parse("m", strings.NewReader(text([]string{"a", "b"}, seen)))
	require.NoError(t, err)
	d, err := scrape.Since(s[0], time.Duration(span*1e9))
	require.NoError(t, err)
	return d
}
