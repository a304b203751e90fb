package advice

import (
	"testing"

	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/stretchr/testify/assert"
)

// The verdict is no better than what the tables beside it show.
func TestVerdictAgreesWithTheTables(t *testing.T) {
	buckets := func(off float64) []Bucket {
		return []Bucket{
			{Measured: 0.5 + off, Model: 0.5, From: 0.48, To: 0.52},
			{Measured: 0.3 - off, Model: 0.3, From: 0.29, To: 0.31},
			{Measured: 0.2, Model: 0.2, From: 0.18, To: 0.22},
		}
	}
	for _, c := range []struct {
		name      string
		r         Reproduction
		explained bool
		verdict   string
	}{
		{"alike", Reproduction{Wait: buckets(0.01), WaitMean: [2]float64{0.1, 0.11}, WorkMean: [2]float64{0.05, 0.05}}, true, "^good"},
		{"short waits", Reproduction{Wait: buckets(0), WaitMean: [2]float64{0.0001, 0.001}, WorkMean: [2]float64{0.05, 0.05}}, true, "^good"},
		{"half of the mean", Reproduction{Wait: buckets(0), WaitMean: [2]float64{1, 0.5}, WorkMean: [2]float64{0.05, 0.05}}, true, "^fair: the mean wait is 500ms, and 1s as measured"},
		{"outside", Reproduction{Wait: buckets(0.06), WaitMean: [2]float64{0.1, 0.1}, WorkMean: [2]float64{0.05, 0.05}}, true, "^fair: of the 3 buckets of waits, 2 lie outside"},
		{"another bucket", Reproduction{Distance: 0.1}, false, "^fair: 10% of the reconciles"},
		{"far", Reproduction{Distance: 0.2}, false, "^poor: 20%"},
	} {
		assert.Regexp(t, c.verdict, c.r.verdict(c.explained, false), c.name)
	}
	r := Reproduction{Wait: buckets(0)}
	assert.Regexp(t, "^not comparable", r.verdict(true, true), "whose waits are the overload's")
}

// A model that knows nothing of what makes keys wait predicts nothing of other settings. An
// overloaded queue's waits are no sign of it.
func TestStrangeWaitsAreRefused(t *testing.T) {
	m := predict.Model{Measured: &infer.Measured{}}
	r := Reproduction{WaitMean: [2]float64{43, 40}, WorkMean: [2]float64{0.004, 0.004}, middle: 0.003}
	why, record := r.Refuse(&m)
	assert.Equal(t, "keys waited 43s on average, and 3ms with the load that explains this best of all that were tried", why)
	assert.Contains(t, record, "a longer series of scrapes")
	m.Measured.Overloaded = true
	why, _ = r.Refuse(&m)
	assert.Empty(t, why)
	m.Measured.Overloaded = false
	r = Reproduction{WaitMean: [2]float64{0.003, 0.0001}, WorkMean: [2]float64{0.1, 0.1}, middle: 0.0001}
	why, _ = r.Refuse(&m)
	assert.Empty(t, why, "beside the work both are nothing")
	r = Reproduction{WaitMean: [2]float64{44e-6, 3e-6}, WorkMean: [2]float64{5e-6, 5e-6}, middle: 3e-6}
	why, _ = r.Refuse(&m)
	assert.Empty(t, why, "such waits are the scheduler's")
	r = Reproduction{WaitMean: [2]float64{1.1, 11}, WorkMean: [2]float64{0.1, 0.1}, middle: 1.3}
	why, _ = r.Refuse(&m)
	assert.Empty(t, why, "a few of the simulations wait for long")
}

// A share is written with no exponent and no more digits than it has, in sentences as in tables.
func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0%", 0.000033: "0.0033%", 0.034: "3.4%", 0.099: "9.9%", 0.126: "13%", 0.996: "100%", 1.47: "147%"} {
		assert.Equal(t, want, percent(share))
	}
}

// Where nothing tells of API calls, their rate is not known, and not 0.
func TestCallsThatAreNotKnown(t *testing.T) {
	cell := func(m predict.Model) string {
		for _, e := range Effects(Advice{Model: &m, Now: &predict.Figures{Stable: true}}) {
			if e.Figure == "API calls" {
				return e.Now
			}
		}
		return ""
	}
	assert.Equal(t, "not known", cell(predict.Model{Observations: 500}))
	assert.Equal(t, "0", cell(predict.Model{}), "of a workload it is known")
}
