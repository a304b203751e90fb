package app

import (
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/experiment/releases"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"golang.org/x/mod/semver"
)

// A comparer samples releases in turns, the first being the baseline, on one case or, for
// "", on all.
type comparer func(only string, compared ...releases.Release) (verdict.Stats, error)

// A stretch is compared from end to end: the releases of a minor, with the first of the next.
type stretch struct {
	releases []releases.Release
	stats    verdict.Stats
}

// stretchesOf divides releases where a minor is released, as what one changed the next may undo.
func stretchesOf(all []releases.Release) []stretch {
	var list []stretch
	begin := 0
	for i := 1; i < len(all); i++ {
		if i == len(all)-1 || semver.Prerelease(all[i].Version) == "" && semver.MajorMinor(all[i].Version) != semver.MajorMinor(all[begin].Version) {
			list = append(list, stretch{releases: all[begin : i+1]})
			begin = i
		}
	}
	return list
}

// bisectAll compares the ends of each stretch and bisects each case that differs. With an
// error it returns what it found before.
func bisectAll(all []stretch, compare comparer) ([]step, error) {
	var steps []step
	for i := range all {
		first, last := all[i].releases[0], all[i].releases[len(all[i].releases)-1]
		var err error
		if all[i].stats, err = compare("", first, last); err != nil {
			return steps, err
		}
		for _, c := range all[i].stats.Components {
			for _, cs := range c.Cases {
				if !differs(comparisonOf(cs, last.Version)) {
					continue
				}
				found, err := bisectCase(c.Component+"/"+cs.Name, all[i].releases, compare)
				if steps = append(steps, found...); err != nil {
					return steps, err
				}
			}
		}
	}
	return steps, nil
}

// bisectCase finds the releases that changed a case whose ends differ: the one that halving
// leads to, and then those before it and behind it, if what is left there differs too.
func bisectCase(name string, all []releases.Release, compare comparer) ([]step, error) {
	last, sure := all[len(all)-1], true
	before, at, err := releases.Bisect(len(all), func(i int) (bool, error) {
		stats, err := compare(name, all[0], all[i], last)
		if err != nil {
			return false, err
		}
		is, decided := like(stats, all[i].Version, last.Version)
		sure = sure && decided
		return is, nil
	})
	if err != nil {
		return nil, err
	}
	change, err := between(name, all[before], all[at], compare)
	if err != nil {
		return nil, err
	}
	steps, err := rest(name, all[:before+1], compare)
	steps = append(steps, step{Case: name, Before: all[before].Version, Version: all[at].Version, Subject: all[at].Subject, Change: change, Sure: sure && differs(change)})
	if err != nil {
		return steps, err
	}
	after, err := rest(name, all[at:], compare)
	return append(steps, after...), err
}

// bisectCommits replaces the steps that are sure by those between the commits that led from
// the one release to the other.
func bisectCommits(steps []step, all []releases.Release, commits func(from, to releases.Release) []releases.Release, compare comparer) ([]step, error) {
	var finer []step
	for i, x := range steps {
		at := slices.IndexFunc(all, func(r releases.Release) bool { return r.Version == x.Version })
		before := slices.IndexFunc(all, func(r releases.Release) bool { return r.Version == x.Before })
		var between []releases.Release
		if x.Sure {
			between = commits(all[before], all[at])
		}
		if len(between) == 0 {
			finer = append(finer, x)
			continue
		}
		found, err := bisectCase(x.Case, slices.Concat(all[before:before+1], between, all[at:at+1]), compare)
		if err != nil {
			return append(finer, steps[i:]...), err
		}
		finer = append(finer, found...)
	}
	return finer, nil
}

// rest bisects releases between which nothing may have changed.
func rest(name string, all []releases.Release, compare comparer) ([]step, error) {
	if len(all) < 2 {
		return nil, nil
	}
	if x, err := between(name, all[0], all[len(all)-1], compare); err != nil || !differs(x) {
		return nil, err
	}
	return bisectCase(name, all, compare)
}

func between(name string, before, after releases.Release, compare comparer) (verdict.Comparison, error) {
	stats, err := compare(name, before, after)
	if err != nil || len(stats.Components) == 0 || len(stats.Components[0].Cases) == 0 {
		return verdict.Comparison{Verdict: verdict.NoResult}, err
	}
	return comparisonOf(stats.Components[0].Cases[0], after.Version), nil
}

func differs(x verdict.Comparison) bool {
	return x.Verdict == verdict.Faster || x.Verdict == verdict.Slower
}

// like reports whether the middle's ratio is nearer to the last's than to 1, and
// whether its interval leaves that without a doubt. The stats are of one case.
func like(stats verdict.Stats, middle, last string) (is, sure bool) {
	if len(stats.Components) == 0 || len(stats.Components[0].Cases) == 0 {
		return false, false
	}
	cs := stats.Components[0].Cases[0]
	m, half := comparisonOf(cs, middle), math.Sqrt(comparisonOf(cs, last).Ratio)
	sure = m.Low > half || m.High < half
	if half > 1 {
		return m.Ratio > half, sure
	}
	return m.Ratio < half, sure
}

func comparisonOf(cs verdict.CaseStats, version string) verdict.Comparison {
	for _, r := range cs.Rows {
		if r.Name == version && r.Comparison != nil {
			return *r.Comparison
		}
	}
	return verdict.Comparison{Verdict: verdict.NoResult}
}
