package reports

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

// Thousands of cases stay within the limit: what is left out is said, with the
// place where it is.
func TestSizeLimit(t *testing.T) {
	run, stats := fixture(5)
	stats.Components = stats.Components[:1]
	c := &stats.Components[0]
	for i := range c.Cases {
		for v := range 5 { // ten variants in each case
			row := c.Cases[i].Rows[1+v%4]
			row.Name, row.Variant = fmt.Sprintf("variant-%d", v), fmt.Sprintf("variant-%d", v)
			c.Cases[i].Rows = append(c.Cases[i].Rows, row)
		}
	}
	for i := range 3000 {
		x := c.Cases[i%6]
		x.Name = fmt.Sprintf("%s/%s/part=%d", x.Name, strings.Repeat("long=name/", 10), i)
		c.Cases = append(c.Cases, x)
	}
	tell := func(i int, verdict verdict.Verdict, ratio float64) string {
		x := &c.Cases[i]
		x.Rows = slices.Clone(x.Rows)
		comparison := *x.Rows[2].Comparison
		comparison.Ratio, comparison.Low, comparison.High, comparison.Verdict = ratio, ratio*0.99, ratio*1.01, verdict
		x.Rows[2].Comparison = &comparison
		return x.Name
	}
	ring := slices.IndexFunc(c.Ranking, func(r verdict.Rank) bool { return r.Variant == c.Cases[0].Rows[2].Variant })
	c.Ranking[ring].Worst = 0.04
	slower, faster := tell(2901, verdict.Slower, 0.04), tell(2902, verdict.Faster, 40)
	noise := tell(2905, verdict.TooFew, 90)
	failed := c.Cases[2903].Name
	run.Schedule = append(run.Schedule, experiment.Sample{Round: 9, Case: "queue/" + failed, Arm: "ring", Failure: "timed out"})
	for i := range 200 {
		stats.Warnings = append(stats.Warnings, experiment.Warning{Scope: fmt.Sprintf("queue/%s/ring", c.Cases[1000+i].Name), Text: "two modes"})
	}
	stats.Warnings = append(stats.Warnings, experiment.Warning{Scope: "queue/" + slower + "/ring", Text: "drifted"}, experiment.Warning{Scope: "profiles", Text: "too old"})
	dir := resultDir(t, stats)
	madeDrives(t, dir)
	require.NoError(t, Write(dir, run, stats))
	html, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	assert.Less(t, len(html), maxPageBytes)
	assert.Regexp(t, `\d+ of 3006 cases are shown to keep the page small: those with failed samples, the worst of each variant, then those with the largest differences. The others count in the ranking and are in stats.csv.`, string(html))
	markdown, err := os.ReadFile(filepath.Join(dir, "report.md"))
	require.NoError(t, err)
	assert.Less(t, len(markdown), 65_536, "a GitHub comment")
	for name, page := range map[string]string{"report.html": string(html), "report.md": string(markdown)} {
		for _, telling := range []string{failed, slower, faster, "drifted", "too old"} {
			assert.True(t, strings.Contains(page, telling), "%s has no %s", name, telling)
		}
		assert.False(t, strings.Contains(page, noise), "%s: a difference within noise says nothing", name)
	}
	assert.True(t, strings.Contains(string(html), `<a href="#c-queue-2902" title="`+slower+`"`), "the ranking links to a variant's worst case")
	table, err := os.ReadFile(filepath.Join(dir, "stats.csv"))
	require.NoError(t, err)
	assert.Contains(t, string(table), "part=2999")
}

// A variant is a drop-in for a baseline that gives up as much, and no alarm.
func TestRelaxesAsTheBaseline(t *testing.T) {
	run, stats := fixture(11)
	c := &stats.Components[0]
	relax := func(variant string, promises ...string) {
		for i := range c.Ranking {
			if c.Ranking[i].Variant == variant {
				c.Ranking[i].Relaxes = promises
			}
		}
		for _, x := range c.Cases {
			for i := range x.Rows {
				if x.Rows[i].Variant == variant {
					x.Rows[i].Relaxes = promises
				}
			}
		}
	}
	relax("client-go", "one", "two", "three", "four")
	relax("ring", "three", "one", "four")
	relax("slice", "three", "one", "five")
	_, html, markdown := written(t, run, stats)
	assert.Equal(t, 1, strings.Count(html, ">relaxes none that client-go keeps<"), "ring")
	assert.Equal(t, 1, strings.Count(html, ">relaxes 3 promises<"), "slice")
	assert.Equal(t, 1, strings.Count(markdown, "none that client-go keeps"))
}
