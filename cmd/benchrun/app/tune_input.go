package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/tune"
	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/sim"
	"github.com/spf13/cobra"
)

// advise reads the load and tunes for it.
func (l *tuneCommandLine) advise(cmd *cobra.Command, progress *progressLine) (*advice.Result, error) {
	ctx := cmd.Context()
	switch {
	case l.workload != "":
		spec, err := unlessInterrupted(ctx, func() (*loadgen.Spec, error) { return loadgen.Open(l.workload) })
		if err != nil {
			return nil, err
		}
		spec.Reconcile = l.settings.reconcile(cmd, spec.Reconcile)
		r, err := tune.Workload(ctx, spec, nil, l.options)
		return named(r, "workload "+l.workload, err)
	case l.trace != "":
		recording, err := readRecording(ctx, l.trace, cmd.ErrOrStderr())
		if err != nil {
			return nil, err
		}
		spec := &loadgen.Spec{
			Name: filepath.Base(l.trace), Seed: l.options.Seed,
			// The recording takes the place of the one event.
			Resources: []loadgen.Resource{{
				Name: "objects", Kind: "metadata", Count: max(1, recording.Objects(0)),
				Events: loadgen.Events{Pattern: "mix", Mix: loadgen.Mix{Update: 1}, Count: 1},
			}},
			Reconcile: l.settings.reconcile(cmd, loadgen.Reconcile{}),
		}
		r, err := tune.Workload(ctx, spec, func(uint64) sim.Arrivals { return recording.Arrivals() }, l.options)
		return named(r, "recording "+filepath.Base(l.trace), err)
	}
	deltas, note, err := l.deltas(cmd, progress)
	if err != nil {
		return nil, err
	}
	var all *advice.Result
	for _, x := range deltas {
		r, err := tune.Metrics(ctx, x.delta, l.options)
		if err != nil {
			return nil, err
		}
		if all = r.Join(all, x.target); note != "" {
			all.Notes, note = append([]string{note}, all.Notes...), ""
		}
	}
	d := deltas[0].delta
	return named(all, fmt.Sprintf("%s, %v by %s", l.sources(), d.Interval.Round(time.Millisecond), d.Told), nil)
}

// queueCosts reads what queues cost in a run of the benchmarks.
func queueCosts(dir string) ([]predict.QueueCost, error) {
	_, samples, err := experiment.Load(dir)
	if err != nil {
		return nil, err
	}
	costs, err := predict.QueueCosts(samples)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return costs, nil
}

func named(r *advice.Result, source string, err error) (*advice.Result, error) {
	if err == nil {
		r.Source = source
	}
	return r, err
}

// sources names what was read, without the folders, which are nobody's business in a report.
func (l *tuneCommandLine) sources() string {
	if l.query.URL != "" {
		return scrape.Redacted(l.query.URL) + " " + l.query.Selector
	}
	var names []string
	for _, s := range l.metrics {
		if !scrape.IsURL(s) {
			s = filepath.Base(s)
		}
		names = append(names, scrape.Redacted(s))
	}
	if len(names) == 1 {
		return names[0]
	}
	return names[0] + " to " + names[len(names)-1]
}

// A replica is a process and what it counted.
type replica struct {
	target string // "" if there is one
	delta  *scrape.Delta
}

// deltas are what was counted, of each replica that is to be tuned alone.
func (l *tuneCommandLine) deltas(cmd *cobra.Command, progress *progressLine) ([]replica, string, error) {
	list, err := l.snapshots(cmd, progress)
	if err != nil {
		return nil, "", err
	}
	targets := scrape.Targets(list)
	deltas := map[string]*scrape.Delta{}
	for _, target := range targets {
		series := scrape.Of(list, target)
		if len(series) == 1 && (l.duration > 0 || l.sinceStart) {
			deltas[target], err = scrape.Since(series[0], l.duration)
		} else if len(series) == 1 && l.interval > 0 && len(targets) == 1 {
			err = errors.New("--interval: found it with one scrape, expected a second one; of one, --duration or --since-start tells what it covers")
		} else {
			deltas[target], err = scrape.Over(series, l.interval)
		}
		if err != nil && len(targets) == 1 {
			return nil, "", err
		}
		if err != nil { // a replica that came or went
			delete(deltas, target)
		}
	}
	if len(targets) > 1 && len(list) == len(targets) && len(deltas) == 0 {
		return nil, "", fmt.Errorf("found one scrape each of %d instances (%s), expected two of one and the same", len(targets), scrape.Described(targets))
	}
	active := scrape.Active(deltas)
	switch {
	case len(targets) == 1:
		return []replica{{"", deltas[targets[0]]}}, "", nil
	case len(active) == 0 && err != nil:
		return nil, "", err
	case len(active) == 0:
		return nil, "", fmt.Errorf("none of %d replicas (%s) worked; record instead: a time in which one does", len(targets), scrape.Described(targets))
	case len(active) == 1:
		return []replica{{"", deltas[active[0]]}}, fmt.Sprintf("of %d replicas, %s alone worked: the advice is for it", len(targets), scrape.Described(active)), nil
	case l.replicas == "each":
		var each []replica
		for _, target := range active {
			each = append(each, replica{target, deltas[target]})
		}
		return each, "", nil
	case l.replicas == "sum":
		var each []*scrape.Delta
		for _, target := range active {
			each = append(each, deltas[target])
		}
		return []replica{{"", scrape.Sum(each)}}, fmt.Sprintf("the counters of %s are added up, as of one that leads after the other: --workers is of one of them", scrape.Described(active)), nil
	}
	return nil, "", fmt.Errorf("found %d replicas that worked (%s), expected --replicas each (every one is a controller of its own) or --replicas sum (one led after the other), or a selector of one", len(active), scrape.Described(active))
}

// snapshots reads everything that was given.
func (l *tuneCommandLine) snapshots(cmd *cobra.Command, progress *progressLine) ([]*scrape.Snapshot, error) {
	if l.query.URL != "" {
		started := time.Now()
		q := l.query
		q.Progress = func(doing string) {
			progress.show(lab.Progress{Elapsed: time.Since(started), Doing: doing})
		}
		return q.Run(cmd.Context(), started)
	}
	if scrape.IsURL(l.metrics[0]) && l.duration == 0 && !l.sinceStart {
		return l.watch(cmd, progress)
	}
	files, err := expanded(l.metrics)
	if err != nil {
		return nil, err
	}
	var list []*scrape.Snapshot
	for _, file := range files {
		some, err := unlessInterrupted(cmd.Context(), func() ([]*scrape.Snapshot, error) { return scrape.Read(cmd.Context(), file) })
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

// expanded takes the files of directories in the order of their names.
func expanded(sources []string) ([]string, error) {
	var files []string
	for _, source := range sources {
		info, err := os.Stat(source)
		if scrape.IsURL(source) || err == nil && !info.IsDir() {
			files = append(files, source)
			continue
		}
		if err != nil {
			return nil, err
		}
		entries, err := os.ReadDir(source)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
				files = append(files, filepath.Join(source, e.Name()))
			}
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: found no files, expected scrapes", strings.Join(sources, ", "))
	}
	return files, nil
}

// watch scrapes URLs, each of a replica, every few seconds.
func (l *tuneCommandLine) watch(cmd *cobra.Command, progress *progressLine) ([]*scrape.Snapshot, error) {
	urls := slices.Compact(slices.Sorted(slices.Values(l.metrics)))
	interval := cmp.Or(l.interval, time.Minute)
	l.interval = 0 // the clock tells better what passed between two requests
	step := min(cmp.Or(l.query.Step, 5*time.Second), interval)
	started := time.Now()
	var list []*scrape.Snapshot
	for n := 0; ; n++ {
		for _, url := range urls {
			some, err := scrape.Read(cmd.Context(), url)
			if err != nil && n > 0 && cmd.Context().Err() == nil {
				continue // it may come back; what is missing is told
			}
			if err != nil {
				return nil, err
			}
			for _, s := range some {
				if s.Target == "" && len(urls) > 1 {
					s.Target = scrape.Redacted(url)
				}
			}
			list = append(list, some...)
		}
		left := interval - time.Since(started)
		if n == 0 {
			left = max(left, step) // however long the first took, there is a second
		}
		if left <= 0 || len(list) == 0 {
			return list, nil
		}
		next := min(left, max(0, time.Duration(n+1)*step-time.Since(started)))
		if left-next < step/2 {
			next = left
		}
		err := wait(cmd, next, func(shorter time.Duration) {
			progress.show(lab.Progress{Elapsed: time.Since(started), Left: left - next + shorter, Doing: fmt.Sprintf("%d scrapes of %s", n+1, scrape.Redacted(urls[0]))})
		})
		if err != nil {
			return nil, err
		}
	}
}

// completeQueues offers the queues of the scrapes on the command line.
func (l *tuneCommandLine) completeQueues(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	for _, source := range append(l.metrics, args...) {
		if scrape.IsURL(source) {
			continue
		}
		if list, err := scrape.Read(context.Background(), source); err == nil {
			return list[len(list)-1].Names(), cobra.ShellCompDirectiveNoFileComp
		}
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
