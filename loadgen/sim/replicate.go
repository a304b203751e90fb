package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
)

// Replicas are several simulations of one configuration with different seeds.
type Replicas struct {
	Results []Result `json:"results"` // in the order of their seeds, whatever order they ended in
}

// maxReplicas is more than make any interval narrower, and few enough to hold in memory.
const maxReplicas = 10_000

// Replicate runs n simulations, as many at a time as there are processors, with
// seeds drawn from the configuration's. It fails with the first of them; when the
// context ends, the error comes with the results so far. The configuration can't
// hold Arrivals, of which every simulation needs its own; see [ReplicateFunc].
func Replicate(ctx context.Context, c Config, n int) (Replicas, error) {
	if c.Arrivals != nil {
		return Replicas{}, errors.New("sim: one Arrivals can't serve several simulations")
	}
	return ReplicateFunc(ctx, c, n, func(uint64) Arrivals { return nil })
}

// ReplicateFunc is Replicate with arrivals made for each simulation from its
// seed; nil ones are the spec's schedule.
func ReplicateFunc(ctx context.Context, c Config, n int, arrivals func(seed uint64) Arrivals) (Replicas, error) {
	if n < 1 || n > maxReplicas {
		return Replicas{}, fmt.Errorf("sim: replicas: found %d, expected 1 to %d", n, maxReplicas)
	}
	if err := c.prepare(); err != nil {
		return Replicas{}, fmt.Errorf("sim: %w", err)
	}
	seeds := rand.New(rand.NewPCG(c.Seed, 0x5eed))
	configs := make([]Config, n)
	for i := range configs {
		configs[i] = c
		configs[i].Seed = seeds.Uint64() | 1
	}
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]Result, n)
	done := make([]bool, n)
	work := make(chan int)
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range work {
				configs[i].Arrivals = arrivals(configs[i].Seed)
				r, err := Run(running, configs[i])
				if err != nil {
					cancel(err)
				}
				results[i], done[i] = r, err == nil
			}
		})
	}
	for i := range configs {
		work <- i
	}
	close(work)
	wg.Wait()
	var complete Replicas
	for i, r := range results {
		if done[i] {
			complete.Results = append(complete.Results, r)
		}
	}
	switch {
	case ctx.Err() != nil:
		return complete, ctx.Err()
	case running.Err() != nil:
		return Replicas{}, context.Cause(running)
	}
	return complete, nil
}

// An Interval is a mean over replicas with its 95% confidence interval. With
// one replica it has no width, and is not known.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Interval is of any figure of the results, by Student's t.
func (r Replicas) Interval(figure func(Result) float64) Interval {
	n := float64(len(r.Results))
	mean, squares := 0.0, 0.0
	for _, result := range r.Results {
		mean += figure(result) / n
	}
	for _, result := range r.Results {
		squares += (figure(result) - mean) * (figure(result) - mean)
	}
	if n < 2 {
		return Interval{mean, mean, mean}
	}
	half := student(int(n)-1) * math.Sqrt(squares/(n-1)/n)
	return Interval{mean, mean - half, mean + half}
}

// student is the 97.5th percentile of Student's t with so many degrees of
// freedom: exact up to two, then by the expansion of Cornish and Fisher, which
// is good to 1% at three and to 0.01% at ten.
func student(freedom int) float64 {
	switch freedom {
	case 1:
		return 12.7062
	case 2:
		return 4.30265
	}
	const z = 1.959964
	n := float64(freedom)
	return z + (z*z*z+z)/(4*n) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*n*n) +
		(3*math.Pow(z, 7)+19*math.Pow(z, 5)+17*z*z*z-15*z)/(384*n*n*n)
}
