package experiment

import "time"

// SchemaVersion is the version of run.json and stats.json. It grows when a
// field changes its meaning or goes away.
const SchemaVersion = 1

// A Run is what run.json holds: what was planned, where it ran and what went
// wrong. It is written before the first sample and again at the end.
type Run struct {
	Schema      int               `json:"schema"`
	Started     time.Time         `json:"started"`
	Finished    time.Time         `json:"finished,omitzero"`
	Stopped     string            `json:"stopped,omitempty"` // why sampling ended: "precision", "budget", "rounds", "interrupted"
	Command     []string          `json:"command"`           // the arguments of the command line
	Plan        Plan              `json:"plan"`
	Environment Environment       `json:"environment"`
	Versions    map[string]string `json:"versions"` // module path → version: what was measured
	Schedule    []Sample          `json:"schedule"` // what was sampled, in that order
	Warnings    []Warning         `json:"warnings,omitempty"`
}

// A Plan is fixed before the first sample.
type Plan struct {
	Profile    string        `json:"profile"`            // "quick", "full"
	Workload   string        `json:"workload,omitempty"` // preset or file that the pipeline cases run
	Trace      string        `json:"trace,omitempty"`
	Seed       uint64        `json:"seed"`
	Budget     time.Duration `json:"budgetNanoseconds"`
	Profiling  time.Duration `json:"profilingNanoseconds"` // the part of the budget kept for profiles, which are no samples
	Precision  float64       `json:"precision"`            // wanted half width of a ratio's interval, 0.05 for ±5 %
	Confidence float64       `json:"confidence"`           // of every interval: 0.95
	MinRounds  int           `json:"minRounds"`
	MaxRounds  int           `json:"maxRounds"`
	SampleTime time.Duration `json:"sampleNanoseconds"`  // measured time of one sample
	Timeout    time.Duration `json:"timeoutNanoseconds"` // after which a sample counts as hung
	Cases      []PlannedCase `json:"cases"`
}

// A PlannedCase is one comparison: the arms are sampled round by round.
type PlannedCase struct {
	Component string `json:"component"`
	Name      string `json:"name"`
	Summary   string `json:"summary"`
	Unit      string `json:"unit"` // that the verdict is taken on
	Baseline  string `json:"baseline"`
	Arms      []Arm  `json:"arms"`
}

// An Arm is one variant in a comparison, or the baseline a second time.
type Arm struct {
	Name    string   `json:"name"`    // as in raw.txt: the variant, or the baseline's name + "-again"
	Variant string   `json:"variant"` // in the catalogue
	Summary string   `json:"summary"`
	Peer    bool     `json:"peer,omitempty"`
	Control bool     `json:"control,omitempty"` // the A/A control: the baseline once more
	Relaxes []string `json:"relaxes,omitempty"`
}

// A Sample names one child process of the schedule.
type Sample struct {
	Round   int           `json:"round"`
	Case    string        `json:"case"` // component + "/" + name
	Arm     string        `json:"arm"`
	Took    time.Duration `json:"tookNanoseconds"`
	Failure string        `json:"failure,omitempty"` // why it left no sample: "timed out after 10s", …
}

// An Environment is the machine beside every absolute figure.
type Environment struct {
	Go         string `json:"go"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	Memory     uint64 `json:"memoryBytes"`
	Kernel     string `json:"kernel"`
}

// A Warning is a doubt about the run that its reader should know.
type Warning struct {
	Scope string `json:"scope"` // "run", or component + "/" + case (+ "/" + arm)
	Text  string `json:"text"`
}

// Stats is what stats.json holds: everything derived from raw.txt and run.json.
type Stats struct {
	Schema     int              `json:"schema"`
	Decision   string           `json:"decision"` // one or two sentences over all components
	Components []ComponentStats `json:"components"`
	Warnings   []Warning        `json:"warnings,omitempty"` // the run's and those found in the samples
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
	Baseline   string  `json:"baseline"`
	NoiseFloor float64 `json:"noiseFloor"` // observed A/A difference: how far the ratio of control to baseline is from 1
	Rows       []Row   `json:"rows"`
}

// A Row is one arm of a comparison.
type Row struct {
	Arm
	Samples    int                `json:"samples"`
	Metrics    map[string]Summary `json:"metrics"`              // by tidied unit: "sec/op", "B/op", "allocs/op", "live-B/item", …
	Comparison *Comparison        `json:"comparison,omitempty"` // with the baseline, in the case's unit; nil on the baseline
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
