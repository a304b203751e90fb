package reports

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/calibration"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// A calibrated is how often verdicts were right on data whose truth is known.
type calibrated struct {
	About string // whose calibration it is, when and where
	Table *table
	Habit string // beside go test -count=10; empty if not measured
}

// newCalibrated prints r; own tells whether it is of the user's own machine.
func newCalibrated(r calibration.Result, own bool) *calibrated {
	c := &calibrated{Table: &table{Labels: []string{"Check", "Verdict by"}, Columns: []string{"runs", "share", "95% interval", "promise", "kept"}}}
	where := strings.TrimSpace(fmt.Sprintf("%s, %s, %s/%s", cmp.Or(r.Environment.CPU, "an unnamed CPU"), wording.Count(r.Environment.Cores, "core"), r.Environment.OS, r.Environment.Arch))
	c.About = fmt.Sprintf("Your calibration of %s, on %s.", r.Finished.UTC().Format("2006-01-02"), where)
	if !own {
		c.About = fmt.Sprintf("The calibration that came with this program, of %s, on %s; benchrun calibrate makes one of this machine.", r.Finished.UTC().Format("2006-01-02"), where)
	}
	for _, x := range r.Checks {
		what, limit := "false verdicts", "at most "
		if x.Planted > 0 {
			what, limit = "found", "at least "
		}
		promise := cellValue{Text: none}
		if x.Promise > 0 {
			promise = cellValue{Text: limit + wording.Percent(x.Promise), Sort: x.Promise}
		}
		share := float64(x.Hits) / float64(max(x.Runs, 1))
		found, interval := cellValue{Text: none}, cellValue{Text: none}
		if x.Runs > 0 {
			found = cellValue{Text: fmt.Sprintf("%s %s", wording.Percent(share), what), Sort: share}
			interval = cellValue{Text: wording.Percent(x.Low) + " to " + wording.Percent(x.High), Sort: x.Low}
		}
		by := quantity(x.Evidence)
		c.Table.Rows = append(c.Table.Rows, tableRow{[]string{x.Name, by}, []cellValue{
			{Text: count(float64(x.Runs)), Sort: float64(x.Runs)},
			found, interval,
			promise,
			{Text: keptText(x)},
		}})
	}
	if r.Habit != nil {
		c.Habit = sentence(r.Habit.String())
	}
	return c
}

func keptText(c calibration.Check) string {
	switch {
	case c.Promise == 0:
		return none
	case c.State() == calibration.Open:
		return "too few runs to tell"
	case c.State() == calibration.Kept:
		return "yes"
	}
	return "no"
}
