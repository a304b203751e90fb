package advice

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// A Bucket compares what was measured with what the model makes of it.
type Bucket struct {
	Low      float64 `json:"low"`  // seconds, exclusive
	High     float64 `json:"high"` // seconds, inclusive; 0: no end
	Measured float64 `json:"measured"`
	Model    float64 `json:"model"` // mean of simulations as long as the measurement
	From     float64 `json:"from"`  // the least and ...
	To       float64 `json:"to"`    // ... the most of them
}

// A Reproduction says how well the model repeats what was measured.
type Reproduction struct {
	Wait     []Bucket   `json:"wait"`
	Work     []Bucket   `json:"work"`
	Distance float64    `json:"distance"` // the larger share of reconciles that lie in another bucket, of the two
	WaitMean [2]float64 `json:"waitMean"` // measured and the model's
	WorkMean [2]float64 `json:"workMean"`
	Verdict  string     `json:"verdict"`

	middle float64 // mean wait of the middle one of the simulations, of which a few may wait for much longer
}

// Reproduce lays simulations of the posterior's members, under the settings under which it was
// measured, beside the measurement. It fails when the context ends.
func Reproduce(ctx context.Context, m *predict.Model, seed uint64) (*Reproduction, error) {
	list, err := m.Repeat(ctx, seed)
	if err != nil {
		return nil, err
	}
	r := &Reproduction{}
	n := float64(len(list))
	compare := func(h scrape.Histogram, of func(*model.Result) *model.Sketch) (all []Bucket, mean [2]float64) {
		mean[0] = h.Mean()
		h = coarsened(h)
		ends := slices.Concat([]float64{0}, h.Bounds, []float64{0})
		var below [][]float64 // each of the ends, by simulation
		for _, x := range list {
			mean[1] += of(x).Mean() / n
			below = append(below, slices.Concat([]float64{0}, of(x).Below(h.Bounds), []float64{1}))
		}
		distance := 0.0
		for i, count := range h.Counts {
			b := Bucket{Low: ends[i], High: ends[i+1], Measured: count / h.Count(), From: 1}
			for _, shares := range below {
				share := shares[i+1] - shares[i]
				b.Model += share / n
				b.From, b.To = min(b.From, share), max(b.To, share)
			}
			distance += math.Abs(b.Measured-b.Model) / 2
			if b.Measured > 0 || b.To > 0 {
				all = append(all, b)
			}
		}
		r.Distance = max(r.Distance, distance)
		return all, mean
	}
	r.Wait, r.WaitMean = compare(m.Measured.Wait, func(x *model.Result) *model.Sketch { return &x.Wait })
	r.Work, r.WorkMean = compare(m.Measured.Work, func(x *model.Result) *model.Sketch { return &x.Work })
	waits := make([]float64, len(list))
	for i, x := range list {
		waits[i] = x.Wait.Mean()
	}
	r.middle = verdict.Summarise(waits, 0.95).Center
	r.Verdict = r.verdict(m.Posterior.Odd >= unexplained, overloaded(m))
	return r, nil
}

// verdict puts it into words. It is no better than what anybody sees in the tables, whatever the score.
func (r *Reproduction) verdict(explained, overloaded bool) string {
	outside := 0
	for _, b := range r.Wait {
		// Some of what is measured lies outside of the simulations by chance.
		if by := max(b.From-b.Measured, b.Measured-b.To); by > max(0.005, (b.To-b.From)/2) {
			outside++
		}
	}
	switch {
	case overloaded:
		return "not comparable: the queue was overloaded while it was measured"
	case !explained && r.Distance < fairShare:
		return fmt.Sprintf("fair: %.0f%% of the reconciles lie in another bucket", 100*r.Distance)
	case !explained:
		return fmt.Sprintf("poor: %.0f%% of the reconciles lie in another bucket, so take the advice as a direction", 100*r.Distance)
	case r.apart(r.WaitMean[1], 0) > unlikeMean:
		return fmt.Sprintf("fair: the mean wait is %s, and %s as measured", durations.Seconds(r.WaitMean[1]), durations.Seconds(r.WaitMean[0]))
	case outside > 1:
		return fmt.Sprintf("fair: of the %d buckets of waits, %d lie outside of what was simulated", len(r.Wait), outside)
	}
	return "good: the measurement is one that the model could have given"
}

// apart is the ratio of two mean waits, beside which a tenth of the work is nothing.
func (r *Reproduction) apart(model, least float64) float64 {
	least += 0.1 * r.WorkMean[0]
	x, y := model+least, r.WaitMean[0]+least
	return max(x/y, y/x)
}

// Refuse says why a model carries no advice that knows nothing of what makes keys wait, and what to
// record instead; nothing where it does.
func (r *Reproduction) Refuse(m *predict.Model) (why, record string) {
	if !(r.apart(r.middle, floor) >= strangeMean) || overloaded(m) { // not a number where all simulations are overloaded
		return "", ""
	}
	return fmt.Sprintf("keys waited %s on average, and %s with the load that explains this best of all that were tried", durations.Seconds(r.WaitMean[0]), durations.Seconds(r.middle)),
		"a longer series of scrapes, or a trace (benchrun tune --trace)"
}

// coarsened merges the buckets below the floor.
func coarsened(h scrape.Histogram) scrape.Histogram {
	for len(h.Bounds) > 1 && h.Bounds[1] <= floor*1.001 {
		h.Counts = slices.Concat([]float64{h.Counts[0] + h.Counts[1]}, h.Counts[2:])
		h.Bounds = h.Bounds[1:]
	}
	return h
}
