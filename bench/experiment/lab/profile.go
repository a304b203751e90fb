package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
)

// toProfile lists the cases that get profiles: all, on the quick profile the
// first one of each component, to save time.
func toProfile(p experiment.Plan) []experiment.PlannedCase {
	var cases []experiment.PlannedCase
	seen := map[string]bool{}
	for _, c := range p.Cases {
		if c.LeftOut != "" {
			continue
		}
		if p.Profile == Full || !seen[c.Component] {
			cases = append(cases, c)
		}
		seen[c.Component] = true
	}
	return cases
}

// profiles runs one more child per variant, as many at once as there are
// cores: these are no samples. A profile that is missing is a warning.
func (l Lab) profiles(ctx context.Context, dir string, plan experiment.Plan) []experiment.Warning {
	type job struct {
		c       experiment.PlannedCase
		variant string
	}
	var jobs []job
	for _, c := range toProfile(plan) {
		for _, a := range c.Arms {
			if !a.Control {
				jobs = append(jobs, job{c, a.Variant})
			}
		}
	}
	begin := time.Now()
	limited, cancel := context.WithTimeout(ctx, plan.Profiling)
	defer cancel()
	var mu sync.Mutex // guards next, missing and the calls of Report
	next := 0
	var missing []experiment.Warning
	take := func() (job, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(jobs) {
			return job{}, false
		}
		j := jobs[next]
		next++
		left := time.Duration(0)
		if done := next - 1; done > 0 {
			left = min(time.Since(begin)/time.Duration(done)*time.Duration(len(jobs)-done), plan.Profiling-time.Since(begin))
		}
		l.Report(Progress{Doing: "profile of " + j.c.Key() + ": " + j.variant, Elapsed: time.Since(begin), Left: max(left, 0)})
		return j, true
	}
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for j, ok := take(); ok; j, ok = take() {
				target := filepath.Join(dir, experiment.ProfileDir(j.c, j.variant))
				_, err := RunChild(limited, l.Profile(j.c, j.variant, target), plan.Timeout)
				if err == nil {
					continue
				}
				os.RemoveAll(target) // half a set of profiles is none
				switch {
				case ctx.Err() != nil:
					err = errors.New("interrupted")
				case limited.Err() != nil:
					err = errors.New("out of time")
				}
				mu.Lock()
				missing = append(missing, experiment.Warn(j.c.Key()+"/"+j.variant, "no profile: %v", err))
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	if len(missing) > 0 { // a folder with no profile in it promises one
		folders, _ := filepath.Glob(filepath.Join(dir, "profiles", "*"))
		for _, folder := range append(folders, filepath.Join(dir, "profiles")) {
			os.Remove(folder) // unless it holds something
		}
	}
	slices.SortFunc(missing, func(a, b experiment.Warning) int { return strings.Compare(a.Scope, b.Scope) })
	return missing
}
