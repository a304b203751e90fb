package tune

import (
	"math"
	"slices"
)

// A grid holds what was tried of a form of arrivals, by a share that tells one
// from the next. Each is as probable beforehand as the part of all shares that it
// stands for.
type grid struct {
	shares []float64
	all    []candidate
	tried  []outcome
}

func (g *grid) add(share float64, c candidate, x outcome) {
	g.shares, g.all, g.tried = append(g.shares, share), append(g.all, c), append(g.tried, x)
}

// closer tries shares beside the likeliest one, twice, so that what lies between
// two of them isn't thought unlikely: unless the least score of others is far
// better.
func (g *grid) closer(others float64, try func(share float64) error) error {
	for range 2 {
		if len(g.all) == 0 {
			return nil
		}
		logs := logLikelihoods(g.tried)
		for i, x := range g.tried {
			if x.score > worth(g.tried) {
				logs[i] = math.Inf(-1)
			}
		}
		first := slices.Index(logs, slices.Max(logs))
		if g.tried[first].score > 2*others {
			return nil
		}
		sorted, likeliest := slices.Sorted(slices.Values(g.shares)), g.shares[first]
		at := slices.Index(sorted, likeliest)
		for _, beside := range sorted[max(at-1, 0):min(at+2, len(sorted))] {
			if beside == likeliest {
				continue
			}
			if err := try(math.Sqrt(likeliest * beside)); err != nil {
				return err
			}
		}
	}
	return nil
}

// candidates are what was tried, and how probable beforehand.
func (g *grid) candidates() ([]candidate, []outcome) {
	sorted := slices.Sorted(slices.Values(g.shares))
	for i, share := range g.shares {
		at := slices.Index(sorted, share)
		g.all[i].log += math.Log(max(0.005, sorted[min(at+1, len(sorted)-1)]-sorted[max(at-1, 0)]))
	}
	return g.all, g.tried
}

// worth is the score up to which an explanation is worth a thought beside others.
// Where none explains all that was measured, likelihoods go by what each lets
// happen now and then, and the vaguest would win.
func worth(tried []outcome) float64 { return 3*least(tried) + 2*fits }

// least is the least score.
func least(tried []outcome) float64 {
	score := math.Inf(1)
	for _, x := range tried {
		score = min(score, x.score)
	}
	return score
}
