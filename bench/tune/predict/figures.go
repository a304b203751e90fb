package predict

import (
	"encoding/json"

	"github.com/informerbench/informerbench/loadgen/sim"
)

// An Interval is a predicted figure with the interval that holds it with 95%
// probability: of the posterior of the loads that explain a measurement, or of the simulation
// alone where the load is known.
type Interval = sim.Interval

// Quantiles are of a predicted duration, in seconds.
type Quantiles struct {
	Mean Interval `json:"mean"`
	P50  Interval `json:"p50"`
	P90  Interval `json:"p90"`
	P99  Interval `json:"p99"`
	P999 Interval `json:"p999"`

	at func(p float64) float64
}

// quantiles are those of people's interest, of intervals by p; at is the middle of any.
func quantiles(interval func(p float64) Interval, at func(p float64) float64) Quantiles {
	return Quantiles{interval(-1), interval(0.5), interval(0.9), interval(0.99), interval(0.999), at}
}

// quantile is the mean for a p below 0.
func quantile[T any](d interface {
	Mean() T
	Quantile(p float64) T
}, p float64) T {
	if p < 0 {
		return d.Mean()
	}
	return d.Quantile(p)
}

// At is a quantile, in seconds, or the mean for a p below 0; of what was predicted and is stable,
// not of what was read from JSON.
func (q Quantiles) At(p float64) float64 {
	if q.at == nil {
		return Unbounded
	}
	return q.at(p)
}

// Unbounded stands for what grows without end, in an interval's High.
const Unbounded = 1e10

// Figures are predicted for some settings. In JSON those that nothing predicts, from Wait
// to QueueCores, are null if these are not stable.
type Figures struct {
	Settings    Settings  `json:"settings"`
	Stable      bool      `json:"stable"`
	Load        float64   `json:"load"`       // the largest ratio of a demand to what there is; from 1 on it is not stable
	Bottleneck  string    `json:"bottleneck"` // what Load is of
	Wait        Quantiles `json:"wait"`       // from add to get
	Settle      Quantiles `json:"settle"`     // from an event to the end of the first successful reconcile that saw it
	Work        Quantiles `json:"work"`       // from get to done
	Depth       Interval  `json:"depth"`
	Utilisation Interval  `json:"utilisation"`
	CallRate    Interval  `json:"callRate"`
	QueueCores  Interval  `json:"queueCores"` // processors that the queue keeps busy
	Cost        float64   `json:"cost"`       // in workers; ten calls a second count as one
}

// MarshalJSON leaves out what is not predicted of settings that are not stable: a
// reader that sees a wait of 0 there takes the worst for the best.
func (f Figures) MarshalJSON() ([]byte, error) {
	type figures Figures
	if f.Stable {
		return json.Marshal(figures(f))
	}
	return json.Marshal(struct {
		figures
		Wait        *Quantiles `json:"wait"`
		Settle      *Quantiles `json:"settle"`
		Work        *Quantiles `json:"work"`
		Depth       *Interval  `json:"depth"`
		Utilisation *Interval  `json:"utilisation"`
		CallRate    *Interval  `json:"callRate"`
		QueueCores  *Interval  `json:"queueCores"`
	}{figures: figures(f)})
}
