// Package validate compares simulations with queueing theory.
//
//  1. A [Model] is a system whose mean wait has a formula: M/M/c by Erlang,
//     M/G/1 by Pollaczek and Khinchine, M/D/c by Crommelin.
//  2. [Theory] simulates each with package sim, in replicas, and puts the mean
//     wait for a worker, with its interval, beside the formula's.
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
}

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
			add(fmt.Sprintf("M/M/%d", c), c, u, fmt.Sprintf("exp(%v)", service), WaitMMC(c, a))
			add(fmt.Sprintf("M/D/%d", c), c, u, fmt.Sprint(service), WaitMDC(c, a))
		}
		for _, cv := range []float64{0.5, 2} {
			add("M/G/1", 1, u, fmt.Sprintf("gamma(%v, %v)", service, cv), WaitMG1(u, cv))
		}
		median, sigma := service.Seconds()*math.Exp(-0.5), 1.0 // so that the mean is the service time
		p99 := median * math.Exp(sigma*2.3263478740408408)
		add("M/G/1", 1, u, fmt.Sprintf("lognormal(%v, %v)", nanoseconds(median), nanoseconds(p99)),
			WaitMG1(u, math.Sqrt(math.E-1)))
	}
	return models
}

func nanoseconds(s float64) time.Duration { return time.Duration(s * 1e9) }

// Theory simulates the models in so many replicas of so many arrivals each.
func Theory(ctx context.Context, models []Model, seed uint64, replicas, arrivals int) ([]Row, error) {
	var rows []Row
	for _, m := range models {
		spec, err := m.spec(seed)
		if err != nil {
			return rows, err
		}
		rate := m.Utilisation * float64(m.Workers) / service.Seconds()
		until := time.Duration(float64(arrivals) / rate * 1e9)
		config := sim.Config{Spec: spec, Warmup: until / 20, Until: until, Store: sim.Store{Processors: 1}, MaxEvents: int64(arrivals) * 10}
		r, err := sim.ReplicateFunc(ctx, config, replicas, func(seed uint64) sim.Arrivals {
			return &poissonArrivals{random: rand.New(rand.NewPCG(seed, 99)), gap: 1e9 / rate}
		})
		if err != nil {
			return rows, err
		}
		wait := r.Interval(func(r sim.Result) float64 { return r.QueueWait.Mean().Seconds() })
		rows = append(rows, Row{m.Name, m.Workers, m.Utilisation, m.Service, m.Wait, wait, wait.Mean/m.Wait.Seconds() - 1})
	}
	return rows, nil
}

func (m Model) spec(seed uint64) (*loadgen.Spec, error) {
	dist, err := randvar.Parse(m.Service)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name, err)
	}
	return &loadgen.Spec{
		Name: m.Name, Seed: seed, Duration: time.Second,
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
