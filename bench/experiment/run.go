package experiment

import (
	"fmt"
	"slices"
	"time"

	"github.com/informerbench/informerbench/loadgen/machine"
)

// ControlSuffix names the A/A control after its baseline.
const ControlSuffix = "-again"

// SchemaVersion is the version of run.json and stats.json. It grows when a
// field changes its meaning or goes away.
const SchemaVersion = 1

// Releases is the profile of a plan whose arms are releases of one module: its
// decision tells what an upgrade changes.
const Releases = "releases"

// Ablation is the profile of a plan whose arms are one variant, as it is and without
// each of its techniques: its decision tells which of them bring something.
const Ablation = "ablation"

// Swap is the profile of a plan whose arms are one real program, as it is and with other
// queues and caches.
const Swap = "swap"

// Without begins the name of an arm that lacks the technique named after it.
const Without = "without-"

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
	Machines    []Machine         `json:"machines,omitempty"` // of a merged run: one a shard
	Versions    map[string]string `json:"versions"`           // module path → version: what was measured
	Schedule    []Sample          `json:"schedule"`           // what was sampled, in that order
	Warnings    []Warning         `json:"warnings,omitempty"`
}

// Ended tells whether the run came to its end: it neither died nor was
// interrupted.
func (r *Run) Ended() bool { return !r.Finished.IsZero() && r.Stopped != "interrupted" }

// Dropped tells whether an arm was sampled no more because a sample of it failed:
// it has no ratio, so that none kept the run going.
func (r *Run) Dropped() bool {
	return slices.ContainsFunc(r.Schedule, func(s Sample) bool { return s.Failure != "" && !s.Forgiven })
}

// A Plan is fixed before the first sample.
type Plan struct {
	Profile    string        `json:"profile"`            // "quick", "full", "releases", "ablation"
	Workload   string        `json:"workload,omitempty"` // preset or file that the pipeline cases run
	Trace      string        `json:"trace,omitempty"`
	Seed       uint64        `json:"seed"`
	Budget     time.Duration `json:"budgetNanoseconds"`
	Profiling  time.Duration `json:"profilingNanoseconds"` // the part of the budget kept for profiles, which are no samples
	Precision  float64       `json:"precision"`            // wanted half width of a ratio's interval, 0.05 for ±5%
	Confidence float64       `json:"confidence"`           // of every interval: 0.95
	MinRounds  int           `json:"minRounds"`
	MaxRounds  int           `json:"maxRounds"`
	SampleTime time.Duration `json:"sampleNanoseconds"`  // measured time of one sample
	Timeout    time.Duration `json:"timeoutNanoseconds"` // after which a sample counts as hung
	Shard      string        `json:"shard,omitempty"`    // "2/5": this run holds the second fifth of the cases
	Cases      []PlannedCase `json:"cases"`
}

// A PlannedCase is one comparison: the arms are sampled round by round.
type PlannedCase struct {
	Component string `json:"component"`
	Name      string `json:"name"`
	Summary   string `json:"summary"`
	Unit      string `json:"unit"` // that the verdict is taken on
	Baseline  string `json:"baseline"`
	Headline  string `json:"headline,omitempty"` // bench.Case.Headline
	Arms      []Arm  `json:"arms"`
	// LoadRounds is in how many rounds, the first, bench.NullSink is sampled too,
	// which is no arm: it tells what the load costs. 0 where the case can't.
	LoadRounds int `json:"loadRounds,omitempty"`
	// SampleTime is shorter than the plan's where the budget asks for it; else 0.
	SampleTime time.Duration `json:"sampleNanoseconds,omitempty"`
	// LeftOut says why a quick run could not decide the case, which it then does not show.
	LeftOut string `json:"leftOut,omitempty"`
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
	Round    int           `json:"round"`
	Case     string        `json:"case"` // component + "/" + name
	Arm      string        `json:"arm"`
	Took     time.Duration `json:"tookNanoseconds"`
	Forgiven bool          `json:"forgiven,omitempty"` // the sample took too long, but the arm was sampled on
	Failure  string        `json:"failure,omitempty"`  // why it left no sample: "timed out after 10s", …
}

// An Environment is the machine beside every absolute figure.
type Environment = machine.Environment

// A Machine is where one shard of a merged run was sampled. A case is sampled
// whole on one machine, so no ratio is between two.
type Machine struct {
	Shard       string      `json:"shard"` // "2/5"
	Environment Environment `json:"environment"`
	Started     time.Time   `json:"started"`
	Finished    time.Time   `json:"finished,omitzero"`
	Stopped     string      `json:"stopped,omitempty"`
	Cases       []string    `json:"cases"` // component + "/" + name
}

// A Warning is a doubt about the run that its reader should know.
type Warning struct {
	Scope string `json:"scope"` // "run", or component + "/" + case (+ "/" + arm)
	Text  string `json:"text"`
}

// Warn makes a warning; its text is formatted as fmt.Sprintf does.
func Warn(scope, format string, args ...any) Warning {
	return Warning{scope, fmt.Sprintf(format, args...)}
}
