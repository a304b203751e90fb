package model

import "context"

// inOrder simulates a system in which every key is worked off once, in the order in which it came:
// no limit is waited for, nothing fails and no key is added again. The times at which workers are
// free say all, so that it takes half the time of run; it draws the same numbers.
func (e *engine) inOrder(ctx context.Context) error {
	end := e.p.Warmup + e.p.Length
	free := make(agenda, e.c.Workers)
	for round := 0; ; round++ {
		if round&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at, n, _ := e.stream.next()
		if at > end {
			return nil
		}
		if at >= e.p.Warmup {
			e.r.Arrivals += n
			e.r.Adds += n
			e.added.at(at).Adds += float64(n)
		}
		for range n {
			got, calls := max(at, free[0].at), e.drawCalls()
			done := got + e.s.Service.sample(e.random)
			for range calls {
				done += e.random.ExpFloat64() * e.s.Latency
			}
			free.sift(event{at: done})
			e.passed(at, got, done, int(calls))
		}
	}
}

// passed counts a key that was added, taken and done then.
func (e *engine) passed(at, got, done float64, calls int) {
	from, end := e.p.Warmup, e.p.Warmup+e.p.Length
	within := func(a, b float64) float64 { return max(0, min(b, end)-max(a, from)) }
	e.r.Waiting += within(at, got)
	e.r.Busy += within(got, done)
	if got >= from && got <= end {
		e.r.Wait.Add(got - at)
		e.r.Calls += calls
		step := e.taken.at(got)
		step.Taken++
		step.Waited += got - at
	}
	if done >= from && done <= end {
		e.r.Work.Add(done - got)
		e.r.Settle.Add(done - at)
		e.r.Done++
	}
}
