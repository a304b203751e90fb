package advice

import (
	"testing"

	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/assert"
)

// A prediction that the data carry no further than a wide interval says so, and what
// to record instead.
func TestVague(t *testing.T) {
	figures := func(low, mean, high float64) *predict.Figures {
		f := &predict.Figures{Settings: predict.Settings{Workers: 3}, Stable: true}
		f.Wait.P99 = predict.Interval{Mean: mean, Low: low, High: high}
		f.Settle.P99.Mean = mean + 0.05
		return f
	}
	const where = "the 99th percentile of the queue wait under 3 workers lies: "
	for _, c := range []struct {
		name       string
		then       *predict.Figures
		dispersion float64
		series     bool
		text       string // what the last of the data's gaps says
		wait       string
	}{
		{"near", figures(0.8, 1, 1.25), 1, false, "", "1s"},
		{"beside the work", figures(0, 0.001, 0.004), 1, false, "", "1ms"},
		{"nothing", figures(0, 0, 0.0004), 1, false, "", "400µs"},
		{"nothing at all", figures(0, 0, 0), 1, false, "", "1µs"},
		{"few reconciles", figures(0.4, 1, 2.5), 1, false,
			"where between 400ms and 2.5s " + where + "900 reconciles leave rate, work and arrivals open; an interval of about 1h30m0s would tell them", "1s (400ms to 2.5s)"},
		{"hardly vague", figures(0.7, 1, 1.51), 1, false,
			"where between 700ms and 1.51s " + where + "900 reconciles leave rate, work and arrivals open; an interval of about 15m0s would tell them", "1s (700ms to 1.51s)"},
		{"far too few", figures(0.01, 1, 60), 1, false,
			"where between 10ms and 1m0s " + where + "900 reconciles are far too few to tell; record a much longer interval, or a trace", "1s (10ms to 1m0s)"},
		{"nearly none", figures(0, 0.2, 1), 1, false,
			"where between 0s and 1s " + where + "900 reconciles are far too few to tell; record a much longer interval, or a trace", "200ms (0s to 1s)"},
		{"bursts", figures(0.4, 1, 2.5), 8, false,
			"where between 400ms and 2.5s " + where + "arrivals of several forms explain what two scrapes hold, so record a series (--prometheus, or a URL over --interval) or a trace", "1s (400ms to 2.5s)"},
		{"bursts in a series", figures(0.4, 1, 2.5), 8, true,
			"where between 400ms and 2.5s " + where + "900 reconciles leave rate, work and arrivals open; an interval of about 1h30m0s would tell them", "1s (400ms to 2.5s)"},
		{"no bound", figures(0.5, 1, predict.Unbounded), 8, false,
			"where between 500ms and unbounded " + where + "these may carry less than the load, and 900 reconciles can't tell; record a longer interval", "1s (500ms to unbounded)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := Advice{Model: &predict.Model{Observations: 900, Interval: 300, Dispersion: c.dispersion, Measured: &infer.Measured{}}, Then: c.then}
			if c.series {
				a.Model.Measured.Steps = make([]scrape.Step, minSteps)
			}
			assert.Equal(t, c.text, a.vague())
			assert.Equal(t, c.wait, a.wait99(c.then))
		})
	}

	// Bursts that come and go between two scrapes want more of these, and not a longer time.
	a := Advice{Model: &predict.Model{Observations: 900, Interval: 400, Dispersion: 8, Measured: &infer.Measured{Steps: make([]scrape.Step, 20)}}, Then: figures(0.4, 1, 2.5)}
	for cycle, want := range map[float64]string{
		2:  "scrape every 1s (--step)",
		30: "scrape every 8s (--step)",
		90: "an interval of about 2h0m0s would tell them",
	} {
		s := model.System{Rate: 3, Arrivals: model.Arrivals{Kind: model.Phases, Duty: 0.3, Depth: 1, Cycle: cycle}}
		a.Model.Posterior = &infer.Posterior{Members: []infer.Member{{System: s, Family: "bursts"}}, Families: map[string]float64{"bursts": 1}}
		assert.Contains(t, a.vague(), want)
	}

	// Of a workload spec everything is known.
	a = Advice{Model: &predict.Model{}, Then: figures(0.4, 1, 2.5)}
	assert.Empty(t, a.vague())
	assert.Equal(t, "1s", a.wait99(a.Then))
}
