package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// curves vary each setting, and the load, around the recommendation.
func (s *search) curves(ctx context.Context, x Settings) ([]Curve, error) {
	var all []Curve
	for i, sweep := range s.sweeps(x) {
		c := Curve{Setting: fields[i].name, Title: fields[i].title}
		for k, y := range sweep {
			if slices.Contains(sweep[:k], y) || y != x && y.Check(s.m.queues) != nil {
				continue
			}
			value := fields[i].text(y)
			s.progress("what if " + c.Title + " were " + value)
			figures := s.figures
			if y != x && slices.Contains([]string{"workers", "qps", "burst"}, c.Setting) {
				figures = s.surer // people read what these points say
			}
			f, err := figures(ctx, y)
			if err != nil {
				return all, err
			}
			c.Points = append(c.Points, point(value, y == x, f))
		}
		if len(c.Points) > 1 {
			all = append(all, c)
		}
	}
	load, err := s.loadCurve(ctx, x)
	if load != nil {
		all = append(all, *load)
	}
	return all, err
}

// surer predicts with more effort than the search.
func (s *search) surer(ctx context.Context, x Settings) (Figures, error) {
	return s.m.predict(ctx, x, surer, s.seed+1)
}

// sweeps are values of each setting, in the order of the fields; none for what
// the model can't tell anything about.
func (s *search) sweeps(x Settings) [][]Settings {
	list := make([][]Settings, len(fields))
	vary := func(name string, value float64, set func(*Settings, float64), factors ...float64) {
		list[fieldOf(name)] = around(x, value, set, factors...)
	}
	usual := []float64{0.5, 0.7, 0.85, 1.2, 1.5, 2, 4}
	vary("workers", float64(x.Workers), func(y *Settings, v float64) { y.Workers = max(1, int(math.Round(v))) }, usual...)
	if x.QPS > 0 && (s.m.Offered == 0 || s.m.Calls > 0) {
		vary("qps", x.QPS, func(y *Settings, v float64) { y.QPS = v }, usual...)
		vary("burst", float64(x.Burst), func(y *Settings, v float64) { y.Burst = max(1, int(v)) }, usual...)
	}
	if s.m.fails() {
		vary("baseDelay", x.BaseDelay.Seconds(), func(y *Settings, v float64) { y.BaseDelay = min(time.Duration(v*1e9), y.MaxDelay) }, 0.2, 5, 20, 100)
		vary("maxDelay", x.MaxDelay.Seconds(), func(y *Settings, v float64) { y.MaxDelay = max(time.Duration(v*1e9), y.BaseDelay) }, 0.001, 0.01, 0.1)
		if x.BucketRate > 0 {
			vary("bucketRate", x.BucketRate, func(y *Settings, v float64) { y.BucketRate = v }, usual...)
			vary("bucketBurst", float64(x.BucketBurst), func(y *Settings, v float64) { y.BucketBurst = max(1, int(v)) }, usual...)
		}
	}
	if s.m.Offered == 0 {
		if x.Resync > 0 {
			vary("resync", x.Resync.Seconds(), func(y *Settings, v float64) { y.Resync = time.Duration(v * 1e9) }, 0.25, 0.5, 2, 4, 10)
		}
		vary("batch", float64(x.Batch), func(y *Settings, v float64) { y.Batch = max(1, int(v)) }, 0.01, 0.1, 10)
		if s.m.lists() {
			y := x
			y.Priority, y.Queue = !x.Priority, queueVariant(!x.Priority)
			list[fieldOf("priority")] = []Settings{x, y}
		}
		if s.m.several && x.Workers >= len(s.m.Spec.Resources) {
			y := x
			y.Split = !x.Split
			list[fieldOf("split")] = []Settings{x, y}
		}
	}
	if s.kind != controllerManager {
		for _, q := range s.m.queuesLike(x.Priority) {
			y := x
			y.Queue = q.Variant
			list[fieldOf("queue")] = append(list[fieldOf("queue")], y)
		}
	}
	return list
}

// around are the settings with one of them multiplied.
func around(x Settings, value float64, set func(*Settings, float64), factors ...float64) []Settings {
	var list []Settings
	for _, f := range slices.Sorted(slices.Values(append(slices.Clone(factors), 1))) {
		y := x
		if f != 1 {
			set(&y, value*f)
		}
		list = append(list, y)
	}
	return list
}

func point(value string, chosen bool, f Figures) CurvePoint {
	return CurvePoint{
		Value: value, Chosen: chosen, Stable: f.Stable, WaitP99: f.Wait.P99, SettleP99: f.Settle.P99,
		Utilisation: f.Utilisation.Mean, CallRate: f.CallRate.Mean, QueueCores: f.QueueCores.Mean,
	}
}

// loadCurve asks how much more load the recommendation bears.
func (s *search) loadCurve(ctx context.Context, x Settings) (*Curve, error) {
	if s.m.Offered == 0 {
		return nil, nil
	}
	c := Curve{Setting: "load", Title: "the load"}
	for _, times := range []float64{0.5, 1, 1.25, 1.5, 2, 3} {
		s.progress(fmt.Sprintf("what if the load were %v times as much", times))
		m := *s.m
		m.load = times
		m.ArrivalRate, m.AddRate, m.Offered = times*m.ArrivalRate, times*m.AddRate, times*m.Offered
		f, err := m.predict(ctx, x, surer, s.seed+1)
		if err != nil {
			return nil, err
		}
		c.Points = append(c.Points, point(fmt.Sprintf("%v×", times), times == 1, f))
	}
	return &c, nil
}
