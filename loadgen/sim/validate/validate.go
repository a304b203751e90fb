// Package validate compares simulations with queueing theory.
//
//  1. A [Model] is a system whose mean wait has a formula: M/M/c by Erlang,
//     M/G/1 by Pollaczek and Khinchine, M/D/c by Crommelin.
//  2. [Theory] simulates each with package sim, in replicas, and puts the mean
//     wait for a worker, with its interval, beside the formula's; and the waits
//     for a token bucket beside those of its definition.
package validate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/informerbench/informerbench/loadgen/sim"
	"k8s.io/apimachinery/pkg/watch"
)

// A Model is a queue with Poisson arrivals, and the mean wait that theory knows.
type Model struct {
	Name        string
	Workers     int
	Utilisation float64
	Service     string        // distribution, as randvar reads it
	Wait        time.Duration // mean, by theory
}

// A Row is a model and what its simulation found.
type Row struct {
	Model       string        `json:"model"`
	Workers     int           `json:"workers"`
	Utilisation float64       `json:"utilisation"`
	Service     string        `json:"service"`
	Theory      time.Duration `json:"theoryNanoseconds"`
	Simulated   sim.Interval  `json:"simulatedSeconds"`
	Difference  float64       `json:"difference"` // of the simulated mean, as a share of theory
	Arrivals    int64         `json:"arrivals"`   // simulated
}

// tolerance is the difference that is still agreement.
const tolerance = 0.02

// Agrees reports whether the difference is within the tolerance.
func (r Row) Agrees() bool { return math.Abs(r.Difference) <= tolerance }

// service is the mean service time of all models.
const service = 10 * time.Millisecond

// Models lists the systems: each kind at low, high and very high utilisation.
func Models() []Model {
	var models []Model
	add := func(name string, c int, utilisation float64, text string, wait float64) {
		models = append(models, Model{name, c, utilisation, text, time.Duration(wait * float64(service))})
	}
	for _, u := range []float64{0.5, 0.8, 0.95} {
		for _, c := range []int{1, 5, 20} {
			a := u * float64(c)
			add(fmt.Sprintf("M/M/%d", c), c, u, fmt.Sprintf("exp(%v)", service), waitMMC(c, a))
			add(fmt.Sprintf("M/D/%d", c), c, u, fmt.Sprint(service), waitMDC(c, a))
		}
		for _, cv := range []float64{0.5, 2} {
			add("M/G/1", 1, u, fmt.Sprintf("gamma(%v, %v)", service, cv), waitMG1(u, cv))
		}
		median, sigma := service.Seconds()*math.Exp(-0.5), 1.0 // so that the mean is the service time
		p99 := median * math.Exp(sigma*2.3263478740408408)
		add("M/G/1", 1, u, fmt.Sprintf("lognormal(%v, %v)", nanoseconds(median), nanoseconds(p99)),
			waitMG1(u, math.Sqrt(math.E-1)))
	}
	return models
}

func nanoseconds(s float64) time.Duration { return time.Duration(s * 1e9) }

// Options say how long Theory simulates each model: in batches of replicas until
// the interval of the mean is narrow enough, or enough is enough.
type Options struct {
	Seed      uint64
	Arrivals  int     // a replica; at very high utilisation five times as many
	Batch     int     // replicas between two looks at the interval
	Most      int     // replicas
	Precision float64 // wanted half width of the interval, as a share of theory
	// Done, if not nil, is called after each model.
	Done func(Row)
}

// Theory simulates the models, and then the token bucket. What it returns
// together with an error are the rows so far.
func Theory(ctx context.Context, models []Model, o Options) ([]Row, error) {
	var rows []Row
	for _, m := range models {
		row, err := m.simulate(ctx, o)
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
		if o.Done != nil {
			o.Done(row)
		}
	}
	row, err := bucket(ctx)
	if err != nil {
		return rows, err
	}
	return append(rows, row), nil
}

func (m Model) simulate(ctx context.Context, o Options) (Row, error) {
	spec, err := m.spec()
	if err != nil {
		return Row{}, err
	}
	arrivals := o.Arrivals
	if m.Utilisation > 0.9 {
		arrivals *= 5
	}
	rate := m.Utilisation * float64(m.Workers) / service.Seconds()
	until := time.Duration(float64(arrivals) / rate * 1e9)
	config := sim.Config{Spec: spec, Warmup: until / 20, Until: until, Store: free, MaxEvents: int64(arrivals) * 10}
	seeds := rand.New(rand.NewPCG(o.Seed, 0))
	row := Row{Model: m.Name, Workers: m.Workers, Utilisation: m.Utilisation, Service: m.Service, Theory: m.Wait}
	var all sim.Replicas
	for len(all.Results) < o.Most {
		config.Seed = seeds.Uint64() | 1
		more, err := sim.ReplicateFunc(ctx, config, o.Batch, func(seed uint64) sim.Arrivals {
			return &poissonArrivals{random: rand.New(rand.NewPCG(seed, 99)), gap: 1e9 / rate}
		})
		if err != nil {
			return Row{}, err
		}
		for _, r := range more.Results {
			row.Arrivals += r.Arrivals
			all.Results = append(all.Results, r)
		}
		row.Simulated = all.Interval(func(r sim.Result) float64 { return r.QueueWait.Mean().Seconds() })
		if row.Simulated.High-row.Simulated.Low <= 2*o.Precision*m.Wait.Seconds() {
			break
		}
	}
	row.Difference = row.Simulated.Mean/m.Wait.Seconds() - 1
	return row, nil
}

// free is a store that costs nothing.
var free = sim.Store{Processors: 1}

// bucket asks a client that may send 20 a second, 30 at once, for 1,000 calls at
// the same time: the n-th waits (n-30)/20 s, exactly.
func bucket(ctx context.Context) (Row, error) {
	const calls, qps, burst = 1000, 20, 30
	one, err := randvar.Parse("1")
	if err != nil {
		return Row{}, err
	}
	m := Model{Name: "token bucket", Workers: calls, Service: "0s"}
	spec, err := m.spec()
	if err != nil {
		return Row{}, err
	}
	spec.Resources[0].Events.Arrivals.Rate = 0
	spec.Resources[0].Count, spec.Resources[0].Events.Count = calls, calls
	spec.Reconcile.Calls, spec.Reconcile.QPS, spec.Reconcile.Burst = one, qps, burst
	r, err := sim.Run(ctx, sim.Config{Spec: spec, Store: free, Arrivals: &together{n: calls}})
	if err != nil {
		return Row{}, err
	}
	wait := time.Duration(0)
	for n := range calls {
		wait += time.Duration(max(0, n+1-burst)) * time.Second / qps
	}
	mean := r.Throttle.Mean().Seconds()
	row := Row{Model: m.Name, Workers: calls, Service: m.Service, Theory: wait / calls, Arrivals: r.Arrivals,
		Simulated: sim.Interval{Mean: mean, Low: mean, High: mean}}
	row.Difference = mean/row.Theory.Seconds() - 1
	return row, nil
}

// together is n keys at time 0.
type together struct{ n, next uint32 }

func (t *together) Next() (loadgen.Draw, bool) {
	t.next++
	return loadgen.Draw{Key: t.next, Type: watch.Modified}, t.next <= t.n
}

func (m Model) spec() (*loadgen.Spec, error) {
	dist, err := randvar.Parse(m.Service)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name, err)
	}
	return &loadgen.Spec{
		Name: m.Name, Seed: 1, Duration: time.Second,
		Resources: []loadgen.Resource{{Count: 1, Events: loadgen.Events{Mix: loadgen.Mix{Update: 1}, Arrivals: loadgen.Arrivals{Rate: 1}}}},
		Reconcile: loadgen.Reconcile{Workers: m.Workers, Service: dist},
	}, nil
}

// poissonArrivals never ends. Its keys come again after so many arrivals that
// none is queued still.
type poissonArrivals struct {
	random *rand.Rand
	gap    float64 // nanoseconds
	at     float64
	key    uint32
}

func (p *poissonArrivals) Next() (loadgen.Draw, bool) {
	p.at += randvar.Exp(p.random) * p.gap
	p.key = (p.key + 1) & 0xffff
	return loadgen.Draw{At: time.Duration(p.at), Key: p.key, Type: watch.Modified}, true
}
