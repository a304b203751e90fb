package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
)

// phases tries bursts and pauses in turn: for every share of the time that is
// burst, the length with which keys wait as long as measured on average. Each
// share is as probable beforehand as another.
//
// What arrived in so many bursts may have been more or fewer than is usual, and
// a rate that is too low makes sharper bursts of the same waits: the likeliest are
// tried at higher and lower rates too.
func (f *fit) phases(ctx context.Context, t trial, progress func(string)) (all []candidate, tried []outcome, err error) {
	a := &f.Model.Spec.Resources[0].Events.Arrivals
	was, measured := *a, a.Rate
	defer func() { *a = was }()
	most := math.Log(measured * t.reach() / 6)
	try := func(p phase, rate float64) (phase, bool, error) {
		progress(fmt.Sprintf("bursts, %d tried", len(all)))
		x, c, size, err := f.matched(ctx, t, math.Log(1.5), most, p.size, func(size float64) { *a = p.arrivals(rate, size) })
		if p.size = size; err != nil || most-size < 0.05 {
			return p, false, err // so gentle a burst never makes keys wait as long
		}
		c.log += p.log
		all, tried = append(all, c), append(tried, x)
		return p, true, nil
	}
	var list []phase
	for _, lengths := range [][2]func(float64) randvar.Dist{{randvar.Exponential, randvar.Exponential}, {randvar.Constant, randvar.Exponential}, {randvar.Constant, randvar.Constant}} {
		p := phase{lengths: lengths, size: math.Log(max(2, measured*f.wait.Mean()))}
		for i, share := range duties {
			// The part of all shares that this one stands for, of three kinds of lengths.
			p.share, p.log = share, math.Log((duties[min(i+1, len(duties)-1)]-duties[max(i-1, 0)])/3)
			var ok bool
			if p, ok, err = try(p, measured); err != nil {
				return nil, nil, err
			}
			if !ok {
				break
			}
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, nil, nil
	}
	logs := logLikelihoods(tried)
	for i, p := range list {
		if logs[i]+p.log < slices.Max(logs)-5 {
			continue
		}
		drift := tried[i].drift
		all[i].log -= math.Ln2 // it and the next two share its range of rates
		p.log -= math.Ln2
		for _, times := range []float64{-1.2, 1.2} { // standard deviations
			if _, _, err = try(p, measured*math.Exp(times*drift)); err != nil {
				return nil, nil, err
			}
		}
	}
	return all, tried, nil
}

var duties = []float64{0.005, 0.02, 0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.37, 0.45, 0.55, 0.7}

// A phase is a form of bursts and pauses.
type phase struct {
	lengths [2]func(mean float64) randvar.Dist
	share   float64 // of the time that is burst
	size    float64 // arrivals in a burst, as a logarithm
	log     float64 // of how probable it is beforehand
}

func (p phase) arrivals(rate, size float64) loadgen.Arrivals {
	period := math.Exp(size) / rate
	return loadgen.Arrivals{Kind: "onoff", Rate: rate, On: p.lengths[0](p.share * period), Off: p.lengths[1]((1 - p.share) * period)}
}
