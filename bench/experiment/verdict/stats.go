package verdict

import (
	"path/filepath"

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

// Write writes stats.json into a result directory.
func Write(dir string, stats Stats) error {
	return atomicfile.WriteJSON(filepath.Join(dir, rawtext.StatsFile), stats)
}
