package reports

import (
	"fmt"

	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// generatorUnit is the unit of what it takes to make an event of a stream.
const generatorUnit = "generator-sec/event"

// newLoads is the table of what the cases on the page cost without a component;
// nil where none was sampled so. The last column is there if streams were made.
func newLoads(components []component) *table {
	t := &table{Labels: []string{"Case", "Unit", "Cheapest variant"}, Columns: []string{"load alone, an op", "share of that variant's cost", "making an event, not in it"}}
	streams := false
	for _, c := range components {
		for _, x := range c.Cases {
			load := x.stats.Load
			if load == nil {
				continue
			}
			made := secondsCell(load.Metrics, generatorUnit)
			streams = streams || made.Text != none
			t.Rows = append(t.Rows, tableRow{
				[]string{c.Name + "/" + x.Name, x.Unit, load.Of},
				[]cellValue{secondsCell(load.Metrics, x.Unit), {Text: loadShare(load), Sort: load.Share}, made},
			})
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	if !streams {
		t.Columns = t.Columns[:2]
		for i := range t.Rows {
			t.Rows[i].Cells = t.Rows[i].Cells[:2]
		}
	}
	return t
}

func secondsCell(metrics map[string]verdict.Summary, unit string) cellValue {
	m, ok := metrics[unit]
	if !ok || !finite(m.Center) {
		return cellValue{Text: none}
	}
	return cellValue{durations.Seconds(m.Center), spread(m), m.Center}
}

func loadShare(l *verdict.Load) string {
	if l.Of == "" || !finite(l.Share) {
		return none
	}
	return wording.Percent(l.Share)
}

// loadText is a case's load in half a sentence; empty where it is not known.
func loadText(c verdict.CaseStats) string {
	if c.Load == nil || loadShare(c.Load) == none {
		return ""
	}
	return fmt.Sprintf("The load alone is %s of what %s costs.", wording.Percent(c.Load.Share), c.Load.Of)
}
