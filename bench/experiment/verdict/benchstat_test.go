package verdict

import (
	"encoding/csv"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchmath"
)

// On the same raw.txt, medians, intervals and p-values equal the stock
// benchstat's, digit for digit as it prints them.
func TestEqualsBenchstat(t *testing.T) {
	run, samples, err := experiment.Load("testdata/result")
	require.NoError(t, err)
	stats := Analyse(run, samples)

	printed := stockBenchstat(t, "testdata/result/raw.txt")
	compared := 0
	for _, c := range stats.Components {
		for _, cs := range c.Cases {
			key := experiment.PlannedCase{Component: c.Component, Name: cs.Name}
			row := strings.TrimPrefix(strings.TrimSuffix(key.Benchmark(""), "/impl="), "Benchmark") + "-2"
			base := cs.Rows[0].Metrics
			for _, r := range cs.Rows {
				for unit, m := range r.Metrics {
					cell, ok := printed[[3]string{unit, row, r.Name}]
					require.Truef(t, ok, "benchstat prints no %s of %s, %s", unit, row, r.Name)
					s := benchmath.Summary{Center: m.Center, Lo: m.Low, Hi: m.High}
					want := []string{fmt.Sprint(m.Center), s.PctRangeString()}
					// benchstat compares with the first column, the baseline.
					if r.Name != cs.Baseline {
						x := benchmath.Comparison{P: statistic.UTest(base[unit].Values, m.Values), N1: len(base[unit].Values), N2: len(m.Values), Alpha: statistic.Alpha}
						want = append(want, x.FormatDelta(base[unit].Center, m.Center), x.String())
					}
					assert.Equalf(t, want, cell, "%s of %s, %s", unit, row, r.Name)
					compared++
				}
			}
		}
	}
	assert.Len(t, printed, compared, "every cell that benchstat prints")
}

// stockBenchstat reads the tables of benchstat -col /impl by unit, row and column.
func stockBenchstat(t *testing.T, raw string) map[[3]string][]string {
	t.Helper()
	cmd := exec.Command("go", "tool", "benchstat", "-format", "csv", "-col", "/impl@(client-go map compact bounded slice ring client-go-again)", raw)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	reader := csv.NewReader(strings.NewReader(string(output)))
	reader.FieldsPerRecord = -1
	records, err := reader.ReadAll()
	require.NoError(t, err)
	cells := map[[3]string][]string{}
	var columns, units []string
	for i, r := range records {
		switch {
		case len(r) < 2:
		case r[0] == "" && i+1 < len(records) && len(records[i+1]) > 2 && records[i+1][2] == "CI":
			columns = r
		case r[0] == "" && r[2] == "CI":
			units = r
		case r[0] == "geomean":
		default:
			for at := 1; at < len(r); at += 4 {
				if at == 1 {
					cells[[3]string{units[1], r[0], columns[1]}] = r[1:3]
					at = -1 // the first column has no comparison
					continue
				}
				if r[at] != "" {
					cells[[3]string{units[at], r[0], columns[at]}] = r[at:min(at+4, len(r))]
				}
			}
		}
	}
	return cells
}
