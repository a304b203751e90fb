package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench/tune/predict"
)

// A Curve is what becomes of the recommended settings if one of them varies.
type Curve struct {
	Setting string       `json:"setting"`
	Title   string       `json:"title"`
	Points  []CurvePoint `json:"points"`
}

// A CurvePoint is one value of the setting that varies. In JSON its figures are null if
// it is not stable.
type CurvePoint struct {
	Value       string           `json:"value"`
	Chosen      bool             `json:"chosen"` // it is the recommended one
	Stable      bool             `json:"stable"`
	WaitP99     predict.Interval `json:"waitP99"`
	SettleP99   predict.Interval `json:"settleP99"`
	Utilisation float64          `json:"utilisation"`
	CallRate    float64          `json:"callRate"`
	QueueCores  float64          `json:"queueCores"`
}

// MarshalJSON leaves out what is not predicted of a setting that is not stable.
func (p CurvePoint) MarshalJSON() ([]byte, error) {
	type point CurvePoint
	if p.Stable {
		return json.Marshal(point(p))
	}
	return json.Marshal(struct {
		point
		WaitP99     *predict.Interval `json:"waitP99"`
		SettleP99   *predict.Interval `json:"settleP99"`
		Utilisation *float64          `json:"utilisation"`
		CallRate    *float64          `json:"callRate"`
		QueueCores  *float64          `json:"queueCores"`
	}{point: point(p)})
}

// Curves vary each setting, and the load, around the recommendation. When the context ends,
// they are those that were done by then, with the context's error.
func (s *Search) Curves(ctx context.Context, x predict.Settings) ([]Curve, error) {
	var all []Curve
	for i, sweep := range s.sweeps(x) {
		c := Curve{Setting: predict.Fields[i].Name, Title: predict.Fields[i].Title}
		for k, y := range sweep {
			if slices.Contains(sweep[:k], y) || y != x && y.Check(s.m.Queues) != nil {
				continue
			}
			value := predict.Fields[i].Text(y)
			s.config.Progress("what if " + c.Title + " were " + value)
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
func (s *Search) surer(ctx context.Context, x predict.Settings) (predict.Figures, error) {
	return s.m.Predict(ctx, x, predict.Surer, s.config.Seed+1)
}

// sweeps are values of each setting, in the order of the fields; none for what
// the model can't tell anything about.
func (s *Search) sweeps(x predict.Settings) [][]predict.Settings {
	list := make([][]predict.Settings, len(predict.Fields))
	vary := func(name string, value float64, set func(*predict.Settings, float64), factors ...float64) {
		list[fieldOf(name)] = around(x, value, set, factors...)
	}
	usual := []float64{0.5, 0.7, 0.85, 1.2, 1.5, 2, 4}
	vary("workers", float64(x.Workers), func(y *predict.Settings, v float64) { y.Workers = max(1, int(math.Round(v))) }, usual...)
	if x.QPS > 0 && (s.m.Offered == 0 || s.m.Calls > 0) {
		vary("qps", x.QPS, func(y *predict.Settings, v float64) { y.QPS = v }, usual...)
		vary("burst", float64(x.Burst), func(y *predict.Settings, v float64) { y.Burst = max(1, int(v)) }, usual...)
	}
	if s.m.Fails() {
		vary("baseDelay", x.BaseDelay.Seconds(), func(y *predict.Settings, v float64) { y.BaseDelay = min(time.Duration(v*1e9), y.MaxDelay) }, 0.2, 5, 20, 100)
		vary("maxDelay", x.MaxDelay.Seconds(), func(y *predict.Settings, v float64) { y.MaxDelay = max(time.Duration(v*1e9), y.BaseDelay) }, 0.001, 0.01, 0.1)
		if x.BucketRate > 0 {
			vary("bucketRate", x.BucketRate, func(y *predict.Settings, v float64) { y.BucketRate = v }, usual...)
			vary("bucketBurst", float64(x.BucketBurst), func(y *predict.Settings, v float64) { y.BucketBurst = max(1, int(v)) }, usual...)
		}
	}
	if s.m.Offered == 0 {
		if x.Resync > 0 {
			vary("resync", x.Resync.Seconds(), func(y *predict.Settings, v float64) { y.Resync = time.Duration(v * 1e9) }, 0.25, 0.5, 2, 4, 10)
		}
		vary("batch", float64(x.Batch), func(y *predict.Settings, v float64) { y.Batch = max(1, int(v)) }, 0.01, 0.1, 10)
		if s.m.Lists() {
			y := x
			y.Priority = !x.Priority
			y.Queue = y.PeersQueue()
			list[fieldOf("priority")] = []predict.Settings{x, y}
		}
		if s.m.Several() && x.Workers >= len(s.m.Spec.Resources) {
			y := x
			y.Split = !x.Split
			list[fieldOf("split")] = []predict.Settings{x, y}
		}
	}
	return list
}

// fieldOf is the place among the fields of a setting that is one.
func fieldOf(name string) int {
	for i := range predict.Fields {
		if predict.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// around are the settings with one of them multiplied.
func around(x predict.Settings, value float64, set func(*predict.Settings, float64), factors ...float64) []predict.Settings {
	var list []predict.Settings
	for _, f := range slices.Sorted(slices.Values(append(slices.Clone(factors), 1))) {
		y := x
		if f != 1 {
			set(&y, value*f)
		}
		list = append(list, y)
	}
	return list
}

func point(value string, chosen bool, f predict.Figures) CurvePoint {
	return CurvePoint{
		Value: value, Chosen: chosen, Stable: f.Stable, WaitP99: f.Wait.P99, SettleP99: f.Settle.P99,
		Utilisation: f.Utilisation.Mean, CallRate: f.CallRate.Mean, QueueCores: f.QueueCores.Mean,
	}
}

// loadCurve asks how much more load the recommendation bears.
func (s *Search) loadCurve(ctx context.Context, x predict.Settings) (*Curve, error) {
	if s.m.Offered == 0 {
		return nil, nil
	}
	c := Curve{Setting: "load", Title: "the load"}
	for _, times := range []float64{0.5, 1, 1.25, 1.5, 2, 3} {
		s.config.Progress(fmt.Sprintf("what if the load were %v times as much", times))
		f, err := s.m.Times(times).Predict(ctx, x, predict.Surer, s.config.Seed+1)
		if err != nil {
			return nil, err
		}
		c.Points = append(c.Points, point(fmt.Sprintf("%v×", times), times == 1, f))
	}
	return &c, nil
}

// A Tradeoff is what some settings cost and bring.
type Tradeoff struct {
	Settings  predict.Settings `json:"settings"`
	Cost      float64          `json:"cost"`
	WaitP99   float64          `json:"waitP99"`   // seconds
	SettleP99 float64          `json:"settleP99"` // seconds
	CallRate  float64          `json:"callRate"`
}

// Pareto keeps the settings to which none is both cheaper and faster.
func (s *Search) Pareto() []Tradeoff {
	var all []predict.Figures
	for _, f := range s.tried {
		if f.Stable {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b predict.Figures) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Settle.P99.Mean, b.Settle.P99.Mean), cmp.Compare(a.Settings.Workers, b.Settings.Workers), cmp.Compare(a.Settings.Burst, b.Settings.Burst), cmp.Compare(a.Settings.Queue, b.Settings.Queue))
	})
	var front []Tradeoff
	for _, f := range all {
		if n := len(front); n == 0 || f.Settle.P99.Mean < 0.995*front[n-1].SettleP99 {
			front = append(front, Tradeoff{f.Settings, f.Cost, f.Wait.P99.Mean, f.Settle.P99.Mean, f.CallRate.Mean})
		}
	}
	return front
}
