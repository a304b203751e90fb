package tune

import "encoding/json"

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

// MarshalJSON leaves the same out of a point.
func (p CurvePoint) MarshalJSON() ([]byte, error) {
	type point CurvePoint
	if p.Stable {
		return json.Marshal(point(p))
	}
	return json.Marshal(struct {
		point
		WaitP99     *Interval `json:"waitP99"`
		SettleP99   *Interval `json:"settleP99"`
		Utilisation *float64  `json:"utilisation"`
		CallRate    *float64  `json:"callRate"`
		QueueCores  *float64  `json:"queueCores"`
	}{point: point(p)})
}
