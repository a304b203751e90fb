package app

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/releases"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

// history is how many times as fast as the first each release is, by case.
type history map[string][]float64

// compare answers as sampling would, with intervals of ±5%.
func (h history) compare(asked *[]string) func(string, ...releases.Release) (verdict.Stats, error) {
	return func(only string, compared ...releases.Release) (verdict.Stats, error) {
		*asked = append(*asked, only)
		var cases []verdict.CaseStats
		for _, name := range []string{"op=cycle", "op=list", "op=same"} {
			ratios := h[name]
			if only != "" && only != "queue/"+name || ratios == nil {
				continue
			}
			cs := verdict.CaseStats{Name: name}
			at := func(r releases.Release) float64 { return ratios[r.Version[len(r.Version)-1]-'0'] }
			for _, r := range compared[1:] {
				ratio := at(r) / at(compared[0])
				x := verdict.Comparison{Ratio: ratio, Low: ratio / 1.05, High: ratio * 1.05, Verdict: verdict.Same}
				if math.Abs(ratio-1) > 0.05 {
					x.Verdict = map[bool]verdict.Verdict{true: verdict.Faster, false: verdict.Slower}[ratio > 1]
				}
				cs.Rows = append(cs.Rows, verdict.Row{Arm: experiment.Arm{Name: r.Version}, Comparison: &x})
			}
			cases = append(cases, cs)
		}
		return verdict.Stats{Components: []verdict.ComponentStats{{Component: "queue", Cases: cases}}}, nil
	}
}

func TestBisectCases(t *testing.T) {
	var all []releases.Release
	for _, v := range []string{"v0.0.0", "v0.0.1", "v0.0.2", "v0.0.3", "v0.0.4", "v0.0.5", "v0.0.6"} {
		all = append(all, releases.Release{Module: "m", Version: v})
	}
	var asked []string
	compare := history{
		"op=cycle": {1, 1.01, 0.99, 1, 0.5, 0.51, 0.5},
		"op=list":  {1, 2, 1.9, 2, 2.1, 2, 2},
		"op=same":  {1, 1, 1, 1, 1, 1, 1.01},
	}.compare(&asked)
	steps, err := bisectAll([]stretch{{releases: all}}, compare)
	require.NoError(t, err)
	require.Len(t, steps, 2, "what is the same at both ends is not looked into")
	assert.Equal(t, []any{"queue/op=cycle", "v0.0.3", "v0.0.4", true}, []any{steps[0].Case, steps[0].Before, steps[0].Version, steps[0].Sure})
	assert.Equal(t, []any{"queue/op=list", "v0.0.0", "v0.0.1", true}, []any{steps[1].Case, steps[1].Before, steps[1].Version, steps[1].Sure})
	assert.Equal(t, verdict.Slower, steps[0].Change.Verdict)
	assert.LessOrEqual(t, len(asked), 1+2*(3+3))
	assert.Contains(t, stepTable(steps).rows[0], "v0.0.4")
	stats, err := compare("", all[0], all[6])
	require.NoError(t, err)
	page := string(bisectPage(experiment.Run{Command: []string{"releases", "bisect"}}, []stretch{{all, stats}}, all, steps, false))
	for _, want := range []string{
		"# Releases of m that changed a case", "From v0.0.0 to v0.0.6, 7 releases: each minor was compared",
		"| `queue/op=cycle` | v0.0.4 | v0.0.3 | 0.50× | 0.48 to 0.53× | slower | yes |", "- `queue/op=same`, noise floor", "benchrun releases bisect",
	} {
		assert.Contains(t, page, want)
	}
	assert.NotContains(t, page, "- `queue/op=list`")
	assert.NotContains(t, page, "Not decided")
	stats.Components[0].Cases[2].Rows = nil
	page = string(bisectPage(experiment.Run{Command: []string{"releases", "bisect"}}, []stretch{{all, stats}}, all, steps, false))
	assert.Contains(t, page, "Not decided:\n\n- `queue/op=same` from v0.0.0 to v0.0.6: no result\n")
	assert.NotContains(t, page, "No change was shown")

	steps, err = bisectAll([]stretch{{releases: all}}, history{"op=cycle": {1, 1, 2, 2.02, 2, 6, 6}}.compare(&asked))
	require.NoError(t, err)
	require.Len(t, steps, 2, "a case that changed twice")
	assert.Equal(t, []any{"v0.0.2", "v0.0.5"}, []any{steps[0].Version, steps[1].Version})
	assert.InDelta(t, 3, steps[1].Change.Ratio, 1e-9, "with the release before")

	steps, err = bisectAll([]stretch{{releases: all}}, history{"op=cycle": {1, 1.05, 1.1, 1.2, 1.22, 1.4, 1.5}}.compare(&asked))
	require.NoError(t, err)
	require.NotEmpty(t, steps)
	assert.True(t, slices.ContainsFunc(steps, func(x step) bool { return !x.Sure }), "a drift has no step that an interval could show")

	assert.NotContains(t, page, "did not come to its end")
}

// A search that fails or is interrupted keeps what it has found.
func TestBisectCutShort(t *testing.T) {
	var all []releases.Release
	for _, v := range []string{"v0.1.0", "v0.1.1", "v0.2.2", "v0.3.3"} {
		all = append(all, releases.Release{Module: "m", Version: v})
	}
	failed := errors.New("disk full")
	var asked []string
	answer := history{"op=cycle": {1, 1, 0.5, 0.5}}.compare(&asked)
	stretches := stretchesOf(all)
	compare := func(only string, compared ...releases.Release) (verdict.Stats, error) {
		if compared[len(compared)-1].Version == "v0.3.3" {
			return verdict.Stats{}, failed
		}
		return answer(only, compared...)
	}
	steps, err := bisectAll(stretches, compare)
	require.ErrorIs(t, err, failed)
	require.Len(t, steps, 1)
	assert.Equal(t, "v0.2.2", steps[0].Version)
	page := string(bisectPage(experiment.Run{Command: []string{"releases", "bisect"}}, stretches, all, steps, true))
	assert.Contains(t, page, "**The search did not come to its end**")
	assert.Contains(t, page, "| `queue/op=cycle` | v0.2.2 |")
	assert.Contains(t, page, "Not decided:\n\n- all from v0.2.2 to v0.3.3\n")

	lookBack := func(only string, compared ...releases.Release) (verdict.Stats, error) {
		if len(compared) == 2 && compared[1].Version == "v0.1.1" {
			return verdict.Stats{}, failed // while the releases before the step are looked at
		}
		return answer(only, compared...)
	}
	found, err := bisectCase("queue/op=cycle", all, lookBack)
	require.ErrorIs(t, err, failed)
	require.Len(t, found, 1)
	assert.Equal(t, "v0.2.2", found[0].Version)

	page = string(bisectPage(experiment.Run{Command: []string{"releases", "bisect"}}, stretches, all, nil, true))
	assert.Contains(t, page, "- `queue/op=cycle` from v0.1.0 to v0.2.2: slower, by a release that was not found yet\n")

	commits := func(releases.Release, releases.Release) []releases.Release { return all[1:2] }
	steps[0].Sure = true
	found, err = bisectCommits(steps, all, commits, func(string, ...releases.Release) (verdict.Stats, error) { return verdict.Stats{}, failed })
	require.ErrorIs(t, err, failed)
	assert.Equal(t, steps, found, "to the release, if not to the commit")
}

// What one minor changes and the next undoes is found too.
func TestStretches(t *testing.T) {
	var all []releases.Release
	for _, v := range []string{"v0.1.0", "v0.1.1", "v0.2.2", "v0.2.3", "v0.3.4"} {
		all = append(all, releases.Release{Module: "m", Version: v})
	}
	stretches := stretchesOf(all)
	var ends []string
	for _, x := range stretches {
		ends = append(ends, x.releases[0].Version, x.releases[len(x.releases)-1].Version)
	}
	assert.Equal(t, []string{"v0.1.0", "v0.2.2", "v0.2.2", "v0.3.4"}, ends)
	var asked []string
	steps, err := bisectAll(stretches, history{"op=cycle": {1, 1, 0.5, 0.5, 1}}.compare(&asked))
	require.NoError(t, err)
	require.Len(t, steps, 2)
	assert.Equal(t, []any{"v0.2.2", verdict.Slower, "v0.3.4", verdict.Faster}, []any{steps[0].Version, steps[0].Change.Verdict, steps[1].Version, steps[1].Change.Verdict})
	assert.Len(t, stretchesOf(all[:2]), 1)
}

// A pre-release belongs to the search for what the minor before it became.
func TestStretchesOfPreReleases(t *testing.T) {
	var all []releases.Release
	for _, v := range []string{"v0.1.0-rc.0", "v0.1.0", "v0.1.1", "v0.2.0-alpha.1", "v0.2.0", "v0.3.0-beta.0"} {
		all = append(all, releases.Release{Module: "m", Version: v})
	}
	var ends []string
	for _, x := range stretchesOf(all) {
		ends = append(ends, x.releases[0].Version, x.releases[len(x.releases)-1].Version)
	}
	assert.Equal(t, []string{"v0.1.0-rc.0", "v0.2.0", "v0.2.0", "v0.3.0-beta.0"}, ends)
}

// Commits are searched only where it is sure that something changed, and by the way pass
// over what can't be built.
func TestBisectCommits(t *testing.T) {
	of := func(versions ...string) (all []releases.Release) {
		for _, v := range versions {
			all = append(all, releases.Release{Module: "m", Version: v, Subject: "about " + v})
		}
		return all
	}
	all := of("v0.0.0", "v0.0.6", "v0.0.7")
	var asked, searched []string
	answer := history{"op=cycle": {1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25}}.compare(&asked)
	compare := func(only string, compared ...releases.Release) (verdict.Stats, error) {
		for _, r := range compared {
			if r.Version == "c3" {
				return verdict.Stats{}, fmt.Errorf("c3 %w", releases.ErrNotBuilt)
			}
		}
		return answer(only, compared...)
	}
	commits := func(from, to releases.Release) []releases.Release {
		searched = append(searched, from.Version+".."+to.Version)
		return of("c1", "c2", "c3", "c4", "c5")
	}
	steps := []step{
		{Case: "queue/op=cycle", Before: "v0.0.0", Version: "v0.0.6", Sure: true},
		{Case: "queue/op=cycle", Before: "v0.0.6", Version: "v0.0.7"},
	}
	found, err := bisectCommits(steps, all, commits, compare)
	require.NoError(t, err)
	assert.Equal(t, []string{"v0.0.0..v0.0.6"}, searched)
	require.Len(t, found, 2)
	assert.Equal(t, []any{"c2", "c4", "about c4", true}, []any{found[0].Before, found[0].Version, found[0].Subject, found[0].Sure})
	assert.Equal(t, steps[1], found[1])
	assert.Contains(t, stepTable(found).rows[0], "c4 (about c4)")

	found, err = bisectCommits(steps, all, func(releases.Release, releases.Release) []releases.Release { return nil }, compare)
	require.NoError(t, err)
	assert.Equal(t, steps, found, "what no proxy has changes nothing")
}
