package tune

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A prediction that the data carry no further than a wide interval says so, and what
// to record instead.
func TestVague(t *testing.T) {
	figures := func(low, mean, high float64, open openness) *Figures {
		f := &Figures{Settings: Settings{Workers: 3}, Stable: true, open: open}
		f.Wait.P99 = Interval{Mean: mean, Low: low, High: high}
		f.Settle.P99.Mean = mean + 0.05
		return f
	}
	a := Advice{Model: &Model{Observations: 900, Interval: 300}}
	for _, c := range []struct {
		name string
		then *Figures
		text string // what the last of the data's gaps says
		wait string
	}{
		{"near", figures(0.8, 1, 1.25, openness{amounts: 0.04, forms: 0}), "", "1s"},
		{"beside the work", figures(0, 0.001, 0.004, openness{amounts: 1, forms: 1}), "", "1ms"},
		{"nothing", figures(0, 0, 0.0004, openness{}), "", "400µs"},
		{"nothing at all", figures(0, 0, 0, openness{}), "", "1µs"},
		{"rate and service", figures(0.4, 1, 2.5, openness{amounts: 0.84, forms: 0}),
			"where between 400ms and 2.5s the 99th percentile of the queue wait under 3 workers lies: 900 reconciles leave rate and service time open; an interval of about 1h30m0s would tell them", "1s (400ms to 2.5s)"},
		{"forms", figures(0.4, 1, 2.5, openness{amounts: 0.01, forms: 0.8}),
			"where between 400ms and 2.5s the 99th percentile of the queue wait under 3 workers lies: work and arrivals of several forms explain what was counted in buckets this wide, so record finer ones (native histograms) or a trace", "1s (400ms to 2.5s)"},
		{"both", figures(0.5, 1, 2, openness{amounts: 0.2, forms: 0.1}),
			"where between 500ms and 2s the 99th percentile of the queue wait under 3 workers lies: 900 reconciles leave rate and service time open; an interval of about 41m0s would tell them, and work and arrivals of several forms explain what was counted in buckets this wide, so record finer ones (native histograms) or a trace", "1s (500ms to 2s)"},
		{"at times", figures(0.5, 1, 90, openness{lasting: true}),
			"where between 500ms and 1m30s the 99th percentile of the queue wait under 3 workers lies: at times more comes than these can do, and for how long two scrapes don't tell, so the end of that is of all of it at once; record a trace, or two scrapes while most comes, whose advice is for that time", "1s (500ms to 1m30s)"},
		{"no bound", figures(0.5, 1, unbounded, openness{}),
			"where between 500ms and unbounded the 99th percentile of the queue wait under 3 workers lies: these may carry less than the load, and 900 reconciles can't tell; record a longer interval", "1s (500ms to unbounded)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a.Then = c.then
			assert.Equal(t, c.text, a.vague())
			assert.Equal(t, c.wait, a.wait99(c.then))
		})
	}

	// Of a workload spec everything is known.
	a.Model.Observations = 0
	a.Then = figures(0.4, 1, 2.5, openness{amounts: 0.84, forms: 0})
	assert.Empty(t, a.vague())
	assert.Equal(t, "1s", a.wait99(a.Then))
}
