package sim

import "github.com/informerbench/informerbench/loadgen/durations"

// A Figure is one of the numbers that a Result boils down to.
type Figure struct {
	Name string // as tables and flags call it
	Unit string // "s", "1/s", "share" or "" for a count
	Of   func(Result) float64
}

// Figures lists them in the order in which they are printed.
func Figures() []Figure {
	quantiles := func(name string, of func(Result) durations.Histogram) []Figure {
		figures := []Figure{{name + " mean", "s", func(r Result) float64 { return of(r).Mean().Seconds() }}}
		for _, q := range []struct {
			name  string
			share float64
		}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}} {
			figures = append(figures, Figure{name + " " + q.name, "s", func(r Result) float64 { return of(r).Quantile(q.share).Seconds() }})
		}
		return figures
	}
	share := func(part, of int64) float64 { return float64(part) / float64(max(1, of)) }
	figures := []Figure{
		{"load", "share", func(r Result) float64 { return r.Demand.Load }},
		{"utilisation", "share", func(r Result) float64 { return r.Utilisation }},
		{"arrivals", "1/s", func(r Result) float64 { return float64(r.Arrivals) / max(r.Load, 1).Seconds() }},
		{"coalesced", "share", func(r Result) float64 { return share(r.Coalesced, r.Arrivals+r.Listed) }},
		{"reconciles", "1/s", func(r Result) float64 { return r.Throughput }},
		{"failures", "share", func(r Result) float64 { return share(r.Failures, r.Reconciles) }},
		{"API calls", "1/s", func(r Result) float64 { return r.CallRate }},
		{"depth mean", "", func(r Result) float64 { return r.Depth }},
		{"depth max", "", func(r Result) float64 { return float64(r.MaxDepth) }},
		{"given up", "", func(r Result) float64 { return float64(r.GivenUp) }},
		{"drain", "s", func(r Result) float64 { return r.Drain.Seconds() }},
	}
	for _, d := range []struct {
		name string
		of   func(Result) durations.Histogram
	}{
		{"queue wait", func(r Result) durations.Histogram { return r.QueueWait }},
		{"work", func(r Result) durations.Histogram { return r.Work }},
		{"settle", func(r Result) durations.Histogram { return r.Settle }},
		{"throttle", func(r Result) durations.Histogram { return r.Throttle }},
		{"store wait", func(r Result) durations.Histogram { return r.StoreWait }},
	} {
		figures = append(figures, quantiles(d.name, d.of)...)
	}
	return figures
}
