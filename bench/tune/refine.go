package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// confirm looks at the neighbours with more effort: the rough predictions may
// be a worker off.
func (s *search) confirm(ctx context.Context, x Settings) (Settings, error) {
	check := func(workers int) (bool, error) {
		y := x
		y.Workers = workers
		s.progress(fmt.Sprintf("confirming %d workers", workers))
		f, err := s.m.predict(ctx, y, fine, s.seed+1)
		return s.meets(f), err
	}
	ok, err := check(x.Workers)
	if err != nil {
		return x, err
	}
	for range 3 {
		next := x.Workers - 1
		if !ok {
			next = x.Workers + 1
		}
		if next < 1 || next > s.maxWorkers {
			break
		}
		better, err := check(next)
		if err != nil {
			return x, err
		}
		if ok && !better {
			break
		}
		x.Workers = next
		if !ok && better {
			break
		}
	}
	return x, nil
}

// chooseBurst takes the smallest of the usual bursts that still meets the
// objectives: the API server has to bear it at once.
func (s *search) chooseBurst(ctx context.Context, x Settings) (Settings, error) {
	if s.noLimit || s.maxQPS == 0 {
		return x, nil
	}
	bursts := []int{max(1, int(math.Ceil(x.QPS))), max(1, int(math.Ceil(1.5*x.QPS)))}
	if s.current.Burst > 0 {
		bursts = append(bursts, s.current.Burst)
	}
	slices.Sort(bursts)
	for _, burst := range slices.Compact(bursts) {
		if burst >= x.Burst {
			break
		}
		y := x
		y.Burst = burst
		f, err := s.figures(ctx, y)
		if err != nil {
			return x, err
		}
		if s.meets(f) {
			return y, nil
		}
	}
	return x, nil
}

// keepCurrent prefers no change to one that saves little.
func (s *search) keepCurrent(ctx context.Context, x Settings) (Settings, error) {
	if Cost(s.current) > 1.1*Cost(x) || s.current == x || s.current.Workers > s.maxWorkers || s.maxQPS > 0 && !s.noLimit && (s.current.QPS == 0 || s.current.QPS > s.maxQPS) {
		return x, nil
	}
	f, err := s.m.predict(ctx, s.current, fine, s.seed+1)
	if err == nil && s.meets(f) && x.BucketRate == s.current.BucketRate {
		return s.current, nil
	}
	return x, err
}
