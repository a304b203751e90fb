package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen/drive"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// latencyQuantiles are the columns of the latency table.
var latencyQuantiles = []struct {
	name string
	q    float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"largest", 1}}

// latencyTable lists the stages of all arms; it also keeps those in d that any
// arm has.
func latencyTable(d *driven) *table {
	t := &table{Labels: []string{"Stage", "Arm"}}
	for _, q := range latencyQuantiles {
		t.Columns = append(t.Columns, q.name)
	}
	for _, s := range stages {
		present := false
		for _, arm := range d.Arms {
			if len(arm.Latencies[s.Name]) == 0 {
				continue
			}
			present = true
			var line []cellValue
			for _, q := range latencyQuantiles {
				line = append(line, arm.cell(s.Name, q.q))
			}
			t.Rows = append(t.Rows, tableRow{[]string{s.Name, arm.Name}, line})
		}
		if present {
			d.Stages = append(d.Stages, s)
		}
	}
	return t
}

// cell is a quantile of a stage: the median of the rounds, smallest to largest.
func (a *driveArm) cell(stage string, q float64) cellValue {
	b, ok := a.at(stage, q)
	if !ok {
		return cellValue{Text: none}
	}
	cell := cellValue{durations.Seconds(float64(b[1])), "", float64(b[1])}
	if len(a.rounds) > 1 && b[3] > b[2] {
		cell.Spread = durations.Seconds(float64(b[2])) + " to " + durations.Seconds(float64(b[3]))
	}
	return cell
}

// glanceTable lists the latencies that are worth ten seconds.
func glanceTable(d *driven) *table {
	t := &table{Labels: []string{"Arm"}, Columns: []string{"settled p50", "settled p99", "queue wait p99", "staleness p99"}}
	for _, arm := range d.Arms {
		t.Rows = append(t.Rows, tableRow{[]string{arm.Name}, []cellValue{
			arm.cell(drive.Settled, 0.5), arm.cell(drive.Settled, 0.99), arm.cell(drive.QueueWait, 0.99), arm.cell(drive.Staleness, 0.99)}})
	}
	return t
}

// balanceTable lists what became of the events and what that cost, as medians
// over the rounds.
func balanceTable(d *driven) *table {
	t := &table{Labels: []string{"Arm"}}
	columns := []struct {
		name  string
		of    func(drive.Result) float64
		print func(float64) string
	}{
		{"rounds", nil, count},
		{"sent", func(r drive.Result) float64 { return float64(r.Accounting.Sent) }, count},
		{"seen as newest", func(r drive.Result) float64 { return float64(r.Accounting.Delivered) }, count},
		{"overtaken", func(r drive.Result) float64 { return float64(r.Accounting.Coalesced) }, count},
		{"lost", func(r drive.Result) float64 { return float64(r.Accounting.Lost) }, count},
		{"reconciles", func(r drive.Result) float64 { return float64(r.Accounting.Reconciles) }, count},
		{"failed", func(r drive.Result) float64 { return float64(r.Accounting.Failures) }, count},
		{"given up", func(r drive.Result) float64 { return float64(r.Accounting.GivenUp) }, count},
		{"CPU an event", func(r drive.Result) float64 { return perEvent(r, r.Usage.CPU-r.Usage.Burnt) }, durations.Seconds},
		{"GC an event", func(r drive.Result) float64 { return perEvent(r, r.Usage.GCCPU) }, durations.Seconds},
		{"heap at most", func(r drive.Result) float64 { return float64(r.Usage.HeapPeak) }, bytesText},
		{"drained in", func(r drive.Result) float64 { return r.Drain.Seconds() }, durations.Seconds},
		{"load’s share of CPU", func(r drive.Result) float64 { return r.Generator.Share }, wording.Percent},
	}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.name)
	}
	for _, arm := range d.Arms {
		var line []cellValue
		for _, c := range columns {
			value := float64(len(arm.rounds))
			if c.of != nil {
				var values []float64
				for _, r := range arm.rounds {
					values = append(values, c.of(r))
				}
				value = verdict.Summarise(values, 0.95).Center
			}
			cell := cellValue{Text: none}
			if finite(value) {
				cell = cellValue{Text: c.print(value), Sort: value}
			}
			line = append(line, cell)
		}
		t.Rows = append(t.Rows, tableRow{[]string{arm.Name}, line})
	}
	return t
}

func perEvent(r drive.Result, used time.Duration) float64 {
	if r.Accounting.Sent == 0 {
		return math.NaN()
	}
	return used.Seconds() / float64(r.Accounting.Sent)
}

// balanceText says why a drive's events are not all accounted for.
func balanceText(a drive.Accounting) string {
	text := fmt.Sprintf("%s lost, %s left stale, %s saw an older state than before", wording.Count(a.Lost, "event"), wording.Count(a.Stale, "key"), wording.Count(a.Backwards, "reconcile"))
	if a.Sent != a.Delivered+a.Coalesced+a.Lost {
		text += fmt.Sprintf(", %d sent but %d accounted for", a.Sent, a.Delivered+a.Coalesced+a.Lost)
	}
	if len(a.Bad) > 0 {
		text += ": " + strings.Join(a.Bad[:min(len(a.Bad), 5)], "; ")
	}
	return text
}

// outcome is a single drive in a sentence or two.
func (d *driven) outcome() string {
	a := &d.Arms[0]
	r := a.rounds[0]
	text := fmt.Sprintf("%s under %s: %s of %s, ", a.Name, d.Workload, wording.Count(int(r.Accounting.Reconciles), "reconcile"), wording.Count(int(r.Accounting.Sent), "event"))
	if r.Accounting.Sound() {
		text += "all accounted for."
	} else {
		text += "not all accounted for: " + balanceText(r.Accounting) + "."
	}
	if median, ok := a.at(drive.Settled, 0.5); ok {
		p99, _ := a.at(drive.Settled, 0.99)
		text += fmt.Sprintf(" Half of the events settled within %s, 99%% within %s.", durations.Seconds(float64(median[1])), durations.Seconds(float64(p99[1])))
	}
	return text
}

// driveFacts say what was driven, as far as all arms have it in common.
func driveFacts(d *driven) []fact {
	setup := d.Arms[0].rounds[0].Setup
	facts := []fact{{"Workload", d.Workload}, {"Workers", strconv.Itoa(setup.Workers)}}
	if setup.Service != "" {
		facts = append(facts, fact{"Service time", strings.TrimSpace(setup.Service + " " + setup.ServiceMode)})
	}
	limit := "none"
	if setup.QPS > 0 {
		limit = fmt.Sprintf("%s a second, burst %d", count(setup.QPS), setup.Burst)
	}
	facts = append(facts, fact{"Client limit", limit})
	if setup.Failure > 0 {
		facts = append(facts, fact{"Reconciles that fail", wording.Percent(setup.Failure)})
	}
	if setup.Speed != 1 {
		speed := "as fast as possible"
		if setup.Speed > 0 {
			speed = strconv.FormatFloat(setup.Speed, 'g', 3, 64) + " times the workload’s"
		}
		facts = append(facts, fact{"Speed", speed})
	}
	var loads []float64
	for _, arm := range d.Arms {
		for _, r := range arm.rounds {
			loads = append(loads, r.Load.Seconds())
		}
	}
	slices.Sort(loads)
	return append(facts, fact{"Load", durations.Seconds(verdict.Summarise(loads, 0.95).Center) + " each"})
}

func bytesText(v float64) string {
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if v < 1000 {
			return digits(v) + " " + unit
		}
		v /= 1024
	}
	return digits(v) + " GiB"
}

// digits prints three significant digits, without an exponent.
func digits(v float64) string {
	switch {
	case v >= 100 || v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func count(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
