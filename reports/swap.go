package reports

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/bench/swap"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// A swapped is what a real program's page shows beside its ratios.
type swapped struct {
	Bound    string // what a swap can gain at most, a sentence
	Facts    []fact
	Coverage *table
	Queues   *table
}

// readSwap reads what a swap left in root, nil if there was none.
func readSwap(root *os.Root) (*swapped, []experiment.Warning) {
	s, ok, err := swap.Load(root)
	switch {
	case err != nil:
		return nil, []experiment.Warning{experiment.Warn(swap.Component, "not shown: %v", err)}
	case !ok:
		return nil, nil
	}
	return newSwapped(s), s.Doubts()
}

func newSwapped(s swap.Summary) *swapped {
	v := &swapped{Bound: capital(s.Share.String()) + ".", Coverage: coverageTable(s), Queues: queueTable(s)}
	lifted := "none"
	if len(s.Lifted) > 0 {
		lifted = strings.Join(s.Lifted, ", ")
	}
	v.Facts = []fact{{"Program", s.Program}, {"Load", s.Load}, {"How it was built", strings.Join(s.Layout, "; ")}, {"Versions lifted", lifted}, {"At the end", s.Ends}}
	panics := 0
	for _, n := range s.Panics {
		panics += n
	}
	v.Facts = append(v.Facts, fact{"Panics that handlers caught", fmt.Sprint(panics)})
	for _, arm := range slices.Sorted(maps.Keys(s.Metrics)) {
		differ := s.Metrics[arm]
		text := "the same names"
		if len(differ) > 0 {
			text = strings.Join(differ, ", ")
		}
		v.Facts = append(v.Facts, fact{"Names of metrics with " + arm, text})
	}
	return v
}

// coverageTable says what became of the calls of each constructor, and of the traffic.
func coverageTable(s swap.Summary) *table {
	t := &table{Labels: []string{"Arm", "Constructor"}, Columns: []string{"made", "swapped", "keys as any", "items added", "through swapped queues", "share of all items"}}
	for _, c := range s.Coverage {
		number := func(n int) cellValue { return cellValue{Text: fmt.Sprint(n), Sort: float64(n)} }
		share := cellValue{Text: none}
		if c.Adds > 0 {
			share = cellValue{Text: wording.Percent(c.Traffic), Sort: c.Traffic}
		}
		t.Rows = append(t.Rows, tableRow{[]string{c.Arm, c.Constructor}, []cellValue{
			number(c.Made), number(c.Swapped), number(c.Adapted), number(int(c.Adds)), number(int(c.SwappedAdds)), share}})
	}
	return t
}

// queueTable says how long items waited in each queue and how long they were worked on.
func queueTable(s swap.Summary) *table {
	t := &table{Labels: []string{"Queue", "Arm"}, Columns: []string{"items added", "wait p50", "wait p99", "work p50"}}
	for _, q := range s.Queues {
		time := func(v float64) cellValue { return cellValue{Text: durations.Seconds(v), Sort: v} }
		t.Rows = append(t.Rows, tableRow{[]string{q.Queue, q.Arm}, []cellValue{
			{Text: fmt.Sprint(q.Adds), Sort: float64(q.Adds)}, time(q.P50.Seconds()), time(q.P99.Seconds()), time(q.Work.Seconds())}})
	}
	return t
}

// CoverageTitle says what Coverage shows.
func (*swapped) CoverageTitle() string {
	return "What was swapped, by constructor and by the items that went through it in the last round"
}

// QueueTitle says what Queues shows.
func (*swapped) QueueTitle() string {
	return "How long items waited in each queue, from Add to Get, and were worked on: medians of the rounds"
}

// writeSwap prints it as Markdown.
func writeSwap(s *swapped, line func(format string, args ...any)) {
	line("")
	line("## The program")
	line("")
	line("%s", text(s.Bound))
	line("")
	writeFacts(s.Facts, line)
	for _, t := range []struct {
		title string
		*table
	}{{s.CoverageTitle(), s.Coverage}, {s.QueueTitle(), s.Queues}} {
		line("")
		line("%s:", t.title)
		line("")
		writeTable(t.table, line)
	}
}

// swapPage is a real program's page of results.
func swapPage(root *os.Root, run experiment.Run, stats verdict.Stats) (name string, page []byte, err error) {
	s, ok, err := swap.Load(root)
	if err == nil && !ok {
		err = fmt.Errorf("%s has no %s: the swap did not come to its end", root.Name(), swap.SummaryFile)
	}
	if err != nil {
		return "", nil, err
	}
	program := strings.TrimPrefix(run.Plan.Cases[0].Name, swap.ProgramPart)
	var w bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	line("# What %s gains", text(program))
	line("")
	line("%s", text(stats.Decision))
	line("")
	line("A real program, built once with client-go's queues and caches and with others, under the same load in turns. Less is better")
	line("everywhere; `of client-go's` is the ratio over rounds, with the interval that holds with %s confidence.", wording.Percent(run.Plan.Confidence))
	line("")
	for _, a := range run.Plan.Cases[0].Arms {
		if !a.Control {
			line("- %s: %s", code(a.Name), text(a.Summary))
		}
	}
	for _, c := range stats.Components {
		for _, x := range c.Cases {
			line("")
			writeMeasures(x, run.Plan.Confidence, line)
		}
	}
	writeSwap(newSwapped(s), line)
	if doubts := slices.Concat(stats.Warnings, s.Doubts()); len(doubts) > 0 {
		line("")
		line("## Warnings")
		line("")
		for _, d := range doubts {
			line("- %s: %s", code(d.Scope), text(d.Text))
		}
	}
	writeProvenance(run, line)
	return "swap-" + program + ".md", w.Bytes(), nil
}

// writeMeasures lists everything that was measured of a program, by arm. The verdict is
// on the first.
func writeMeasures(x verdict.CaseStats, confidence float64, line func(format string, args ...any)) {
	var units []string
	arms := "| measure |"
	for _, r := range x.Rows {
		arms += " " + text(r.Name) + " |"
		for unit := range r.Metrics {
			if !slices.Contains(units, unit) && unit != x.Unit {
				units = append(units, unit)
			}
		}
		if r.Comparison != nil {
			arms += " of " + text(x.Baseline) + "'s |"
		}
	}
	slices.Sort(units)
	line("%s", arms)
	line("|---|%s", strings.Repeat("--:|", strings.Count(arms, "|")-2))
	for _, unit := range append([]string{x.Unit}, units...) {
		var all []float64
		for _, r := range x.Rows {
			all = append(all, r.Metrics[unit].Center)
		}
		c := newColumn(unit, all)
		cells := "| " + text(c.title()) + " |"
		for _, r := range x.Rows {
			m, ok := r.Metrics[unit]
			if !ok {
				cells += " " + none + " |"
			} else {
				cells += " " + strings.TrimSpace(c.value(m.Center)+" "+spread(m)) + " |"
			}
			if r.Comparison != nil {
				cells += " " + text(relative(x, r, unit, confidence)) + " |"
			}
		}
		line("%s", cells)
	}
	line("")
	line("Noise floor of the CPU time: %s.", floorText(x.NoiseFloor))
}

// relative is what a row has of the baseline's measure: "0.93 (0.91 to 0.95)".
func relative(x verdict.CaseStats, r verdict.Row, unit string, confidence float64) string {
	i := slices.IndexFunc(x.Rows, func(b verdict.Row) bool { return b.Name == x.Baseline })
	ratio := verdict.Ratio(r.Metrics[unit].Values, x.Rows[i].Metrics[unit].Values, confidence) // which of the two is upside down
	switch {
	case !finite(ratio.Ratio) || ratio.Ratio <= 0:
		return none
	case !finite(ratio.High):
		return fmt.Sprintf("%.2f", ratio.Ratio)
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", ratio.Ratio, ratio.Low, ratio.High)
}
