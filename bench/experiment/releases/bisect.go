package releases

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/informerbench/informerbench/bench/internal/gocommand"
)

// Between lists the releases of a module from one to another, both included, in
// the order of their versions.
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
		if semver.Compare(v, from.Version) > 0 && semver.Compare(v, to.Version) < 0 {
			between = append(between, Release{Module: from.Module, Version: v})
		}
	}
	slices.SortFunc(between, func(a, b Release) int { return semver.Compare(a.Version, b.Version) })
	return between, nil
}

// Commits lists the commits of a clone that lead from one release to another, without
// merged branches' own and what changes no code but tests, the oldest first, as the
// pseudo-versions that the module proxy has. It returns how many there are in all, too.
func Commits(ctx context.Context, clone string, from, to Release) (on []Release, all int, err error) {
	out, err := git(ctx, clone, "log", "--first-parent", "--reverse", "--format=%H %s", from.Version+".."+to.Version, "--", "*.go", "go.mod", ":(exclude)*_test.go")
	if err != nil {
		return nil, 0, err
	}
	commits := strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
	for few := range slices.Chunk(commits, 100) { // what fits on a command line
		args := []string{"list", "-m", "-e", "-json"}
		for _, commit := range few {
			hash, _, _ := strings.Cut(commit, " ")
			args = append(args, from.Module+"@"+hash)
		}
		out, err := gocommand.Run(ctx, os.TempDir(), args...)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", from.Module, err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
			var found struct{ Version string }
			if err := d.Decode(&found); err != nil {
				return nil, 0, fmt.Errorf("%s: go list: %w", from.Module, err)
			}
			for _, commit := range few { // a commit with a tag is a release, and no pseudo-version
				if hash, subject, _ := strings.Cut(commit, " "); module.IsPseudoVersion(found.Version) && strings.HasSuffix(found.Version, "-"+hash[:min(12, len(hash))]) {
					on = append(on, Release{from.Module, found.Version, subject})
				}
			}
		}
	}
	return on, len(commits), nil
}

// CheckClone refuses a folder that is no clone with the tag of one of the releases; the
// others may be newer than the clone.
func CheckClone(ctx context.Context, clone string, releases ...Release) error {
	var err error
	for _, r := range releases {
		if _, err = git(ctx, clone, "rev-parse", "--verify", r.Version+"^{commit}"); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s: expected a git clone of %s with its tags: %w", clone, releases[0].Module, err)
}

func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) && len(failed.Stderr) > 0 {
		line, _, _ := strings.Cut(string(failed.Stderr), "\n")
		err = errors.New(line)
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], cmp.Or(ctx.Err(), err))
	}
	return out, nil
}

// Bisect finds two of n releases in order, of which the second is as the last is and
// the first is not, so that what is found is a step even where a change came, went and
// came again. changed is asked about releases between the ends, as few as it takes. One
// that can't be built, ErrNotBuilt, is passed over: else the two are neighbours.
func Bisect(n int, changed func(i int) (bool, error)) (before, after int, err error) {
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	for len(left) > 2 {
		middle := len(left) / 2
		is, err := changed(left[middle])
		switch {
		case errors.Is(err, ErrNotBuilt):
			left = slices.Delete(left, middle, middle+1)
		case err != nil:
			return 0, 0, err
		case is:
			left = left[:middle+1]
		default:
			left = left[middle:]
		}
	}
	return left[0], left[1], nil
}
