package search

import (
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

func point(value string, chosen bool, f predict.Figures) CurvePoint {
	return CurvePoint{
		Value: value, Chosen: chosen, Stable: f.Stable, WaitP99: f.Wait.P99, SettleP99: f.Settle.P99,
		Utilisation: f.Utilisation.Mean, CallRate: f.CallRate.Mean, QueueCores: f.QueueCores.Mean,
	}
}

// Curves vary each setting that the model can tell something about, and the load, around the
// recommendation. When the context ends, they are those that were done by then, with the
// context's error.
func (s *Search) Curves(ctx context.Context, x predict.Settings) (all []Curve, err error) {
	s.ctx, s.err = ctx, nil
	add := func(c Curve) {
		if s.err == nil && len(c.Points) > 1 {
			all = append(all, c)
		}
	}
	vary := func(name string, factors []float64, set func(y *predict.Settings, by float64)) {
		add(s.curve(x, name, factors, set))
	}
	times := func(n int, by float64) int { return max(1, int(by*float64(n))) }
	longer := func(d time.Duration, by float64) time.Duration { return time.Duration(d.Seconds() * by * 1e9) }
	usual, other := []float64{0.5, 0.7, 0.85, 1, 1.2, 1.5, 2, 4}, []float64{1, 0}
	vary("workers", usual, func(y *predict.Settings, by float64) { y.Workers = max(1, int(math.Round(by*float64(y.Workers)))) })
	if x.QPS > 0 && (s.m.Offered == 0 || s.m.Calls > 0) {
		vary("qps", usual, func(y *predict.Settings, by float64) { y.QPS *= by })
		vary("burst", usual, func(y *predict.Settings, by float64) { y.Burst = times(y.Burst, by) })
	}
	if s.m.Fails() {
		vary("baseDelay", []float64{0.2, 1, 5, 20, 100}, func(y *predict.Settings, by float64) { y.BaseDelay = min(longer(y.BaseDelay, by), y.MaxDelay) })
		vary("maxDelay", []float64{0.001, 0.01, 0.1, 1}, func(y *predict.Settings, by float64) { y.MaxDelay = max(longer(y.MaxDelay, by), y.BaseDelay) })
		if x.BucketRate > 0 {
			vary("bucketRate", usual, func(y *predict.Settings, by float64) { y.BucketRate *= by })
			vary("bucketBurst", usual, func(y *predict.Settings, by float64) { y.BucketBurst = times(y.BucketBurst, by) })
		}
	}
	if s.m.Offered > 0 {
		add(s.loadCurve(x))
		return all, s.err
	}
	vary("resync", []float64{0.25, 0.5, 1, 2, 4, 10}, func(y *predict.Settings, by float64) { y.Resync = longer(y.Resync, by) })
	vary("batch", []float64{0.01, 0.1, 1, 10}, func(y *predict.Settings, by float64) { y.Batch = times(y.Batch, by) })
	if s.m.Lists() {
		vary("priority", other, func(y *predict.Settings, _ float64) { prioritise(y) })
	}
	if s.m.Several() && x.Workers >= len(s.m.Spec.Resources) {
		vary("split", other, func(y *predict.Settings, _ float64) { y.Split = !y.Split })
	}
	return all, s.err
}

// curve changes a setting by each factor but 1, which stands for the recommended one.
func (s *Search) curve(x predict.Settings, name string, factors []float64, set func(y *predict.Settings, by float64)) Curve {
	field := predict.Fields[slices.IndexFunc(predict.Fields, func(f predict.Field) bool { return f.Name == name })]
	c := Curve{Setting: name, Title: field.Title}
	seen := map[predict.Settings]bool{}
	for _, by := range factors {
		y := x
		if by != 1 {
			set(&y, by)
		}
		if seen[y] || y != x && y.Check(s.m.Queues) != nil {
			continue
		}
		seen[y] = true
		value, predicted := field.Text(y), s.figures
		if y != x && slices.Contains([]string{"workers", "qps", "burst"}, name) {
			predicted = func(y predict.Settings) predict.Figures { // people read what these points say
				return s.predict("what if "+c.Title+" were "+value, s.m, y, predict.Surer)
			}
		}
		c.Points = append(c.Points, point(value, y == x, predicted(y)))
	}
	return c
}

// loadCurve asks how much more load the recommendation bears.
func (s *Search) loadCurve(x predict.Settings) Curve {
	c := Curve{Setting: "load", Title: "the load"}
	for _, times := range []float64{0.5, 1, 1.25, 1.5, 2, 3} {
		doing := fmt.Sprintf("what if the load were %v times as much", times)
		f := s.predict(doing, s.m.Times(times), x, predict.Surer)
		c.Points = append(c.Points, point(fmt.Sprintf("%v×", times), times == 1, f))
	}
	return c
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
	var front []Tradeoff
	for _, f := range s.stable() {
		if n := len(front); n == 0 || f.Settle.P99.Mean < 0.995*front[n-1].SettleP99 {
			front = append(front, Tradeoff{f.Settings, f.Cost, f.Wait.P99.Mean, f.Settle.P99.Mean, f.CallRate.Mean})
		}
	}
	return front
}
