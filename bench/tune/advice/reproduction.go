package advice

import (
	"context"
	"fmt"
	"math"

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
}

// Reproduce lays simulations of the posterior's members, under the settings under which it was
// measured, beside the measurement. It fails when the context ends.
func Reproduce(ctx context.Context, m *predict.Model, seed uint64) (*Reproduction, error) {
	list, err := m.Repeat(ctx, seed)
	if err != nil {
		return nil, err
	}
	r := &Reproduction{WaitMean: [2]float64{m.Measured.Wait.Mean()}, WorkMean: [2]float64{m.Measured.Work.Mean()}}
	buckets := func(h scrape.Histogram, of func(*model.Result) *model.Sketch) (all []Bucket, distance float64) {
		h = coarsened(h)
		below := make([][]float64, len(list))
		for k, x := range list {
			below[k] = append(of(x).Below(h.Bounds), 1)
		}
		for i, n := range h.Counts {
			b := Bucket{Measured: n / h.Count(), From: 1}
			if i > 0 {
				b.Low = h.Bounds[i-1]
			}
			if i < len(h.Bounds) {
				b.High = h.Bounds[i]
			}
			for _, shares := range below {
				share := shares[i]
				if i > 0 {
					share -= shares[i-1]
				}
				b.Model += share / float64(len(list))
				b.From, b.To = min(b.From, share), max(b.To, share)
			}
			distance += math.Abs(b.Measured-b.Model) / 2
			if b.Measured > 0 || b.To > 0 {
				all = append(all, b)
			}
		}
		return all, distance
	}
	var wait, work float64
	r.Wait, wait = buckets(m.Measured.Wait, func(x *model.Result) *model.Sketch { return &x.Wait })
	r.Work, work = buckets(m.Measured.Work, func(x *model.Result) *model.Sketch { return &x.Work })
	r.Distance = max(wait, work)
	for _, x := range list {
		r.WaitMean[1] += x.Wait.Mean() / float64(len(list))
		r.WorkMean[1] += x.Work.Mean() / float64(len(list))
	}
	r.Verdict = r.verdict(m.Posterior.Odd >= unexplained, overloaded(m))
	return r, nil
}

// verdict puts it into words, so that it agrees with the tables.
func (r *Reproduction) verdict(explained, overloaded bool) string {
	differs := r.differs()
	switch {
	case overloaded:
		return "not comparable: the queue was overloaded while it was measured"
	case explained && differs == "":
		return "good: the measurement is one that the model could have given"
	case explained:
		return "fair: " + differs
	case r.Distance < fairShare:
		return fmt.Sprintf("fair: %.0f%% of the reconciles lie in another bucket", 100*r.Distance)
	}
	return fmt.Sprintf("poor: %.0f%% of the reconciles lie in another bucket, so take the advice as a direction", 100*r.Distance)
}

// differs says what anybody sees in the tables that the model doesn't repeat, whatever
// the score: nothing where it does, or where what differs is small beside the work.
func (r *Reproduction) differs() string {
	if r.apart() > unlikeMean {
		return fmt.Sprintf("the mean wait is %s, and %s as measured", durations.Seconds(r.WaitMean[1]), durations.Seconds(r.WaitMean[0]))
	}
	outside := 0
	for _, b := range r.Wait {
		// Some of what is measured lies outside of the simulations by chance.
		if by := max(b.From-b.Measured, b.Measured-b.To); by > max(0.005, (b.To-b.From)/2) {
			outside++
		}
	}
	if outside > 1 {
		return fmt.Sprintf("of the %d buckets of waits, %d lie outside of what was simulated", len(r.Wait), outside)
	}
	return ""
}

// apart is the ratio of the mean waits, beside which a tenth of the work is nothing.
func (r *Reproduction) apart() float64 {
	least := 0.1 * r.WorkMean[0]
	x, y := r.WaitMean[1]+least, r.WaitMean[0]+least
	return max(x/y, y/x)
}

// Refuse says why a model carries no advice that knows nothing of what makes keys wait, and what to
// record instead; nothing where it does.
func (r *Reproduction) Refuse(m *predict.Model) (why, record string) {
	if r.apart() < strangeMean || overloaded(m) {
		return "", ""
	}
	return fmt.Sprintf("keys waited %s on average, and %s with the load that explains this best of all that were tried", durations.Seconds(r.WaitMean[0]), durations.Seconds(r.WaitMean[1])),
		"a longer series of scrapes, or a trace (benchrun tune --trace)"
}

// coarsened merges the buckets below the floor.
func coarsened(h scrape.Histogram) scrape.Histogram {
	first := 0
	for first+1 < len(h.Bounds) && h.Bounds[first+1] <= floor*1.001 {
		first++
	}
	if first == 0 {
		return h
	}
	low := 0.0
	for _, n := range h.Counts[:first+1] {
		low += n
	}
	return scrape.Histogram{Bounds: h.Bounds[first:], Counts: append([]float64{low}, h.Counts[first+1:]...), Sum: h.Sum}
}
