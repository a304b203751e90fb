package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// A mixture is work of two kinds whose means are apart by a ratio, the longer one
// with that share; each kind is exponential or all alike.
type mixture struct {
	alike        bool
	share, ratio float64
}

func (x mixture) shape() shape {
	y := hyperOf(x.share, x.ratio, 1)
	if !x.alike {
		return y.shape()
	}
	const jump = 1e-9
	mean := (1-x.share)*y.short + x.share*y.long
	return shape{
		family: "quantiles", at: []float64{0, 1 - x.share - jump, 1 - x.share, 1}, points: []float64{y.short, y.short * (1 + jump), y.long, y.long * (1 + jump)},
		cv: math.Sqrt(max(0, ((1-x.share)*y.short*y.short+x.share*y.long*y.long)/(mean*mean)-1)),
	}
}

// mixed looks for work of two kinds behind a client's limit, where the work
// durations hold the waits for it and so don't show the two: first over a grid,
// then ever nearer around the best, by all that was measured.
func (f *fit) mixed(ctx context.Context, t trial, progress func(string)) (outcome, error) {
	var list []mixture
	var all []candidate
	var tried []outcome
	try := func(x mixture) error {
		if x.share > 0.6 || slices.Contains(list, x) {
			return nil
		}
		progress(fmt.Sprintf("work of two kinds, %d tried", len(all)))
		f.setService(x.shape(), 1)
		found, err := t.run(ctx)
		if err == nil {
			list, all, tried = append(list, x), append(all, f.now()), append(tried, found)
		}
		return err
	}
	for _, alike := range []bool{false, true} {
		for _, share := range []float64{0.02, 0.08, 0.3} {
			for _, ratio := range []float64{5, 25, 125} {
				if err := try(mixture{alike, share, ratio}); err != nil {
					return outcome{}, err
				}
			}
		}
	}
	for _, by := range []float64{2, 1.6, 1.35, 1.2, 1.1} {
		logs, first := weigh(tried), 0
		for i := range logs {
			if logs[i] > logs[first] {
				first = i
			}
		}
		x := list[first]
		for _, step := range [][2]float64{{by, 1}, {1 / by, 1}, {1, by * by}, {1, 1 / by / by}, {by, 1 / by}, {1 / by, by}} {
			if err := try(mixture{x.alike, x.share * step[0], max(1.5, x.ratio*step[1])}); err != nil {
				return outcome{}, err
			}
		}
	}
	return f.believe(all, tried), nil
}
