package reports

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/compare"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostile has what Markdown, HTML, XML and workflow commands act on.
const hostile = "BenchmarkQ/op=<script>|`a`\n::error::x%0A\x00\x1b]]>&\"'@all"

func gateOf(failures int) Gate {
	g := Gate{Old: "old|dir", New: "new", Limits: "time>5%"}
	for i := range 2 * failures {
		c := compare.Change{Benchmark: fmt.Sprintf("%s%d", hostile, i), Unit: "sec/op", Ratio: 1.5, P: 0.001, PAdjusted: 0.01, Noise: 0.02,
			Old: verdict.Summary{Center: 1e-6}, New: verdict.Summary{Center: 1.5e-6}}
		g.Changes = append(g.Changes, c)
		if i < failures {
			g.Failed = append(g.Failed, Failure{c, "time>5%"})
			g.Warnings = append(g.Warnings, experiment.Warning{Scope: hostile, Text: hostile})
		}
	}
	return g
}

func TestGateMarkdown(t *testing.T) {
	s := string(gateOf(2).Markdown())
	assert.Contains(t, s, `### Gate failed: 2 of 4 comparisons changed by more than the limit time&gt;5%`)
	assert.Contains(t, s, "+50.00%")
	assert.Contains(t, s, "±2%")
	for line := range strings.Lines(s) {
		if strings.HasPrefix(line, "|") {
			cells := strings.Count(line, "|") - strings.Count(line, `\|`)
			assert.Contains(t, []int{8, 9}, cells, line)
		}
		assert.False(t, strings.HasPrefix(strings.TrimSpace(line), "::"), line)
	}
	large := gateOf(5000).Markdown()
	assert.Less(t, len(large), 100_000)
	assert.Contains(t, string(large), "4950 more failed.")

	assert.Contains(t, string(Gate{Limits: "time>5%", Changes: make([]compare.Change, 3)}.Markdown()), "Gate passed: none of 3 comparisons")
}

func TestGateJUnit(t *testing.T) {
	b, err := gateOf(2).JUnit()
	require.NoError(t, err)
	var got struct {
		Suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Class   string `xml:"classname,attr"`
				Name    string `xml:"name,attr"`
				Failure []struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(b, &got))
	assert.Equal(t, 4, got.Suite.Tests)
	assert.Equal(t, 2, got.Suite.Failures)
	require.Len(t, got.Suite.Cases, 4)
	assert.Equal(t, "Q", got.Suite.Cases[0].Class)
	assert.Contains(t, got.Suite.Cases[0].Name, "<script>")
	assert.Equal(t, "+50.00%, the limit is time>5%", got.Suite.Cases[0].Failure[0].Message)
	assert.Empty(t, got.Suite.Cases[3].Failure)
	decoder := xml.NewDecoder(strings.NewReader(string(b)))
	for err == nil {
		_, err = decoder.Token()
	}
	assert.ErrorIs(t, err, io.EOF, "well-formed to its end")
}

func TestGateAnnotations(t *testing.T) {
	for _, failures := range []int{2, 10, 500} {
		lines := strings.Split(strings.TrimSpace(string(gateOf(failures).GitHub())), "\n")
		assert.Len(t, lines, 2*min(failures, maxAnnotations), "one line each, ten of a kind")
		for _, line := range lines {
			assert.Regexp(t, `^::(error|warning) title=[^:,]*::[^\n\r]*$`, line)
		}
	}
	assert.Contains(t, string(gateOf(500).GitHub()), "491 more comparisons failed")

	for unit, want := range map[string]string{"sec/op": "title=slower%3A ", "allocs/op": "title=beyond the limit%3A ", "p99-sec": "title=slower%3A ", "reads/s": "title=beyond the limit%3A "} {
		g := gateOf(1)
		g.Failed[0].Unit = unit
		assert.Contains(t, string(g.GitHub()), want, unit)
	}

	b, err := gateOf(3).GitLab()
	require.NoError(t, err)
	var issues []map[string]any
	require.NoError(t, json.Unmarshal(b, &issues))
	require.Len(t, issues, 3)
	assert.Equal(t, map[string]any{"path": "new", "lines": map[string]any{"begin": 1.0}}, issues[0]["location"])
	assert.NotEqual(t, issues[0]["fingerprint"], issues[1]["fingerprint"])
	b, err = Gate{}.GitLab()
	require.NoError(t, err)
	assert.Equal(t, "[]\n", string(b))
}
