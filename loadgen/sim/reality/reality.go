// Package reality compares simulations with drives of the same controller in
// real time.
//
//  1. How long an idle worker takes to wake up on this machine is measured, as
//     nothing in a specification says.
//  2. [Compare] drives a controller on client-go's queue at some utilisations,
//     with events at random and in bursts, and simulates it with the same
//     events and the same service times. At half the utilisation most events
//     that come at random find an idle worker; of bursts they wait.
//  3. A [Row] holds both queue waits beside each other.
package reality

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/drive"
	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/informerbench/informerbench/loadgen/sim"
	"k8s.io/client-go/util/workqueue"
)

// Options say what is compared.
type Options struct {
	Arrivals     []string      // of events: poisson, onoff (bursts)
	Utilisations []float64     // of the workers, below 1, for each of Arrivals
	Workers      int           // concurrent reconciles
	Service      randvar.Dist  // seconds of a reconcile
	Duration     time.Duration // of each drive
	Seed         uint64
	// Done, if not nil, is called after each drive.
	Done func(Row)
}

// A Row is one drive and its simulation.
type Row struct {
	Arrivals     string        `json:"arrivals"`
	Utilisation  float64       `json:"utilisation"`
	Reconciles   int64         `json:"reconciles"`
	Handover     time.Duration `json:"handoverNanoseconds"` // as measured before the drive
	DrivenP50    time.Duration `json:"drivenP50Nanoseconds"`
	SimulatedP50 time.Duration `json:"simulatedP50Nanoseconds"`
	DrivenP99    time.Duration `json:"drivenP99Nanoseconds"`
	SimulatedP99 time.Duration `json:"simulatedP99Nanoseconds"`
	Warnings     []string      `json:"warnings,omitempty"` // of the drive
}

// tolerance is the difference that is still agreement.
const tolerance = 0.15

// Agrees reports whether the simulated p50 and p99 are near the driven ones: by
// the tolerance or, where hardly anything waits, by fifty microseconds.
func (r Row) Agrees() bool {
	near := func(simulated, driven time.Duration) bool {
		difference := (simulated - driven).Abs()
		return difference <= 50*time.Microsecond || difference.Seconds() <= tolerance*driven.Seconds()
	}
	return near(r.SimulatedP50, r.DrivenP50) && near(r.SimulatedP99, r.DrivenP99)
}

// Compare drives and simulates all arrivals at each utilisation in turn. What it
// returns together with an error are the rows so far.
func Compare(ctx context.Context, o Options) ([]Row, error) {
	for _, utilisation := range o.Utilisations {
		if !(utilisation > 0 && utilisation < 1) {
			return nil, fmt.Errorf("utilisation: found %v, expected more than 0 and less than 1", utilisation)
		}
	}
	for _, kind := range o.Arrivals {
		if _, ok := arrivals[kind]; !ok {
			return nil, fmt.Errorf("arrivals: found %q, expected %s", kind, strings.Join(Kinds(), " or "))
		}
	}
	var rows []Row
	for _, kind := range o.Arrivals {
		for _, utilisation := range o.Utilisations {
			row, err := o.compare(ctx, kind, utilisation)
			if err != nil {
				return rows, err
			}
			rows = append(rows, row)
			if o.Done != nil {
				o.Done(row)
			}
		}
	}
	return rows, nil
}

// arrivals are what events may come like, but for their rate.
var arrivals = map[string]loadgen.Arrivals{
	"poisson": {},
	// A second of twice the rate, a second of nothing.
	"onoff": {Kind: "onoff", On: second, Off: second},
}

var second, _ = randvar.Parse("exp(1s)") // known to be well formed

// Kinds are the arrivals that [Compare] knows.
func Kinds() []string { return slices.Sorted(maps.Keys(arrivals)) }

func (o Options) compare(ctx context.Context, kind string, utilisation float64) (Row, error) {
	row := Row{Arrivals: kind, Utilisation: utilisation, Handover: handover(200)}
	spec := o.spec(kind, utilisation)
	warmup := o.Duration / 10
	driven, err := drive.Run(ctx, drive.Config{Workload: spec.Name, Spec: spec, Seed: o.Seed, Speed: 1, Warmup: warmup})
	if err != nil {
		return row, err
	}
	if ctx.Err() != nil {
		return row, ctx.Err()
	}
	simulated, err := sim.Run(ctx, sim.Config{Spec: spec, Seed: o.Seed, Warmup: warmup, Handover: row.Handover})
	if err != nil {
		return row, err
	}
	wait := driven.Latency(drive.QueueWait)
	row.Reconciles, row.Warnings = wait.Count, driven.Warnings
	row.DrivenP50, row.DrivenP99 = wait.At(0.5), wait.At(0.99)
	row.SimulatedP50, row.SimulatedP99 = simulated.QueueWait.Quantile(0.5), simulated.QueueWait.Quantile(0.99)
	return row, nil
}

// spec is a load of small objects, many enough that few changes coalesce.
func (o Options) spec(kind string, utilisation float64) *loadgen.Spec {
	rate := utilisation * float64(o.Workers) / o.Service.Mean()
	events := loadgen.Events{Mix: loadgen.Mix{Update: 1}, Arrivals: arrivals[kind]}
	events.Arrivals.Rate = rate
	return &loadgen.Spec{
		Name: fmt.Sprintf("%s-%v", kind, utilisation), Seed: o.Seed, Duration: o.Duration,
		Resources: []loadgen.Resource{{
			Kind: "metadata", Count: int(max(1000, 100*rate)), Namespaces: 10,
			Events: events,
		}},
		Reconcile: loadgen.Reconcile{Workers: o.Workers, Service: o.Service},
	}
}

// handover is the median time from Add to Get of n items that come one by one,
// to a worker that sleeps at client-go's queue.
func handover(n int) time.Duration {
	q := workqueue.NewTyped[time.Time]()
	waits := make(chan time.Duration)
	go func() {
		defer close(waits)
		for {
			added, shutdown := q.Get()
			if shutdown {
				return
			}
			wait := time.Since(added)
			q.Done(added)
			waits <- wait
		}
	}()
	var all durations.Histogram
	ticker := time.NewTicker(time.Millisecond) // so that the worker falls asleep
	defer ticker.Stop()
	for range n {
		<-ticker.C
		q.Add(time.Now())
		all.Record(<-waits)
	}
	q.ShutDown()
	<-waits
	return all.Quantile(0.5)
}
