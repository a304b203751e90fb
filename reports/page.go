package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
)

// A page is what both reports print. Its text is formatted and still raw: each
// printer escapes it in its own way.
type page struct {
	Title       string
	Subtitle    string
	Decision    string
	Confidence  confidence
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
	Profiles    *profileSet
	Notes       []string // what was left out to keep the page small

	links []link
}

// A fact is one line of a definition list.
type fact struct{ Name, Value string }

// A component is one section.
type component struct {
	ID, Name, Title, Decision string
	Baseline                  string
	Noise                     string // median noise floor of its cases
	Band                      span   // the same on the page's axis
	Ranks                     []rank
	Variants                  []variantName // columns of the heat map
	Cases                     []caseView
	Profiled                  bool
	Best                      string // shown beside the baseline: what the decision names, else the first that is not upstream's
}

type variantName struct {
	Name, Summary  string
	Peer, Baseline bool
	Relaxes        []string
}

// A rank is one line of a component's ranking.
type rank struct {
	variantName
	Ratio, Interval, Worst, Tally string
	WorstID, WorstCase            string
	Tone                          string // "faster", "slower", "mixed", "same", "base"
	Pick                          bool   // what the component's decision names
	Interval95                    span
	Range                         span // from the worst case to the best
	Mid                           float64
	Value, WorstValue             float64
}

// A caseView is one comparison's table.
type caseView struct {
	ID, Name, Summary, Unit, Baseline string
	Noise                             string
	Headline                          string // its best variant in a few words
	Columns                           []string
	Rows                              []row
	More                              *table // measurements beyond the main ones
	Heat                              []heatCell
	stats                             experiment.CaseStats
}

type row struct {
	variantName
	Control                  bool
	Ratio, Interval, Verdict string
	Tone                     string
	Bar                      span
	Mid                      float64
	Value                    float64 // the ratio, to sort by
	P                        string
	Cells                    []cellValue
	Samples                  int
	Profile                  string // where its CPU profile is shown
}

// A cellValue is a figure with its spread and the number to sort by.
type cellValue struct {
	Text, Spread string
	Sort         float64
}

type table struct {
	Columns []string
	Names   []string
	Rows    [][]cellValue
}

type heatCell struct {
	Text, Tone, Title string
	Level             int // 0 is no difference, 1 to 4 the strength of the colour
	Value             float64
}

const maxWarnings = 60

// newPage shows the tables of the first cases, up to rows variants in all;
// rankings and decisions are always over every case.
func newPage(in input, rows int) *page {
	run, stats := in.run, in.stats
	p := &page{
		Title:    "informerbench report",
		Subtitle: in.name,
		Decision: stats.Decision,
		Warnings: stats.Warnings,
		Profiles: in.profiles,
		links:    in.links,
	}
	if p.Decision == "" {
		p.Decision = "Nothing was measured, so there is nothing to decide."
	}
	if len(p.Warnings) > maxWarnings {
		p.Hidden = len(p.Warnings) - maxWarnings
		p.Warnings = p.Warnings[:maxWarnings]
	}
	for _, s := range run.Schedule {
		if s.Failure != "" && len(p.Failures) < maxWarnings {
			p.Failures = append(p.Failures, s)
		}
	}
	p.Confidence = judge(run, stats)
	p.Axis = newAxis(stats)
	p.Baseline = commonBaseline(stats.Components)
	used := map[string]bool{}
	shown, hidden := room(stats, rows)
	for i, c := range stats.Components {
		p.Components = append(p.Components, p.component(c, shown[i], sectionID(c.Component, i, used)))
	}
	if hidden > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%s are not shown here to keep the page small; all are in stats.csv and count in the rankings.", plural(hidden, "case")))
	}
	if in.profiles.hidden > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%s are not drawn here to keep the page small; each case's table links to pprof's view of them.", plural(in.profiles.hidden, "CPU profile")))
	}
	for _, graph := range in.profiles.all {
		p.linkProfile(graph)
	}
	p.Command = strings.Join(quoted(run.Command), " ")
	p.Facts = runFacts(run)
	p.Environment = environmentFacts(run.Environment)
	for _, module := range slices.Sorted(maps.Keys(run.Versions)) {
		p.Versions = append(p.Versions, fact{module, run.Versions[module]})
	}
	return p
}

// room deals out rows to the components case by case, so that each shows its
// first cases.
func room(stats experiment.Stats, rows int) (shown []int, hidden int) {
	shown = make([]int, len(stats.Components))
	for more := true; more; {
		more = false
		for i, c := range stats.Components {
			if shown[i] < len(c.Cases) && rows >= len(c.Cases[shown[i]].Rows) {
				rows -= len(c.Cases[shown[i]].Rows)
				shown[i]++
				more = true
			}
		}
	}
	for i, c := range stats.Components {
		hidden += len(c.Cases) - shown[i]
	}
	return shown, hidden
}

func (p *page) linkProfile(graph flame) {
	c := &p.Components[graph.Component]
	if graph.Case >= len(c.Cases) {
		return
	}
	c.Profiled = true
	for i, r := range c.Cases[graph.Case].Rows {
		if r.Name == graph.Variant && !r.Control {
			c.Cases[graph.Case].Rows[i].Profile = cmp.Or(graph.Page, graph.File)
		}
	}
}

// commonBaseline names the baseline of all cases, if they have the same one.
func commonBaseline(components []experiment.ComponentStats) string {
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
	"queue": "Work queue", "storage": "Queue storage", "delay": "Delaying queue", "delaying": "Delaying queue",
	"delayingqueue": "Delaying queue", "limiter": "Rate limiter", "ratelimiter": "Rate limiter", "ratelimit": "Rate limiter",
	"ratelimitingqueue": "Rate limiting queue", "priorityqueue": "Priority queue", "fifo": "FIFO", "deltafifo": "DeltaFIFO", "inorderfifo": "In-order FIFO",
	"realfifo": "In-order FIFO", "indexer": "Indexer", "pipeline": "Whole pipeline", "informer": "Informer", "elector": "Leader election",
}

func title(component string) string {
	if t, ok := titles[strings.ToLower(strings.ReplaceAll(component, "-", ""))]; ok {
		return t
	}
	return component
}

func (p *page) component(c experiment.ComponentStats, shown int, id string) component {
	view := component{ID: id, Name: c.Component, Title: title(c.Component), Decision: c.Decision}
	floor := medianFloor(c.Cases)
	view.Noise = floorText(floor)
	view.Baseline = commonBaseline([]experiment.ComponentStats{c})
	if known(floor) {
		view.Band = p.Axis.span(1/(1+floor), 1+floor)
	}
	baselines := map[string]bool{}
	for i, x := range c.Cases {
		baselines[x.Baseline] = true
		if i < shown {
			view.Cases = append(view.Cases, p.caseView(x, fmt.Sprintf("%s-%d", id, i+1)))
		}
	}
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
		view.Ranks = append(view.Ranks, line)
	}
	return view
}

// variants lists the arms of all cases, ranking order first, controls left out.
func variants(c experiment.ComponentStats) []variantName {
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

func (p *page) rank(r experiment.Rank, cases []experiment.CaseStats, views []caseView) rank {
	line := rank{variantName: variantName{Name: r.Variant, Peer: r.Peer, Relaxes: r.Relaxes},
		Ratio: ratio(r.Ratio), Worst: ratio(r.Worst), Mid: p.Axis.at(r.Ratio), Value: r.Ratio, WorstValue: r.Worst}
	if !finite(r.Ratio) || r.Cases == 0 {
		line.Value, line.WorstValue = 0, 0
	}
	low, high, best := combined(r.Variant, cases)
	if finite(low) && finite(high) {
		line.Interval = interval(experiment.Comparison{Low: low, High: high})
		line.Interval95 = p.Axis.span(low, high)
	}
	if finite(best) && finite(r.Worst) && best >= r.Worst {
		line.Range = p.Axis.span(r.Worst, best)
	}
	for i, x := range cases {
		for _, row := range x.Rows {
			if row.Comparison != nil && !row.Control && row.Variant == r.Variant && row.Comparison.Ratio == r.Worst {
				line.WorstCase = x.Name
				if i < len(views) {
					line.WorstID = views[i].ID
				}
			}
		}
	}
	of := fmt.Sprintf(" in %d of %s", r.Faster, plural(r.Cases, "case"))
	switch {
	case r.Faster > 0 && r.Slower > 0:
		line.Tone, line.Tally = "mixed", fmt.Sprintf("faster in %d, slower in %d of %s", r.Faster, r.Slower, plural(r.Cases, "case"))
	case r.Faster > 0:
		line.Tone, line.Tally = "faster", "faster"+of
	case r.Slower > 0:
		line.Tone, line.Tally = "slower", fmt.Sprintf("slower in %d of %s", r.Slower, plural(r.Cases, "case"))
	case r.Cases == 0:
		line.Tone, line.Tally = "unknown", "no result"
	default:
		line.Tone, line.Tally = "same", "no difference shown"
	}
	return line
}

// combined is the interval of the geometric mean over cases, whose samples are
// independent: the half widths of the logarithms add in squares.
func combined(variant string, cases []experiment.CaseStats) (low, high, best float64) {
	var sum, squares, n float64
	best = math.NaN()
	for _, c := range cases {
		for _, row := range c.Rows {
			x := row.Comparison
			if x == nil || row.Control || row.Variant != variant || !usable(*x) {
				continue
			}
			half := (math.Log(x.High) - math.Log(x.Low)) / 2
			sum += math.Log(x.Ratio)
			squares += half * half
			n++
			if !(best >= x.Ratio) {
				best = x.Ratio
			}
		}
	}
	if n == 0 {
		return math.NaN(), math.NaN(), best
	}
	mean, half := sum/n, math.Sqrt(squares)/n
	return math.Exp(mean - half), math.Exp(mean + half), best
}

// usable tells whether x has an interval that a logarithmic axis can show.
func usable(x experiment.Comparison) bool {
	return finite(x.Ratio) && finite(x.Low) && finite(x.High) && x.Low > 0 && x.Ratio > 0 && x.High >= x.Low
}

func medianFloor(cases []experiment.CaseStats) float64 {
	var floors []float64
	for _, c := range cases {
		if known(c.NoiseFloor) {
			floors = append(floors, c.NoiseFloor)
		}
	}
	return median(floors)
}

// known is false for the floor of a case whose control left no ratio.
func known(floor float64) bool { return finite(floor) && floor >= 0 && floor < 1e3 }

func floorText(floor float64) string {
	if !known(floor) {
		return "unknown"
	}
	return percent(floor)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	mid := len(values) / 2
	if len(values)%2 == 1 {
		return values[mid]
	}
	return (values[mid-1] + values[mid]) / 2
}

func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n'\"$`\\*?&|;<>()#~") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return out
}

func runFacts(run experiment.Run) []fact {
	plan := run.Plan
	facts := []fact{{"Profile", cmp.Or(plan.Profile, none)}}
	if plan.Workload != "" {
		facts = append(facts, fact{"Workload", plan.Workload})
	}
	if plan.Trace != "" {
		facts = append(facts, fact{"Trace", plan.Trace})
	}
	facts = append(facts, fact{"Seed", fmt.Sprint(plan.Seed)})
	if !run.Started.IsZero() {
		facts = append(facts, fact{"Started", run.Started.UTC().Format("2006-01-02 15:04:05 UTC")})
		if !run.Finished.IsZero() {
			facts = append(facts, fact{"Took", duration(run.Finished.Sub(run.Started))})
		}
	}
	rounds, failed := 0, 0
	for _, s := range run.Schedule {
		rounds = max(rounds, s.Round)
		if s.Failure != "" {
			failed++
		}
	}
	samples := fmt.Sprintf("%d, each a fresh process", len(run.Schedule))
	if failed > 0 {
		samples += fmt.Sprintf("; %d failed", failed)
	}
	return append(facts, fact{"Samples", samples},
		fact{"Wanted precision", "± " + percent(plan.Precision)},
		fact{"Budget", budget(plan)},
		fact{"Stopped", stopped(run)})
}

func budget(plan experiment.Plan) string {
	text := fmt.Sprintf("%d to %d rounds", plan.MinRounds, plan.MaxRounds)
	if plan.Budget > 0 {
		text = duration(plan.Budget.Round(time.Second)) + ", " + text
	}
	return text
}

// stopped says in words why sampling ended.
func stopped(run experiment.Run) string {
	switch run.Stopped {
	case "precision":
		return "the wanted precision was reached"
	case "budget":
		return "the time budget was spent"
	case "rounds":
		return "all rounds were done"
	case "interrupted":
		return "interrupted: what was sampled until then is shown"
	case "":
		return "the run did not end in order: what was sampled until then is shown"
	}
	return run.Stopped
}

func environmentFacts(e experiment.Environment) []fact {
	facts := []fact{
		{"CPU", cmp.Or(e.CPU, none)},
		{"Cores", fmt.Sprintf("%d, GOMAXPROCS %d", e.Cores, e.GOMAXPROCS)},
	}
	if e.Memory > 0 {
		facts = append(facts, fact{"Memory", fmt.Sprintf("%.1f GiB", float64(e.Memory)/(1<<30))})
	}
	return append(facts,
		fact{"System", strings.TrimSpace(e.OS + "/" + e.Arch + " " + e.Kernel)},
		fact{"Go", cmp.Or(e.Go, none)})
}
