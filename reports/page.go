package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// A page is what both reports print. Its text is formatted and still raw: each
// printer escapes it in its own way.
type page struct {
	Title       string
	Subtitle    string
	Decision    string
	Confidence  confidence
	Level       string // of every interval: "95%"
	Baseline    string // that ratios are taken against; "the baseline" where components differ
	Components  []component
	Axis        axis // shared by all rankings
	Facts       []fact
	Environment []fact
	Versions    []fact
	Command     string
	Warnings    []experiment.Warning
	Hidden      int // warnings left out
	Failures    []experiment.Sample
	Failed      int // failures left out
	Profiles    *profileSet
	Drive       *driven  // nil if nothing was driven
	Swap        *swapped // nil if no program was swapped
	Alone       bool     // one drive: its outcome takes the place of a decision
	DriveFacts  []fact
	Calibration *calibrated // nil if there is none
	Notes       []string    // what was left out to keep the page small

	Loads *table // what the cases cost without a component
	links []link
}

// A fact is one line of a definition list.
type fact struct{ Name, Value string }

// promises splits what a variant relaxes into the promises of the interface
// that it gives up and the faults that upstream documents.
func promises(relaxes []string) (gives, faults []string) {
	for _, r := range relaxes {
		if fault, ok := strings.CutPrefix(r, "fault:"); ok {
			faults = append(faults, fault)
		} else {
			gives = append(gives, r)
		}
	}
	return gives, faults
}

// Gives lists the promises that v gives up.
func (v variantName) Gives() []string { gives, _ := promises(v.Relaxes); return gives }

// Faults lists the known faults of v.
func (v variantName) Faults() []string { _, faults := promises(v.Relaxes); return faults }

// A component is one section.
type component struct {
	ID, Name, Title, Decision string
	Baseline                  string
	Noise                     string // median noise floor of its cases
	Band                      span   // the same on the page's axis
	Ranks                     []rank
	Variants                  []variantName // columns of the heat map
	Cases                     []caseView
	Scales                    []scale
	Hidden                    string // which cases are left out, and where they are
	Profiled                  bool
	Best                      string // shown beside the baseline: what the decision names, else the first that is not upstream's
}

type variantName struct {
	Name, Summary  string
	Peer, Baseline bool
	Relaxes        []string
}

const maxWarnings = 60

// newPage shows the tables of the most telling cases, up to rows variants in
// all; rankings and decisions are always over every case.
func newPage(in input, rows int) *page {
	run, stats := in.run, in.stats
	order := newTelling(run, stats)
	p := &page{
		Title:    "informerbench report",
		Subtitle: in.name,
		Decision: cmp.Or(stats.Decision, "Nothing was measured, so there is nothing to decide."),
		Warnings: stats.Warnings,
		Profiles: in.profiles,
		Drive:    in.drive,
		Swap:     in.swap,

		Calibration: in.calibration,
		links:       in.links,
	}
	if len(p.Warnings) > maxWarnings {
		p.Hidden = len(p.Warnings) - maxWarnings
		p.Warnings = first(order, p.Warnings, maxWarnings, func(w experiment.Warning) string { return w.Scope })
	}
	for _, s := range run.Schedule {
		if s.Failure != "" {
			p.Failures = append(p.Failures, s)
		}
	}
	if len(p.Failures) > maxWarnings {
		p.Failed = len(p.Failures) - maxWarnings
		p.Failures = first(order, p.Failures, maxWarnings, func(s experiment.Sample) string { return s.Case })
	}
	p.Confidence = judge(run, stats)
	p.Level = wording.Percent(cmp.Or(run.Plan.Confidence, 0.95))
	p.Axis = newAxis(stats)
	p.Baseline = commonBaseline(stats.Components)
	used := map[string]bool{}
	shown, hidden := order.room(stats, rows)
	for i, c := range stats.Components {
		p.Components = append(p.Components, p.component(c, shown[i], sectionID(c.Component, i, used)))
	}
	p.Loads = newLoads(p.Components)
	if hidden > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%s are not shown here to keep the page small; all are in stats.csv and count in the rankings. To see them in a report, run fewer cases at a time (--component, --case).", wording.Count(hidden, "case")))
	}
	if in.profiles.hidden > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%s are not drawn here to keep the page small; each case's table links to them.", wording.Count(in.profiles.hidden, "CPU profile")))
	}
	for _, graph := range in.profiles.all {
		p.linkProfile(graph)
	}
	if len(run.Command) > 0 {
		p.Command = "benchrun " + strings.Join(quoted(run.Command), " ")
	}
	p.Facts = runFacts(run)
	if p.Drive != nil {
		p.DriveFacts = driveFacts(p.Drive)
		if p.Alone = alone(stats) && len(p.Drive.Arms) == 1 && len(p.Drive.Arms[0].rounds) == 1; p.Alone {
			p.Decision = p.Drive.outcome()
			p.Components, p.Calibration = nil, nil
			p.Warnings = slices.DeleteFunc(slices.Clone(p.Warnings), func(w experiment.Warning) bool {
				ofComparison := slices.ContainsFunc(run.Plan.Cases, func(c experiment.PlannedCase) bool { return c.Key() == w.Scope })
				return ofComparison && !slices.Contains(run.Warnings, w)
			})
		}
	}
	p.Environment = environmentFacts(run.Environment)
	p.Versions = versionFacts(run.Versions)
	return p
}

// alone tells that nothing was compared, so there is nothing to decide or rank.
func alone(stats verdict.Stats) bool {
	for _, c := range stats.Components {
		for _, x := range c.Cases {
			others := slices.ContainsFunc(x.Rows, func(r verdict.Row) bool { return r.Comparison != nil && !r.Control })
			if others {
				return false
			}
		}
	}
	return true
}

func (p *page) linkProfile(graph flame) {
	c := &p.Components[graph.Component]
	at := slices.IndexFunc(c.Cases, func(x caseView) bool { return x.index == graph.Case })
	if at < 0 {
		return
	}
	c.Profiled = true
	for i, r := range c.Cases[at].Rows {
		if r.Name == graph.Variant && !r.Control {
			c.Cases[at].Rows[i].Profile = graph.File
		}
	}
}

// commonBaseline names the baseline of all cases, if they have the same one.
func commonBaseline(components []verdict.ComponentStats) string {
	name := ""
	for _, c := range components {
		for _, x := range c.Cases {
			if name != "" && name != x.Baseline {
				return "the baseline"
			}
			name = x.Baseline
		}
	}
	return cmp.Or(name, "the baseline")
}

// sectionID is an anchor that people can link to, unique on the page.
func sectionID(name string, i int, used map[string]bool) string {
	id := "c-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	if used[id] {
		id = fmt.Sprintf("%s-%d", id, i)
	}
	used[id] = true
	return id
}

var titles = map[string]string{
	"storage": "Queue storage", "queue": "Work queue", "priority-queue": "Priority queue", "delaying-queue": "Delaying queue",
	"rate-limiter": "Rate limiter", "rate-limiting-queue": "Rate limiting queue", "fifo": "FIFO", "delta-fifo": "DeltaFIFO",
	"in-order-fifo": "In-order FIFO", "indexer": "Indexer", "informer": "Informer", "elector": "Leader election",
	"pipeline": "Whole pipeline", "drive": "Controller under load", "swap": "Real program",
}

func title(component string) string { return cmp.Or(titles[component], component) }

func (p *page) component(c verdict.ComponentStats, shown []int, id string) component {
	view := component{ID: id, Name: c.Component, Title: title(c.Component), Decision: c.Decision}
	floor := medianFloor(c.Cases)
	view.Noise = floorText(floor)
	view.Baseline = commonBaseline([]verdict.ComponentStats{c})
	if known(floor) {
		view.Band = p.Axis.span(1/(1+floor), 1+floor)
	}
	baselines := map[string]bool{}
	if len(shown) < len(c.Cases) {
		view.Hidden = fmt.Sprintf("%d of %s are shown to keep the page small: those with failed samples, the worst of each variant, then those with the largest differences. The others count in the ranking and are in stats.csv.", len(shown), wording.Count(len(c.Cases), "case"))
	}
	for _, x := range c.Cases {
		baselines[x.Baseline] = true
	}
	for _, i := range shown {
		x := newCaseView(c.Cases[i], fmt.Sprintf("%s-%d", id, i+1))
		x.index = i
		view.Cases = append(view.Cases, x)
	}
	view.Scales = newScales(view.Cases)
	view.Variants = variants(c)
	for i := range view.Cases {
		view.Cases[i].Heat = heat(view.Cases[i].stats, view.Variants)
	}
	for _, r := range c.Ranking {
		line := p.rank(r, c.Cases, view.Cases)
		line.Baseline = baselines[r.Variant]
		if line.Baseline {
			line.Tone, line.Tally = "base", ""
		}
		line.Pick = strings.HasPrefix(c.Decision, "Use "+r.Variant+":") || strings.HasPrefix(c.Decision, "Keep "+r.Variant+":")
		for _, v := range view.Variants {
			if v.Name == r.Variant {
				line.Summary = v.Summary
			}
		}
		if !line.Baseline && (line.Pick || view.Best == "" && !line.Peer) {
			view.Best = line.Name
		}
		line.Shared = !line.Baseline && slices.ContainsFunc(view.Variants, func(v variantName) bool {
			return v.Baseline && !slices.ContainsFunc(line.Gives(), func(promise string) bool { return !slices.Contains(v.Gives(), promise) })
		})
		view.Ranks = append(view.Ranks, line)
	}
	return view
}

// variants lists the arms of all cases, ranking order first, controls left out.
func variants(c verdict.ComponentStats) []variantName {
	arms := map[string]variantName{}
	var order []string
	add := func(name string) {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	for _, r := range c.Ranking {
		arms[r.Variant] = variantName{Name: r.Variant, Peer: r.Peer, Relaxes: r.Relaxes}
		add(r.Variant)
	}
	for _, x := range c.Cases {
		for _, row := range x.Rows {
			if !row.Control {
				arms[row.Variant] = variantName{row.Variant, row.Summary, row.Peer, row.Variant == x.Baseline, row.Relaxes}
				add(row.Variant)
			}
		}
	}
	var list []variantName
	for _, name := range order {
		list = append(list, arms[name])
	}
	return list
}
