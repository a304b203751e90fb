package reports

import (
	"bytes"
	"encoding/csv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

// renderCSV prints stats as stats.csv: one line an arm and unit, in base units
// (seconds, bytes). The comparison stands on the lines of the unit that the
// verdict is taken on and is empty elsewhere; so is every figure that is not
// known. schema/csv.schema.json describes the columns.
func renderCSV(stats verdict.Stats) []byte {
	var buf bytes.Buffer
	w := csv.NewWriter(&buf) // writes to memory: no error to handle
	w.Write([]string{"component", "case", "arm", "variant", "peer", "control", "relaxes", "samples",
		"unit", "median", "low", "high", "ratio", "ratio_low", "ratio_high", "p", "p_adjusted", "verdict", "noise_floor"})
	for _, component := range stats.Components {
		for _, c := range component.Cases {
			for _, row := range c.Rows {
				for _, unit := range slices.Sorted(maps.Keys(row.Metrics)) {
					m := row.Metrics[unit]
					line := []string{cell(component.Component), cell(c.Name), cell(row.Name), cell(row.Variant),
						strconv.FormatBool(row.Peer), strconv.FormatBool(row.Control), cell(strings.Join(row.Relaxes, " ")),
						strconv.Itoa(row.Samples), cell(unit), number(m.Center), number(m.Low), number(m.High)}
					if x := row.Comparison; x != nil && unit == c.Unit {
						line = append(line, number(x.Ratio), number(x.Low), number(x.High), number(x.P), number(x.PAdjusted),
							cell(string(x.Verdict)), number(c.NoiseFloor))
					} else {
						line = append(line, "", "", "", "", "", "", "")
					}
					w.Write(line)
				}
			}
		}
	}
	w.Flush()
	return buf.Bytes()
}

func number(v float64) string {
	if !finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// cell keeps a spreadsheet from running a name as a formula.
func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
