package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// others tries the settings beside workers and client limits, each around the
// recommendation, and takes what shortens the 99th percentile from event to
// settled by a tenth.
func (s *search) others(ctx context.Context, x Settings) (Settings, error) {
	now, err := s.figures(ctx, x)
	if err != nil {
		return x, err
	}
	for _, candidates := range s.variations(x) {
		for _, y := range candidates {
			f, err := s.figures(ctx, y)
			if err != nil {
				return x, err
			}
			if s.meets(f) && f.Settle.P99.Mean < 0.9*now.Settle.P99.Mean {
				x, now = y, f
			}
		}
	}
	return x, nil
}

// variations are values that are worth a try, for the settings that the model
// can tell something about.
func (s *search) variations(x Settings) [][]Settings {
	var all [][]Settings
	vary := func(set ...func(*Settings)) {
		var list []Settings
		for _, f := range set {
			y := x
			f(&y)
			if y != x {
				list = append(list, y)
			}
		}
		all = append(all, list)
	}
	if s.m.fails() {
		vary(func(y *Settings) { y.BaseDelay = 50 * time.Millisecond }, func(y *Settings) { y.BaseDelay = 500 * time.Millisecond })
		vary(func(y *Settings) { y.MaxDelay = max(y.BaseDelay, 30*time.Second) }, func(y *Settings) { y.MaxDelay = max(y.BaseDelay, 5*time.Minute) })
		vary(func(y *Settings) { y.BucketRate, y.BucketBurst = 2*x.BucketRate, 2*x.BucketBurst },
			func(y *Settings) { y.BucketRate, y.BucketBurst = 10*x.BucketRate, 10*x.BucketBurst })
	}
	if s.m.lists() {
		vary(func(y *Settings) { y.Priority = !x.Priority; y.Queue = queueVariant(!x.Priority) })
	}
	if s.m.Offered == 0 && x.Resync > 0 {
		vary(func(y *Settings) { y.Resync = 2 * x.Resync }, func(y *Settings) { y.Resync = 10 * x.Resync })
	}
	if s.m.Offered == 0 {
		vary(func(y *Settings) { y.Batch = 100 }, func(y *Settings) { y.Batch = 10 })
	}
	if s.m.several && x.Workers >= 2*len(s.m.Spec.Resources) {
		vary(func(y *Settings) { y.Split = !x.Split })
	}
	return all
}

func queueVariant(priority bool) string {
	if priority {
		return "controller-runtime"
	}
	return "client-go"
}

// fails tells whether there are retries that back-off could matter to.
func (m *Model) fails() bool { return m.Spec.Reconcile.Failure > 0.001 }

// lists tells whether objects come by lists or resyncs, which priorities are for.
func (m *Model) lists() bool {
	return m.Observations == 0 && (m.Spec.Reconcile.Resync > 0 || m.Spec.Faults.Gone > 0 || m.Spec.Faults.Disconnect > 0)
}

// curves vary each setting, and the load, around the recommendation.
func (s *search) curves(ctx context.Context, x Settings) ([]Curve, error) {
	var all []Curve
	add := func(setting, title string, values []Settings, text func(Settings) string) error {
		c := Curve{Setting: setting, Title: title}
		for i, y := range values {
			if slices.Contains(values[:i], y) {
				continue
			}
			s.progress("what if " + title + " were " + text(y))
			f, err := s.figures(ctx, y)
			if err != nil {
				return err
			}
			c.Points = append(c.Points, point(text(y), y == x, f))
		}
		if len(c.Points) > 1 {
			all = append(all, c)
		}
		return nil
	}
	err := add("workers", "concurrent workers", s.around(float64(x.Workers), func(y *Settings, v float64) { y.Workers = max(1, int(math.Round(v))) }, x), fields[0].text)
	if err == nil && x.QPS > 0 {
		err = add("qps", "client QPS", s.around(x.QPS, func(y *Settings, v float64) { y.QPS = v }, x), fields[1].text)
	}
	if err == nil && x.QPS > 0 {
		err = add("burst", "client burst", s.around(float64(x.Burst), func(y *Settings, v float64) { y.Burst = max(1, int(v)) }, x), fields[2].text)
	}
	if err == nil {
		var load *Curve
		if load, err = s.loadCurve(ctx, x); load != nil {
			all = append(all, *load)
		}
	}
	if err == nil && s.m.fails() {
		err = add("baseDelay", "base back-off", s.around(x.BaseDelay.Seconds(), func(y *Settings, v float64) { y.BaseDelay = min(time.Duration(v*1e9), y.MaxDelay) }, x, 0.2, 5, 20, 100), fields[3].text)
		if err == nil {
			err = add("maxDelay", "maximum back-off", s.around(x.MaxDelay.Seconds(), func(y *Settings, v float64) { y.MaxDelay = max(time.Duration(v*1e9), y.BaseDelay) }, x, 0.001, 0.01, 0.1), fields[4].text)
		}
		if err == nil {
			err = add("bucketRate", "retry bucket rate", s.around(x.BucketRate, func(y *Settings, v float64) { y.BucketRate = v }, x), fields[5].text)
		}
		if err == nil {
			err = add("bucketBurst", "retry bucket burst", s.around(float64(x.BucketBurst), func(y *Settings, v float64) { y.BucketBurst = max(1, int(v)) }, x), fields[6].text)
		}
	}
	if err == nil && s.m.Offered == 0 && x.Resync > 0 {
		err = add("resync", "resync period", s.around(x.Resync.Seconds(), func(y *Settings, v float64) { y.Resync = time.Duration(v * 1e9) }, x, 0.25, 0.5, 2, 4), fields[7].text)
	}
	if err == nil && s.m.Offered == 0 {
		err = add("batch", "informer batch", s.around(float64(x.Batch), func(y *Settings, v float64) { y.Batch = max(1, int(v)) }, x, 0.01, 0.1, 10), fields[8].text)
	}
	return all, err
}

// around are the settings with one of them multiplied.
func (s *search) around(value float64, set func(*Settings, float64), x Settings, factors ...float64) []Settings {
	if len(factors) == 0 {
		factors = []float64{0.5, 0.7, 0.85, 1.2, 1.5, 2, 4}
	}
	factors = append(slices.Clone(factors), 1)
	slices.Sort(factors)
	var list []Settings
	for _, f := range factors {
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
		Utilisation: f.Utilisation.Mean, CallRate: f.CallRate.Mean,
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
		spec := *m.Spec
		m.Spec = &spec
		spec.Resources = slices.Clone(spec.Resources)
		spec.Resources[0].Events.Arrivals.Rate *= times
		m.ArrivalRate, m.AddRate, m.Offered = times*m.ArrivalRate, times*m.AddRate, times*m.Offered
		f, err := m.predict(ctx, x, rough, s.seed)
		if err != nil {
			return nil, err
		}
		c.Points = append(c.Points, point(fmt.Sprintf("%v×", times), times == 1, f))
	}
	return &c, nil
}
