package app

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/tune"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/sim"
	"github.com/spf13/cobra"
)

// advise reads the load and tunes for it.
func (l *tuneCommandLine) advise(cmd *cobra.Command, progress *progressLine) (*tune.Result, error) {
	ctx := cmd.Context()
	switch {
	case l.workload != "":
		spec, err := loadgen.Open(l.workload)
		if err != nil {
			return nil, err
		}
		spec.Reconcile = l.settings.reconcile(cmd, spec.Reconcile)
		r, err := tune.Workload(ctx, spec, l.options)
		return named(r, "workload "+l.workload, err)
	case l.trace != "":
		recording, err := readRecording(l.trace, cmd.ErrOrStderr())
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
		r, err := tune.Recording(ctx, func(uint64) sim.Arrivals { return recording.Arrivals() }, spec, l.options)
		return named(r, "recording "+filepath.Base(l.trace), err)
	}
	d, err := l.delta(cmd, progress)
	if err != nil {
		return nil, err
	}
	source := fmt.Sprintf("%s, %v by %s", sourceNames(l.metrics), d.Interval.Round(time.Millisecond), d.Told)
	r, err := tune.Metrics(ctx, d, l.options)
	return named(r, source, err)
}

// queueCosts reads what queues cost in a run of the benchmarks.
func queueCosts(dir string) ([]tune.QueueCost, error) {
	_, samples, err := experiment.Load(dir)
	if err != nil {
		return nil, err
	}
	costs, err := tune.QueueCosts(samples)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return costs, nil
}

func named(r *tune.Result, source string, err error) (*tune.Result, error) {
	if err == nil {
		r.Source = source
	}
	return r, err
}

// sourceNames leaves the folders out, which are nobody's business in a report.
func sourceNames(sources []string) string {
	text := ""
	for i, s := range sources {
		if i > 0 {
			text += " to "
		}
		if !scrape.IsURL(s) {
			s = filepath.Base(s)
		}
		text += scrape.Redacted(s)
	}
	return text
}

// delta is what was counted between two scrapes, or up to one.
func (l *tuneCommandLine) delta(cmd *cobra.Command, progress *progressLine) (*scrape.Delta, error) {
	begin, err := scrape.Read(cmd.Context(), l.metrics[0])
	if err != nil {
		return nil, err
	}
	if len(l.metrics) == 1 && !(scrape.IsURL(l.metrics[0]) && l.duration == 0 && !l.sinceStart) {
		if l.interval != 0 {
			return nil, fmt.Errorf("--interval: found it with one scrape, expected a second one; of one, --duration or --since-start tells what it covers")
		}
		if l.duration == 0 && !l.sinceStart {
			return nil, fmt.Errorf("--metrics: found one scrape, expected a second one and --interval, or --duration or --since-start with it")
		}
		return scrape.Since(begin, l.duration)
	}
	second := l.metrics[len(l.metrics)-1]
	if scrape.IsURL(l.metrics[0]) {
		l.interval = cmp.Or(l.interval, time.Minute)
		started := time.Now()
		err := wait(cmd, l.interval, func(left time.Duration) {
			progress.show(lab.Progress{Elapsed: time.Since(started), Left: left, Doing: "until the second scrape of " + scrape.Redacted(second)})
		})
		if err != nil {
			return nil, err
		}
		// The clock tells better than the flag what passed between two requests.
		end, err := scrape.Read(cmd.Context(), second)
		if err != nil {
			return nil, err
		}
		return scrape.Between(begin, end, end.Taken.Sub(begin.Taken))
	}
	end, err := scrape.Read(cmd.Context(), second)
	if err != nil {
		return nil, err
	}
	return scrape.Between(begin, end, l.interval)
}

// completeQueues offers the queues of the scrapes on the command line.
func (l *tuneCommandLine) completeQueues(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	for _, source := range append(l.metrics, args...) {
		if scrape.IsURL(source) {
			continue
		}
		if s, err := scrape.Read(context.Background(), source); err == nil {
			return s.Names(), cobra.ShellCompDirectiveNoFileComp
		}
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
