// Package lab plans an experiment and samples it: cases and arms are fixed first,
// then taken in turns, each sample in a child process of its own.
package lab

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// Profiles of a plan.
const (
	Quick = "quick" // the cases that tell variants apart, in under two minutes
	Full  = "full"  // every case, until the intervals are narrow
)

// Options narrow a plan down; zero values mean the profile's defaults.
type Options struct {
	Profile    string
	Components []string
	Variants   []string // the baseline always takes part
	Case       string   // part of "component/name", or a regular expression
	Workload   string
	Trace      string
	Seed       uint64
	Budget     time.Duration
	Precision  float64 // half width of a ratio's interval: 0.05 is ±5%
	Rounds     int     // exactly so many rounds of every case, whatever their width
	SampleTime time.Duration
	Timeout    time.Duration
	Shard      Shard // the part of the cases that this machine samples; zero for all
}

type defaults struct {
	budget, sampleTime, timeout time.Duration
	precision                   float64
	minRounds, maxRounds        int
}

// manyRounds bounds the memory of a run whose limit is the budget.
const manyRounds = 5000

// loadRounds is how often the load alone is sampled: its cost is shown and
// warned of, never claimed, so that a median of few is enough.
const loadRounds = 5

// loadShare is the part of the budget that samples of loads may take. The first
// of each case is taken anyway.
const loadShare = 1. / 25

// profiles maps a profile to its defaults. Many short samples beat few long
// ones: a slow phase of the machine covers a whole round and cancels in its
// ratios.
var profiles = map[string]defaults{
	Quick: {100 * time.Second, 30 * time.Millisecond, 10 * time.Second, 0.05, statistic.MinSamples, 40},
	Full:  {100 * time.Minute, 100 * time.Millisecond, 60 * time.Second, 0.02, 10, 200},
}

// NewPlan fixes what will be sampled. Its errors name the option and what it
// may be.
func NewPlan(cases []bench.Case, o Options) (experiment.Plan, error) {
	o.Profile = cmp.Or(o.Profile, Quick)
	d, ok := profiles[o.Profile]
	if !ok {
		return experiment.Plan{}, fmt.Errorf("unknown profile %q, expected one of %s, %s", o.Profile, Quick, Full)
	}
	switch {
	case o.Budget < 0:
		return experiment.Plan{}, fmt.Errorf("budget is %s, expected more than 0s", o.Budget)
	case o.Precision < 0 || o.Precision >= 1:
		return experiment.Plan{}, fmt.Errorf("precision is %g, expected a share between 0 and 1, as in 0.05 or 5%%", o.Precision)
	case o.Rounds < 0:
		return experiment.Plan{}, fmt.Errorf("rounds is %d, expected at least 1", o.Rounds)
	}
	selected, err := selectCases(cases, o)
	if err != nil {
		return experiment.Plan{}, err
	}
	p := experiment.Plan{
		Profile: o.Profile, Workload: o.Workload, Trace: o.Trace, Seed: o.Seed, Confidence: 0.95,
		Budget:     cmp.Or(o.Budget, d.budget),
		Precision:  cmp.Or(o.Precision, d.precision),
		SampleTime: cmp.Or(o.SampleTime, d.sampleTime),
		Timeout:    cmp.Or(o.Timeout, d.timeout),
		MaxRounds:  d.maxRounds,
	}
	comparisons := 0
	for _, c := range selected {
		pc := planCase(c, o)
		p.Cases = append(p.Cases, pc)
		comparisons += len(pc.Arms) - 2
	}
	p.MinRounds = max(d.minRounds, statistic.RoundsToTell(comparisons))
	if o.Precision > 0 {
		p.MaxRounds = manyRounds // who asks for a precision has the budget for a limit
	}
	if o.Rounds > 0 {
		p.MinRounds, p.MaxRounds = o.Rounds, o.Rounds
		if o.Budget == 0 {
			p.Budget = 24 * time.Hour // the rounds are the limit
		}
	}
	p.Profiling = p.Budget / 10
	if o.Shard.Count > 0 {
		p.Shard = o.Shard.String()
		if p.Cases = o.Shard.of(p.Cases); len(p.Cases) == 0 {
			return experiment.Plan{}, fmt.Errorf("shard %s has nothing to do: %s for %d shards, expected no more shards than cases", o.Shard, wording.Count(len(selected), "case"), o.Shard.Count)
		}
	}
	return p, nil
}

func planCase(c bench.Case, o Options) experiment.PlannedCase {
	arm := func(variant string) experiment.Arm {
		a := experiment.Arm{Name: variant, Variant: variant}
		for _, v := range c.About {
			if v.Name == variant {
				a.Summary, a.Peer, a.Relaxes = v.Summary, v.Peer, v.Relaxes
			}
		}
		return a
	}
	pc := experiment.PlannedCase{Component: c.Component, Name: c.Name, Summary: c.Summary, Unit: c.Unit, Baseline: c.Baseline, Headline: c.Headline}
	pc.Arms = append(pc.Arms, arm(c.Baseline))
	for _, v := range c.Variants {
		if v != c.Baseline && (len(o.Variants) == 0 || slices.Contains(o.Variants, v)) {
			pc.Arms = append(pc.Arms, arm(v))
		}
	}
	if c.Load != nil {
		pc.LoadRounds = loadRounds
	}
	control := arm(c.Baseline)
	control.Name, control.Control = c.Baseline+experiment.ControlSuffix, true
	pc.Arms = append(pc.Arms, control)
	return pc
}

func selectCases(cases []bench.Case, o Options) ([]bench.Case, error) {
	var components, variants []string
	for _, c := range cases {
		components = append(components, c.Component)
		variants = append(variants, c.Variants...)
	}
	if err := known("component", o.Components, components); err != nil {
		return nil, err
	}
	if err := known("variant", o.Variants, variants); err != nil {
		return nil, err
	}
	pattern, err := regexp.Compile(o.Case)
	if err != nil {
		pattern = regexp.MustCompile(regexp.QuoteMeta(o.Case))
	}
	var selected []bench.Case
	var names []string // of the cases that only the pattern excludes
	for _, c := range cases {
		if len(o.Components) > 0 && !slices.Contains(o.Components, c.Component) {
			continue
		}
		// A case that is asked for by name need not be part of the quick profile.
		if o.Profile == Quick && !c.Quick && o.Case == "" {
			continue
		}
		if len(o.Variants) > 0 && !slices.ContainsFunc(c.Variants, func(v string) bool { return slices.Contains(o.Variants, v) }) {
			continue
		}
		name := c.Component + "/" + c.Name
		names = append(names, name)
		if strings.Contains(name, o.Case) || pattern.MatchString(name) {
			selected = append(selected, c)
		}
	}
	if len(selected) == 0 && o.Case != "" {
		return nil, fmt.Errorf("unknown case %q, expected part of one of %s", o.Case, few(o.Case, names))
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("no case of the %s profile is left by these components and variants", o.Profile)
	}
	return selected, nil
}

// known refuses the first of the names that is not among those there are.
func known(what string, names, all []string) error {
	for _, name := range names {
		if !slices.Contains(all, name) {
			slices.Sort(all)
			return fmt.Errorf("unknown %s %q, expected one of %s", what, name, strings.Join(slices.Compact(all), ", "))
		}
	}
	return nil
}
