package verdict

import (
	"path/filepath"
	"slices"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
)

// Stats is what stats.json holds: everything derived from raw.txt and run.json.
type Stats struct {
	Schema     int                  `json:"schema"`
	Decision   string               `json:"decision"` // one or two sentences over all components
	Components []ComponentStats     `json:"components"`
	Warnings   []experiment.Warning `json:"warnings,omitempty"` // the run's and those found in the samples
}

// ComponentStats is one component's table.
type ComponentStats struct {
	Component string      `json:"component"`
	Decision  string      `json:"decision"` // one sentence
	Ranking   []Rank      `json:"ranking"`  // best first, peers included, the control left out
	Cases     []CaseStats `json:"cases"`
}

// A Rank is a variant's place over all cases of its component.
type Rank struct {
	Variant string   `json:"variant"`
	Peer    bool     `json:"peer,omitempty"`
	Relaxes []string `json:"relaxes,omitempty"`
	Ratio   float64  `json:"ratio"` // geometric mean of the cases' ratios
	Worst   float64  `json:"worst"` // smallest ratio of any case
	Faster  int      `json:"faster"`
	Slower  int      `json:"slower"` // cases with that verdict
	Cases   int      `json:"cases"`
}

// CaseStats is one comparison.
type CaseStats struct {
	Name       string  `json:"name"`
	Summary    string  `json:"summary"`
	Unit       string  `json:"unit"`
	Headline   string  `json:"headline,omitempty"`
	Baseline   string  `json:"baseline"`
	NoiseFloor float64 `json:"noiseFloor"`     // what the baseline differs by from itself, as all controls of the run show
	Load       *Load   `json:"load,omitempty"` // nil where it was not sampled
	Rows       []Row   `json:"rows"`
}

// A Row is one arm of a comparison.
type Row struct {
	experiment.Arm
	Samples    int                `json:"samples"`
	Metrics    map[string]Summary `json:"metrics"`              // by tidied unit: "sec/op", "B/op", "allocs/op", "live-B/item", …
	Comparison *Comparison        `json:"comparison,omitempty"` // with the baseline, in the case's unit; nil on the baseline
	LoadShare  float64            `json:"loadShare,omitempty"`  // part of its cost that is the load's, in the case's unit
}

// A Summary is benchmath's: the median with its confidence interval, which is
// infinite (null in JSON) while there are too few samples for one.
type Summary struct {
	Center float64   `json:"center"`
	Low    float64   `json:"low"`
	High   float64   `json:"high"`
	Values []float64 `json:"values"` // the samples, in the order of rounds
}

// A Comparison says how many times faster than the baseline an arm is:
// baseline / arm, so 2 is twice as fast and 0.5 half as fast.
type Comparison struct {
	Ratio     float64 `json:"ratio"`     // exp of the Hodges–Lehmann estimate of the paired log-ratios over rounds
	Low       float64 `json:"low"`       // its interval, from the signed-rank distribution; 0 where there are too few rounds
	High      float64 `json:"high"`      // +Inf there
	P         float64 `json:"p"`         // Mann–Whitney U, as benchstat's
	PPaired   float64 `json:"pPaired"`   // Wilcoxon's signed-rank test over rounds
	PAdjusted float64 `json:"pAdjusted"` // Holm over the report, of twice the smaller of both
	Verdict   Verdict `json:"verdict"`
}

// A Verdict is what a comparison may claim.
type Verdict string

// The verdicts. Same means that no difference above the noise floor was shown.
const (
	Faster   Verdict = "faster"
	Slower   Verdict = "slower"
	Same     Verdict = "~"
	TooFew   Verdict = "too few samples"
	NoResult Verdict = "no result"
)

// Verdicts counts the comparisons of a report by verdict, the controls' included.
func (s Stats) Verdicts() map[Verdict]int {
	n := map[Verdict]int{}
	for _, c := range s.Components {
		for _, cs := range c.Cases {
			for _, r := range cs.Rows {
				if r.Comparison != nil {
					n[r.Comparison.Verdict]++
				}
			}
		}
	}
	return n
}

// maxListed is how many figures stats.json repeats from raw.txt. With more of
// them it could not be read whole any longer.
const maxListed = 2_000_000

// Write writes stats.json into a result directory. Of a very long run it holds no
// single figures, and says so: they are in raw.txt.
func Write(dir string, stats Stats) error {
	return atomicfile.WriteJSON(filepath.Join(dir, rawtext.StatsFile), stats.listing(maxListed))
}

// listing is s, or s without the figures of single samples if those are more than
// limit.
func (s Stats) listing(limit int) Stats {
	figures := 0
	for _, component := range s.Components {
		for _, c := range component.Cases {
			for _, r := range c.Rows {
				for _, m := range r.Metrics {
					figures += len(m.Values)
				}
			}
		}
	}
	if figures <= limit {
		return s
	}
	s.Components = slices.Clone(s.Components)
	for i, component := range s.Components {
		s.Components[i].Cases = slices.Clone(component.Cases)
		for j, c := range component.Cases {
			c.Rows = slices.Clone(c.Rows)
			for k := range c.Rows {
				c.Rows[k].Metrics = unlisted(c.Rows[k].Metrics)
			}
			if c.Load != nil {
				load := *c.Load
				load.Metrics = unlisted(load.Metrics)
				c.Load = &load
			}
			s.Components[i].Cases[j] = c
		}
	}
	s.Warnings = append(slices.Clone(s.Warnings), experiment.Warn("run", "%d figures of single samples are left out of %s: they are in %s", figures, rawtext.StatsFile, rawtext.File))
	return s
}

func unlisted(metrics map[string]Summary) map[string]Summary {
	short := make(map[string]Summary, len(metrics))
	for unit, m := range metrics {
		m.Values = []float64{}
		short[unit] = m
	}
	return short
}
