package tune

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/require"
)

var (
	fresh     = flag.Int("fresh", 0, "how many fresh systems the advice is judged with")
	freshFrom = flag.Uint64("fresh-from", 1, "seed of the first of them")
	freshKind = flag.String("fresh-kind", "", "of these kinds alone, as in batch,on/off")
	scrapings = flag.String("scrapings", "2,20,200", "how many scrapes each is measured with")
	page      = flag.String("page", "", "file of the judgement")
)

// kinds are drawn in turn.
var kinds = []string{"plain", "limited", "failing", "batch", "on/off", "few keys"}

// freshSystem draws a controller that no part of the package was written for. All of them
// are between a fifth and nine tenths busy.
func freshSystem(seed uint64) (kind string, s system) {
	r := rand.New(rand.NewPCG(seed, 0xf4e54))
	between := func(low, high float64) float64 { return low * math.Pow(high/low, r.Float64()) }
	kind = kinds[seed%uint64(len(kinds))]
	s = system{name: fmt.Sprintf("%s %d", kind, seed), mean: between(0.003, 0.4), workers: 1 + int(between(1, 12))}
	switch r.IntN(3) {
	case 0:
		s.service = exponentially(s.mean)
	case 1:
		s.service = lognormally(s.mean, between(0.4, 2.5))
	case 2:
		short, share := s.mean*between(0.1, 0.8), between(0.03, 0.4)
		s.service = bimodally(short, (s.mean-(1-share)*short)/share, share)
	}
	load := 0.2 + 0.65*r.Float64()
	switch kind {
	case "limited":
		s.calls, s.latency = 1+r.IntN(4), between(0.003, 0.03)
	case "failing":
		s.failure = between(0.03, 0.4)
	case "batch", "on/off":
		load = 0.15 + 0.5*r.Float64()
	}
	s.rate = load * float64(s.workers) / (s.mean + float64(s.calls)*s.latency) * (1 - s.failure)
	if kind == "failing" {
		s.rate = min(s.rate, 7*(1-s.failure)/s.failure) // the bucket of retries holds ten a second
	}
	switch kind {
	case "limited":
		s.qps = s.rate * float64(s.calls) * between(1.08, 1.8)
		s.tokens = 1 + int(s.qps*between(0.3, 2))
	case "batch":
		s.batch = 2 + int(between(1, 60))
		s.alone = []float64{0, 0.2, 0.5}[r.IntN(3)]
	case "on/off":
		share := between(0.1, 0.6)
		cycle := between(2, 120)
		if s.burst = bursting(share*cycle, (1-share)*cycle); r.IntN(3) == 0 {
			s.burst = regularly(share*cycle, (1-share)*cycle)
		}
	case "few keys":
		s.keys = max(2*s.workers, int(s.rate*s.mean*between(4, 60)))
		s.untold = r.IntN(2) == 0
	}
	return kind, s
}

// minutes is for how long a system is measured: an hour of what does little.
func (s system) minutes() float64 { return min(max(900, 6000/s.rate), 3600) }

// series is the delta of so many scrapes at even distances.
func (x observed) series(t *testing.T, scrapes int) *scrape.Delta {
	d := x.delta(t)
	if scrapes <= 2 {
		return d
	}
	q := d.Queues["q"]
	q.Steps = make([]scrape.Step, scrapes-1)
	span := x.span / float64(len(q.Steps))
	at := func(when float64) *scrape.Step { return &q.Steps[min(int(when/span), len(q.Steps)-1)] }
	for i := range q.Steps {
		q.Steps[i].Begin, q.Steps[i].Span = float64(i)*span, span
	}
	for _, when := range x.addedAt {
		at(when).Adds++
	}
	for i, when := range x.takenAt {
		at(when).Taken++
		at(when).Waited += x.wait[i]
	}
	for i, when := range x.doneAt {
		at(when).Done++
		at(when).Worked += x.work[i]
	}
	d.Queues["q"] = q
	return d
}

// A judgedSystem is what became of one.
type judgedSystem struct {
	kind           string
	scrapes        int
	exact          bool                 // rate, service time and utilisation within a tenth
	near, held, of int                  // predictions within a quarter, in their intervals, of all
	oracle         int                  // near, of the true system at the measured rate and mean work
	wished         bool                 // recommendations are judged, too
	cheap, kept    bool                 // what is recommended costs at most a tenth more than the best, and keeps its objective to a tenth
	took           time.Duration        // by the fit
	misses         map[string][]float64 // of each prediction by the form of arrivals: see missed
}

// missed is how far the truth lies from a prediction, in units of how far the end of its
// interval on that side does, of logarithms: up to 1 it is inside.
func missed(x predict.Interval, truth, least float64) float64 {
	log := func(v float64) float64 { return math.Log(least + v) }
	end := x.High
	if truth < x.Mean {
		end = x.Low
	}
	return math.Abs(log(truth)-log(x.Mean)) / max(1e-9, math.Abs(log(end)-log(x.Mean)))
}

// judge fits a system and compares its predictions with what it does.
func (s system) judge(t *testing.T, kind string, x observed, scrapes int, seed uint64) judgedSystem {
	d := x.series(t, scrapes)
	o := Options{Keys: s.keys, Seed: seed, Queues: predict.MeasuredQueues}
	if s.untold {
		o.Keys = 0
	}
	begin := time.Now()
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), o, false)
	require.NoError(t, f.explain(t.Context(), seed, func(string) {}))
	v := judgedSystem{kind: kind, scrapes: scrapes, took: time.Since(begin), misses: map[string][]float64{}}
	within := func(a, b float64) bool { return math.Abs(a/b-1) < 0.1 }
	rate := cmp.Or(f.RawRate, f.ArrivalRate)
	v.exact = within(rate, s.rate) && within(f.Service, s.mean) && within(average(x.work)*float64(len(x.work))/x.span/float64(s.workers), f.Utilisation)
	for _, change := range changes(s) {
		truth := change.truth(t, 0)
		if truth < 1e-3 {
			continue // where nobody waits
		}
		z := f.Current.Settings
		z.Workers, z.QPS = change.workers, change.qps
		figures, err := f.Predict(t.Context(), z, predict.Finest, seed)
		require.NoError(t, err)
		p99 := figures.Wait.P99
		near := func(x float64) bool { return math.Abs(x-truth) <= max(0.25*truth, 0.1*average(x0(s))) }
		v.of++
		form := f.Likely().Family
		v.misses[form] = append(v.misses[form], missed(p99, truth, 0.01*f.Busy))
		if near(p99.Mean) {
			v.near++
		}
		if p99.Low <= truth && truth <= p99.High {
			v.held++
		}
		t.Logf("%s, %d scrapes, %s: p99 %.4g [%.4g, %.4g], true %.4g (%+.0f%%); %s", s.name, scrapes, z.Brief(), p99.Mean, p99.Low, p99.High, truth, 100*(p99.Mean/truth-1), f.Bursts)
		if kind == "batch" || kind == "on/off" {
			known := change
			known.name += ", as measured"
			measured := float64(len(x.addedAt)) / x.span
			known.rate = measured
			if near(known.truth(t, 0)) {
				v.oracle++
			}
		}
	}
	if scrapes > 2 {
		return v // the search is the same
	}
	w := freshWish(t, s, seed)
	v.wished = true
	dearer, truth := w.judge(t, w.recommended(t, f, seed))
	v.cheap, v.kept = dearer <= 1.1, truth <= 1.1*w.bound
	return v
}

// freshWish draws an objective that some number of workers keeps by a little, of one to twice
// those that there are. It is given to two digits, as people do.
func freshWish(t *testing.T, s system, seed uint64) wish {
	r := rand.New(rand.NewPCG(seed, 0x3157))
	y := s
	y.workers = max(s.workers, int(math.Round(float64(s.workers)*(0.8+1.2*r.Float64()))))
	bound, err := strconv.ParseFloat(fmt.Sprintf("%.2g", max(0.005, y.truth(t, 0)*(1+0.3*r.Float64()))), 64)
	require.NoError(t, err)
	w := wish{system: s, objectives: []string{fmt.Sprintf("p99 queue wait < %vs", bound)}, bound: bound, maxQPS: math.Ceil(1.5 * s.qps)}
	if s.qps > 0 {
		w.objectives = append(w.objectives, fmt.Sprintf("api qps <= %v", w.maxQPS))
	}
	return w
}

func x0(s system) []float64 { return []float64{s.mean + float64(s.calls)*s.latency} }

// changes are the settings that a system is predicted for, except where a percent more
// load doubles the wait.
func changes(s system) (list []system) {
	busy, calls := s.rate*(s.mean+float64(s.calls)*s.latency)/(1-s.failure), s.rate*float64(s.calls)
	for _, change := range []func(*system){
		func(y *system) { y.workers++ },
		func(y *system) { y.workers *= 2 },
		func(y *system) { y.workers-- },
		func(y *system) { y.qps *= 1.4 },
	} {
		y := s
		if change(&y); y.workers < 1 || busy > 0.9*float64(y.workers) || y.qps > 0 && calls > 0.93*y.qps || y.workers == s.workers && y.qps == s.qps {
			continue
		}
		list = append(list, y)
	}
	return list
}

// TestFresh judges the advice on systems that are drawn for it, and writes the page.
func TestFresh(t *testing.T) {
	if *fresh == 0 {
		t.Skip("takes minutes: make judge runs it, or -fresh 12")
	}
	var lock sync.Mutex
	var all []judgedSystem
	t.Run("all", func(t *testing.T) {
		for n := range uint64(*fresh) {
			seed := *freshFrom + n
			kind, s := freshSystem(seed)
			if *freshKind != "" && !slices.Contains(strings.Split(*freshKind, ","), kind) {
				continue
			}
			t.Run(fmt.Sprintf("%s/seed=%d", kind, seed), func(t *testing.T) {
				t.Parallel()
				x := s.run(seed, s.minutes())
				for _, text := range strings.Split(*scrapings, ",") {
					var scrapes int
					_, err := fmt.Sscan(text, &scrapes)
					require.NoError(t, err)
					v := s.judge(t, kind, x, scrapes, seed)
					lock.Lock()
					all = append(all, v)
					lock.Unlock()
				}
			})
		}
	})
	text := judgement(all)
	t.Log("\n" + text)
	if *page != "" {
		require.NoError(t, os.WriteFile(*page, []byte(text), 0o666))
	}
}
