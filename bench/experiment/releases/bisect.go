package releases

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"golang.org/x/mod/semver"

	"github.com/informerbench/informerbench/bench/internal/gocommand"
)

// Between lists the releases of a module from one to another, both included, in
// the order of their versions and without pre-releases in between.
func Between(ctx context.Context, from, to Release) ([]Release, error) {
	if semver.Compare(from.Version, to.Version) >= 0 {
		return nil, fmt.Errorf("found %s before %s, expected the older release first", from.Version, to.Version)
	}
	out, err := gocommand.Run(ctx, os.TempDir(), "list", "-m", "-versions", "-json", from.Module)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from.Module, err)
	}
	var found struct{ Versions []string }
	if err := json.Unmarshal(out, &found); err != nil {
		return nil, fmt.Errorf("%s: go list: %w", from.Module, err)
	}
	between := []Release{from, to}
	for _, v := range found.Versions {
		inside := semver.Compare(v, from.Version) > 0 && semver.Compare(v, to.Version) < 0
		if inside && semver.Prerelease(v) == "" {
			between = append(between, Release{from.Module, v})
		}
	}
	slices.SortFunc(between, func(a, b Release) int { return semver.Compare(a.Version, b.Version) })
	return between, nil
}

// Bisect finds the first of n releases in order that is as the last is: changed
// is asked about releases between the two, as few as it takes. The release before
// the one found was not changed, so that what is found is a step even where a
// change came, went and came again.
func Bisect(n int, changed func(i int) (bool, error)) (int, error) {
	before, after := 0, n-1
	for after-before > 1 {
		middle := before + (after-before)/2
		is, err := changed(middle)
		if err != nil {
			return 0, err
		}
		if is {
			after = middle
		} else {
			before = middle
		}
	}
	return after, nil
}
