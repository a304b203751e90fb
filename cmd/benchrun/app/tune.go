package app

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/tune"
	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/bench/tune/search"
	"github.com/informerbench/informerbench/reports"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A tuneCommandLine is what tune's flags say.
type tuneCommandLine struct {
	metrics    []string
	query      scrape.Query
	replicas   string
	all        bool
	interval   time.Duration
	duration   time.Duration
	sinceStart bool
	workload   string
	trace      string
	objectives []string
	whatIf     []string
	settings   tuneSettings
	options    tune.Options
	costs      string
	dir        reportDir
	out        output
	elections  bool // the command of an earlier version, which is benchrun election today
	election   electionTuning
}

func (s Suite) tuneCommand() *cobra.Command {
	var l tuneCommandLine
	cmd := &cobra.Command{
		Use:   "tune {--prometheus URL | --metrics SCRAPES | --workload WORKLOAD | --trace RECORDING}",
		Short: "Recommend a controller's settings from what it measured",
		Long: `Tune fits a model of a controller to what it tells about itself, shows how well
the model repeats the measurement, and searches for the cheapest settings that
meet the objectives: workers, client QPS and burst, back-off, retry bucket, the
queue and, where the load tells of them, resync, priorities and a queue for each
resource. Another queue is recommended only if it saves a hundredth of a
processor; if none does, tune says at which load one would.

The load is one of
  --prometheus URL       what a Prometheus server scraped, with --selector and --range
  --metrics URL          /metrics, scraped every few seconds for --interval
  --metrics FILES        a series of scrapes in the order of time, files (gzipped or not), a directory of them, or
                         OpenMetrics with timestamps (promtool tsdb dump-openmetrics); --interval if nothing in them tells it
  --metrics BEGIN END    two scrapes and --interval between them, which tell less: not how the load varies
  --metrics END          one scrape, with --duration or --since-start
  --workload WORKLOAD    a preset or file (see benchrun workload)
  --trace RECORDING      recorded watch events, with --service

The metrics have to be the controller's own: kubectl get --raw /metrics gives the API server's, which are refused.
Those of kube-controller-manager are at port 10257 of its pod, behind the proxy of the example.

An objective is a bound: 'p99 queue wait < 1s', 'p99 settle < 5s', 'mean work < 1s',
'depth < 100', 'utilisation < 80%', 'api qps <= 50', 'max workers 32'. Wait is
from the add to the get, work from the get to done, settle from an event to the
end of the first successful reconcile that saw it. Without one on durations, they
become as short as they get within 5% of settle, as cheaply as that can be had;
ten calls a second cost as much as a worker.

With --what-if the same figures are predicted for a change that you have in mind.

What the metrics don't carry is said or taken from flags; what is a default is
named so. Where the data can't carry advice tune says what to record instead.

Exit codes: 0 advice, also where it is to change nothing; 2 no advice, or an
objective that nothing can meet, or that nothing met within the budget (the
report says which of the two and what comes nearest).`,
		Example: `  # What Prometheus knows of kube-controller-manager
  benchrun tune --prometheus http://localhost:9090 --selector '{job="kube-controller-manager"}' --range 6h

  # Or two scrapes of it, five minutes apart, through the API server's proxy of its pod
  P=/api/v1/namespaces/kube-system/pods/https:kube-controller-manager-NODE:10257/proxy/metrics
  kubectl get --raw $P > begin.txt; sleep 300; kubectl get --raw $P > end.txt
  benchrun tune --metrics begin.txt end.txt --interval 5m

  # A controller of your own, scraped every five seconds for ten minutes
  benchrun tune --metrics http://localhost:8080/metrics --interval 10m --workers 5 --qps 20 --burst 30

  # Within limits
  benchrun tune --metrics begin.txt end.txt --interval 5m --queue replicaset \
    --objective 'p99 queue wait < 1s' --objective 'api qps <= 50' --objective 'max workers 32'

  # What eight workers would bring, and what a higher limit beside them
  benchrun tune --metrics begin.txt end.txt --interval 5m --queue replicaset \
    --what-if workers=8 --what-if workers=8,qps=40,burst=60

  # Before it runs, for a workload or for recorded events
  benchrun tune --workload rolling-update --service 'lognormal(20ms, 300ms)' --calls 2 --call-latency 10ms
  benchrun tune --trace pods.json --service 'exp(30ms)'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if l.elections {
				fmt.Fprintln(cmd.ErrOrStderr(), "tune --election is benchrun election now, with the same flags")
				l.election.seed, l.election.dir, l.election.out = l.options.Seed, l.dir, l.out
				return l.election.run(cmd)
			}
			return l.run(cmd, args)
		},
	}
	l.addTo(cmd)
	return cmd
}

func (l *tuneCommandLine) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&l.metrics, "metrics", nil, "scrapes of /metrics in the order of time: files, a directory of them, OpenMetrics with timestamps, or a URL")
	f.DurationVar(&l.interval, "interval", 0, "time from one scrape to the next; of a URL, how long to scrape it (default of a URL 1m)")
	f.StringVar(&l.query.URL, "prometheus", "", "URL of a Prometheus server that scrapes the controller")
	f.StringVar(&l.query.Selector, "selector", "", "matchers of the controller's series, as in '{job=\"kube-controller-manager\"}'")
	f.DurationVar(&l.query.Range, "range", 6*time.Hour, "how far back --prometheus is asked")
	f.DurationVar(&l.query.Step, "step", 0, "time between two scrapes of a URL (default 5s) or samples of Prometheus (default every one)")
	f.StringVar(&l.query.Config, "http-config", "", "file of authorization, basic_auth and tls_config for --prometheus, as promtool's --http.config.file")
	f.StringVar(&l.replicas, "replicas", "", "several that worked are advised one by one (each) or added up (sum)")
	f.DurationVar(&l.duration, "duration", 0, "what one scrape covers, since the process started")
	f.BoolVar(&l.sinceStart, "since-start", false, "one scrape covers the time since process_start_time_seconds")
	f.StringVar(&l.workload, "workload", "", "preset or file (see benchrun list workloads)")
	f.StringVar(&l.trace, "trace", "", "recording of watch events")
	f.StringVar(&l.options.Queue, "queue", "", "tune this queue only (default each that is busy enough)")
	f.StringArrayVar(&l.objectives, "objective", nil, "a bound to keep, as in 'p99 queue wait < 1s'; may be repeated")
	f.StringArrayVar(&l.whatIf, "what-if", nil, "a change of the current settings to predict too, as in workers=8,qps=40, by the names of --settings; may be repeated")
	l.settings.addTo(cmd)
	f.StringVar(&l.costs, "run", "", "directory of benchrun run that tells what queues cost here (default measured figures of client-go's, controller-runtime's and ours)")
	f.IntVar(&l.options.Keys, "keys", 0, "objects that the controller looks after, which tells how many adds found their key waiting")
	f.StringVar(&l.options.Client, "client", "", "whether queues share one client's limit: shared, own (default own in kube-controller-manager, else shared)")
	f.Uint64Var(&l.options.Seed, "seed", 1, "seed of the simulations; how far another one's advice differs tells how far to trust it")
	f.DurationVar(&l.options.Budget, "budget", 5*time.Minute, "time for fit and search, which seldom need it, 0 for no limit")
	f.StringVar(&l.dir.path, "out", "", "directory of the report, new or empty (default reports/out/TIME-tune)")
	f.BoolVar(&l.all, "all", false, "print every setting and figure, not only what changes")
	l.out.addTo(cmd)
	l.formerly(cmd)
	complete(cmd, "client", "shared", "own")
	complete(cmd, "replicas", "each", "sum")
	complete(cmd, "objective", "p99 queue wait < 1s", "p99 settle < 5s", "api qps <= 50", "max workers 32", "utilisation < 80%")
	completeBy(cmd, "workload", completeWorkloads)
	completeBy(cmd, "what-if", completeSettings)
	completeBy(cmd, "queue", l.completeQueues)
}

// formerly keeps the flags of leader election, which help no longer shows.
func (l *tuneCommandLine) formerly(cmd *cobra.Command) {
	old := &cobra.Command{}
	old.Flags().BoolVar(&l.elections, "election", false, "")
	l.election.addTo(old)
	old.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	cmd.Flags().AddFlagSet(old.Flags())
}

// check finds out which of the inputs is given.
func (l *tuneCommandLine) check(cmd *cobra.Command, args []string) error {
	if len(l.metrics) > 0 {
		l.metrics = append(l.metrics, args...)
	} else if len(args) > 0 {
		return fmt.Errorf("%s: found %q without --metrics", cmd.CommandPath(), args[0])
	}
	given := 0
	for _, is := range []bool{len(l.metrics) > 0, l.query.URL != "", l.workload != "", l.trace != ""} {
		if is {
			given++
		}
	}
	switch {
	case given == 0:
		return fmt.Errorf("%s: found no load, expected --metrics, --prometheus, --workload or --trace", cmd.CommandPath())
	case given > 1:
		return fmt.Errorf("%s: found several loads, expected one of --metrics, --prometheus, --workload and --trace", cmd.CommandPath())
	case len(l.metrics) == 0 && (l.interval != 0 || l.duration != 0 || l.sinceStart):
		return errors.New("--interval, --duration and --since-start are of scrapes: expected --metrics beside them")
	case len(l.metrics) == 0 && l.query.URL == "" && (l.options.Queue != "" || l.replicas != ""):
		return errors.New("--queue and --replicas are of scrapes: expected --metrics or --prometheus beside them")
	case l.query.URL != "" && l.query.Selector == "":
		return errors.New("--prometheus: expected --selector beside it, as in '{job=\"kube-controller-manager\"}'")
	case l.query.URL == "" && (l.query.Selector != "" || l.query.Config != "" || cmd.Flags().Changed("range")):
		return errors.New("--selector, --range and --http-config are of Prometheus: expected --prometheus beside them")
	case l.query.Range <= 0 || l.query.Step < 0:
		return fmt.Errorf("--range, --step: found %v and %v, expected durations as in 6h and 30s", l.query.Range, l.query.Step)
	case l.replicas != "" && l.replicas != "each" && l.replicas != "sum":
		return fmt.Errorf("--replicas: found %q, expected each or sum", l.replicas)
	case len(l.metrics) > 1 && (l.duration != 0 || l.sinceStart):
		return fmt.Errorf("--duration and --since-start are of one scrape, found %d; expected --interval", len(l.metrics))
	case l.duration != 0 && l.sinceStart:
		return errors.New("--duration: found it beside --since-start, expected one of them")
	case l.options.Keys < 0 || l.options.Keys > 10_000_000: // as in a workload
		return fmt.Errorf("--keys: found %d, expected 1 to 10000000 objects, or 0 if their number is not known", l.options.Keys)
	case (len(l.metrics) > 0 || l.query.URL != "") && (cmd.Flags().Changed("service") || cmd.Flags().Changed("failure")):
		return errors.New("--service and --failure are of a workload or recording, and have no effect with --metrics, which tell both")
	case l.options.Client != "" && l.options.Client != "shared" && l.options.Client != "own":
		return fmt.Errorf("--client: found %q, expected shared or own", l.options.Client)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"interval", l.interval}, {"duration", l.duration}, {"budget", l.options.Budget}} {
		if d.value < 0 || d.value == 0 && d.name != "budget" && cmd.Flags().Changed(d.name) {
			return fmt.Errorf("--%s: found %v, expected more than 0", d.name, d.value)
		}
	}
	for _, text := range l.objectives {
		o, err := search.ParseObjective(text)
		if err != nil {
			return fmt.Errorf("--objective: %w", err)
		}
		l.options.Objectives = append(l.options.Objectives, o)
	}
	for _, text := range l.whatIf {
		x, err := parseWhatIf(text)
		if err != nil {
			return fmt.Errorf("--what-if: %w", err)
		}
		l.options.WhatIf = append(l.options.WhatIf, x)
	}
	return nil
}

func (l *tuneCommandLine) run(cmd *cobra.Command, args []string) error {
	if err := l.check(cmd, args); err != nil {
		return err
	}
	l.dir.kind = "tune"
	err := l.dir.check()
	if err != nil {
		return err
	}
	if l.options.Current, err = l.settings.current(cmd); err != nil {
		return err
	}
	if l.costs != "" {
		if l.options.Queues, err = queueCosts(l.costs); err != nil {
			return fmt.Errorf("--run: %w", err)
		}
	}
	progress := newProgressLine(cmd.ErrOrStderr())
	l.options.Progress = func(p advice.Progress) {
		progress.show(lab.Progress{Elapsed: p.Elapsed, Left: p.Left, Doing: p.Doing})
	}
	// The calls are read from flags of the same names that a workload's are.
	l.options.Calls, l.options.CallLatency = l.settings.calls.Mean(), time.Duration(l.settings.callLatency.Mean()*1e9)
	result, err := l.advise(cmd, progress)
	progress.done()
	if err != nil {
		return cmp.Or(byFlag(cmd, err), err)
	}
	return l.publish(cmd, result)
}

func (l *tuneCommandLine) publish(cmd *cobra.Command, r *advice.Result) error {
	// The advice is shown even if the disk is full.
	wrote := l.dir.write(func(dir string) error { return reports.WriteTune(dir, *r) })
	page := filepath.Join(l.dir.path, "report.html")
	if wrote != nil {
		page = ""
	}
	if err := errors.Join(printAdvice(cmd.OutOrStdout(), *r, l.out, page, l.all), wrote); err != nil {
		return err
	}
	return adviceError(*r)
}

// adviceError is an error if there is no advice, or none that keeps the objectives. It
// names the queues alone: what is printed on stdout has said the reasons.
func adviceError(r advice.Result) error {
	var refused, impossible, unmet, unknown []string
	advised, predicted := 0, 0
	for _, a := range r.Queues {
		switch {
		case a.Refused != "":
			refused = append(refused, a.Queue)
		case a.Now == nil && a.Bottleneck == "" && len(a.Impossible) == 0: // to keep settings needs no prediction
			unknown = append(unknown, a.Queue)
		default:
			advised++
			if a.Now != nil {
				predicted++
			}
		}
		if len(a.Impossible) > 0 {
			impossible = append(impossible, a.Queue)
		} else if len(a.Unmet) > 0 {
			unmet = append(unmet, a.Queue)
		}
	}
	switch {
	case len(impossible) > 0:
		return errors.New("objectives out of reach: " + strings.Join(append(impossible, unmet...), ", "))
	case len(unmet) > 0:
		return errors.New("no settings found that keep the objectives: " + strings.Join(unmet, ", "))
	case predicted == 0 && len(unknown) > 0: // that others are idle is no advice
		more := ""
		if r.Stopped == "budget" {
			more = "; it takes a longer --budget"
		}
		return fmt.Errorf("no advice: the search ended before anything was predicted of %s%s", strings.Join(unknown, ", "), more)
	case advised == 0 && len(refused) == 0:
		return errors.New("no queue added anything in the interval; record instead: an interval in which the controller works")
	case advised == 0:
		return errors.New("no advice: " + strings.Join(refused, ", "))
	}
	return nil
}
