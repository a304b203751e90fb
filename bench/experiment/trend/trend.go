package trend

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// A Trend is what entries show together.
type Trend struct {
	Results  []Result             `json:"results"` // in the order of Read
	Series   []Series             `json:"series"`  // those with changes first, the largest of them first
	Warnings []experiment.Warning `json:"warnings,omitempty"`
}

// A Result is one entry's place on the axis.
type Result struct {
	Time  time.Time `json:"time"`
	Label string    `json:"label"`
}

// A Series is one benchmark's unit over the results.
type Series struct {
	Benchmark string    `json:"benchmark"`
	Config    string    `json:"config,omitempty"` // "goarch=arm64": what tells it from others of that name
	Unit      string    `json:"unit"`
	Relative  bool      `json:"relative"` // values are ratios to upstream's code in the same run, not figures in Unit
	Noise     float64   `json:"noise"`    // median of the results' noise floors; 0 where unknown
	At        []int     `json:"at"`       // indices into Trend.Results
	Values    []float64 `json:"values"`
	Changes   []Step    `json:"changes,omitempty"`
}

// Name is the benchmark with its configuration, where others have that name.
func (s Series) Name() string {
	if s.Config == "" {
		return s.Benchmark
	}
	return s.Benchmark + " (" + s.Config + ")"
}

// A Step is a change between two levels.
type Step struct {
	At     int     `json:"at"`     // index into Values: the first on the new level
	Before float64 `json:"before"` // median of the level before
	After  float64 `json:"after"`
	P      float64 `json:"p"` // by permutation, before the correction over all series
}

// Grown is the step as a share: 0.1 is 10% more; 0 where the level before is 0.
func (c Step) Grown() float64 {
	if c.Before == 0 {
		return 0
	}
	return c.After/c.Before - 1
}

// level is the fewest results that make one: fewer can be a bad day.
const level = 3

// fewest results can show a change: of fewer, more than statistic.Alpha of the
// permutations have a split as clear as that between halves without an overlap.
// TestFewest counts them: 1 in 10 of six and of seven results, 2 in 70 of eight.
const fewest = 8

// Find looks for changes in every series that holds(benchmark, unit). A mark
// needs a rank statistic that few permutations of the series reach (Pettitt's,
// standardised; Benjamini and Hochberg over all series), and a step beyond the
// noise floor. The permutations come from seed.
func Find(entries []Entry, holds func(benchmark, unit string) bool, seed uint64) Trend {
	t := Trend{}
	for _, e := range entries {
		t.Results = append(t.Results, Result{e.Time, e.Label})
	}
	order := seriesOf(entries, holds)
	if n := len(entries); n < fewest {
		t.Warnings = append(t.Warnings, experiment.Warn("run", "%s can't show a change: that takes %d or more, %d before it and %d after; more where it is one of many series", wording.Count(n, "result"), fewest, fewest/2, fewest/2))
	}
	plain := 0
	for _, s := range order {
		if slices.Min(s.relatives) > 0 {
			s.Values, s.Relative = s.relatives, true
		} else {
			plain++
		}
		if len(s.noises) > 0 {
			s.Noise = statistic.Center(s.noises)
		}
	}
	if plain > 0 {
		t.Warnings = append(t.Warnings, experiment.Warn("run", "%d of %d series are absolute figures, because a result lacks upstream's code: a change of machine looks like a change of theirs", plain, len(order)))
	}
	mark(order, rand.New(rand.NewPCG(seed, 0)))
	t.Series = make([]Series, len(order))
	for i, s := range order {
		t.Series[i] = s.Series
	}
	slices.SortStableFunc(t.Series, func(a, b Series) int {
		return cmp.Or(cmp.Compare(b.largest(), a.largest()), strings.Compare(a.Benchmark, b.Benchmark))
	})
	return t
}

// Changed counts the series with a change.
func (t Trend) Changed() int {
	n := 0
	for _, s := range t.Series {
		if len(s.Changes) > 0 {
			n++
		}
	}
	return n
}

// Title says in a sentence what became of the series.
func (t Trend) Title() string {
	results := wording.Count(len(t.Results), "result")
	switch changed := t.Changed(); {
	case changed > 0:
		return fmt.Sprintf("%d of %d series changed over %s.", changed, len(t.Series), results)
	case len(t.Results) < fewest:
		return fmt.Sprintf("Nothing to compare yet: %s of the %d or more that a change takes.", results, fewest)
	default:
		return fmt.Sprintf("No change shown in %d series over %s.", len(t.Series), results)
	}
}

// largest is the size of the largest change, on a scale where half and double
// are equal.
func (s Series) largest() float64 {
	size := 0.0
	for _, c := range s.Changes {
		if c.Before <= 0 || c.After <= 0 {
			return math.Inf(1)
		}
		size = max(size, math.Abs(math.Log(c.After/c.Before)))
	}
	return size
}

// mark fills in the changes. The series' best splits are corrected for one
// another; within a series that has one, both sides are split again by the same
// limit.
func mark(all []*series, r *rand.Rand) {
	permutations := max(9999, 40*len(all))
	ps := make([]float64, len(all))
	for i, s := range all {
		_, ps[i] = split(s.Values, permutations, r)
	}
	limit := falseDiscovery(ps)
	for i, s := range all {
		if ps[i] <= limit {
			s.segment(0, len(s.Values), limit, permutations, r)
			s.measure()
		}
	}
}

// falseDiscovery is the limit of Benjamini and Hochberg: of the series with a p
// up to it, one in twenty is expected to be chance, and where nothing changes
// any is up to it in one of twenty trends. It is 0 if none is.
func falseDiscovery(ps []float64) float64 {
	sorted := slices.Sorted(slices.Values(ps))
	for i := len(sorted) - 1; i >= 0; i-- {
		if limit := statistic.Alpha * float64(i+1) / float64(len(sorted)); sorted[i] <= limit {
			return limit
		}
	}
	return 0
}

func (s *Series) segment(low, high int, limit float64, permutations int, r *rand.Rand) {
	at, p := split(s.Values[low:high], permutations, r)
	if p > limit {
		return
	}
	at += low
	s.segment(low, at, limit, permutations, r)
	s.Changes = append(s.Changes, Step{At: at, P: p})
	s.segment(at, high, limit, permutations, r)
}

// measure takes the levels' medians and drops steps within the noise.
func (s *Series) measure() {
	for again := true; again; {
		again = false
		for i := range s.Changes {
			low, high := 0, len(s.Values)
			if i > 0 {
				low = s.Changes[i-1].At
			}
			if i+1 < len(s.Changes) {
				high = s.Changes[i+1].At
			}
			c := &s.Changes[i]
			c.Before = statistic.Center(s.Values[low:c.At])
			c.After = statistic.Center(s.Values[c.At:high])
		}
		for i, c := range s.Changes {
			if c.Before > 0 && c.After > 0 && math.Expm1(math.Abs(math.Log(c.After/c.Before))) <= s.Noise {
				s.Changes = slices.Delete(s.Changes, i, i+1)
				again = true
				break
			}
		}
	}
}

// split finds the most likely step and the share of permutations of the values
// that have one as clear. It stops early where that is many.
func split(values []float64, permutations int, r *rand.Rand) (at int, p float64) {
	if len(values) < fewest {
		return 0, 1
	}
	ranks := ranked(values)
	at, best := clearest(ranks)
	const enough = 20
	reached, n := 0, 0
	for n < permutations && reached < enough {
		r.Shuffle(len(ranks), func(i, j int) { ranks[i], ranks[j] = ranks[j], ranks[i] })
		if _, s := clearest(ranks); s >= best-1e-12 {
			reached++
		}
		n++
	}
	if reached < enough {
		reached, n = reached+1, n+1
	}
	return at, float64(reached) / float64(n)
}

// ranked are the mid-ranks of values, so that one outlier weighs no more than
// any largest value.
func ranked(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	ranks := make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			ranks[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return ranks
}

// clearest is the split whose rank sum is furthest from what it would be by
// chance, in standard deviations.
func clearest(ranks []float64) (at int, deviation float64) {
	n := float64(len(ranks))
	sum := 0.0
	for i, rank := range ranks[:len(ranks)-level] {
		sum += rank
		if i+1 < level {
			continue
		}
		k := float64(i + 1)
		if d := math.Abs(sum-k*(n+1)/2) / math.Sqrt(k*(n-k)*(n+1)/12); d > deviation {
			at, deviation = i+1, d
		}
	}
	return at, deviation
}
