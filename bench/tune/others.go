package tune

import (
	"context"
	"math"
	"time"
)

// others tries the settings beside workers and client limits, each around the
// given ones, and takes what is better.
func (s *search) others(ctx context.Context, x Settings) (Settings, error) {
	now, err := s.figures(ctx, x)
	if err != nil {
		return x, err
	}
	for _, vary := range s.variations() {
		base := x
		for _, change := range vary {
			y := base
			change(&y)
			if y == x || y.Check(s.m.queues) != nil {
				continue
			}
			f, err := s.figures(ctx, y)
			if err != nil {
				return x, err
			}
			if s.meets(f) && s.better(f, now) {
				x, now = y, f
			}
		}
	}
	return x, nil
}

// better tells whether a change of other settings is worth it: it comes nearer to
// the objectives, or shortens the 99th percentile from event to settled by a
// tenth, or saves a queue's work.
func (s *search) better(f, now Figures) bool {
	switch excess, was := s.excess(f), s.excess(now); {
	case !now.Stable || excess < was-0.05:
		return true
	case excess > was:
		return false
	}
	settle := f.Settle.P99.Mean / now.Settle.P99.Mean
	return settle < gained || settle < lost && f.QueueCores.Mean < now.QueueCores.Mean-worthwhile
}

// excess is by how much the objectives are missed, as a sum of logarithms.
func (s *search) excess(f Figures) float64 {
	sum := 0.0
	for _, o := range s.objectives {
		if o.ofTime() || o.Figure == "utilisation" {
			sum += max(0, math.Log(o.of(f)/o.Bound))
		}
	}
	return sum
}

// variations are values that are worth a try, for the settings that the model
// can tell something about. Failures of a model are independent, so a shorter
// back-off always settles sooner; none is shorter than client-go's default at
// first, and than a second at last, for the sake of what fails together.
func (s *search) variations() [][]func(*Settings) {
	var all [][]func(*Settings)
	vary := func(set ...func(*Settings)) { all = append(all, set) }
	if s.m.fails() {
		base := func(d time.Duration) func(*Settings) { return func(y *Settings) { y.BaseDelay = d } }
		longest := func(d time.Duration) func(*Settings) { return func(y *Settings) { y.MaxDelay = max(y.BaseDelay, d) } }
		vary(base(50*time.Millisecond), base(20*time.Millisecond), base(10*time.Millisecond), base(5*time.Millisecond))
		vary(longest(5*time.Minute), longest(30*time.Second), longest(5*time.Second), longest(time.Second))
		// Where there is no bucket both stay 0.
		vary(func(y *Settings) { y.BucketBurst *= 2 }, func(y *Settings) { y.BucketBurst *= 10 })
		vary(func(y *Settings) { y.BucketRate *= 2 }, func(y *Settings) { y.BucketRate *= 10 })
	}
	if s.m.Offered == 0 {
		if s.current.Resync > 0 {
			vary(func(y *Settings) { y.Resync *= 2 }, func(y *Settings) { y.Resync *= 10 })
		}
		if s.m.lists() {
			vary(func(y *Settings) { y.Priority = !y.Priority; y.Queue = queueVariant(y.Priority) })
		}
		if s.m.several {
			vary(func(y *Settings) { y.Split = !y.Split; y.Workers = max(y.Workers, len(s.m.Spec.Resources)) })
		}
	}
	if s.kind != controllerManager {
		var queues []func(*Settings)
		for _, q := range s.m.queues {
			queues = append(queues, func(y *Settings) { y.Queue = q.Variant })
		}
		vary(queues...)
	}
	return all
}

// queueVariant is the peers' queue with priorities or without.
func queueVariant(priority bool) string {
	if priority {
		return "controller-runtime"
	}
	return "client-go"
}

// fails tells whether there are retries that back-off could matter to.
func (m *Model) fails() bool { return m.Spec.Reconcile.Failure > failing }

// lists tells whether objects come by lists or resyncs, which priorities are for.
func (m *Model) lists() bool {
	return m.Observations == 0 && (m.Spec.Reconcile.Resync > 0 || m.Spec.Faults.Gone > 0 || m.Spec.Faults.Disconnect > 0)
}
