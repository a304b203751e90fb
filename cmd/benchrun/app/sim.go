package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/sim"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/spf13/cobra"
)

// A simCommandLine is what sim's flags say.
type simCommandLine struct {
	source    string
	reconcile reconcileFlags
	twoQueues bool
	priority  bool
	cold      bool
	// oldestEvery is of the priority queue.
	oldestEvery int
	duration    time.Duration
	warmup      time.Duration
	until       time.Duration
	replicas    int
	seed        uint64
	out         output
}

func simCommand() *cobra.Command {
	var l simCommandLine
	cmd := &cobra.Command{
		Use:   "sim WORKLOAD|RECORDING",
		Short: "Predict what a controller would do, in virtual time",
		Long: `Sim runs the standard controller of benchrun drive in virtual time: its work
queue, delays and rate limiters are the real ones, its workers, service times and
API calls are drawn. An hour of a busy controller takes about a second, so it
answers questions such as: what if there were more workers, another client limit,
slower calls?

It repeats the simulation with other seeds and prints each figure's mean with its
95% confidence interval. If the controller can't carry the load, it says what
would stabilise it. A recording is the same every time; only what the controller
does is drawn anew. It doesn't tell how long a reconcile takes: without --service
the reconcile's own work takes no time.`,
		Example: `  # What to expect of a rolling update, and with twice the workers
  benchrun sim rolling-update
  benchrun sim rolling-update --workers 10

  # With your own reconcile
  benchrun sim steady-5k-nodes --service 'lognormal(5ms, 80ms)' --calls 2 --call-latency 'exp(8ms)' --qps 50 --burst 100

  # On your cluster's traffic, as JSON
  benchrun sim pods.json --service 20ms -o json

  # How well such predictions agree with queueing theory
  benchrun sim validate`,
		Args:              wantArgs("WORKLOAD|RECORDING"),
		ValidArgsFunction: completeWorkloads,
		RunE: func(cmd *cobra.Command, args []string) error {
			l.source = args[0]
			return l.run(cmd)
		},
	}
	l.addTo(cmd)
	cmd.AddCommand(simValidateCommand())
	return cmd
}

func (l *simCommandLine) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	r := &l.reconcile
	r.addTo(f)
	f.DurationVar(&r.Limiter.BaseDelay, "base-delay", 0, "delay of a key's first retry (default the workload's, else 5ms)")
	f.DurationVar(&r.Limiter.MaxDelay, "max-delay", 0, "longest delay of a key's retry (default the workload's, else 1000s)")
	f.Float64Var(&r.Limiter.Rate, "retry-rate", 0, "retries a second of all keys (default the workload's, else 10)")
	f.IntVar(&r.Limiter.Burst, "retry-burst", 0, "retries at once (default the workload's, else 100)")
	f.IntVar(&r.Batch, "batch", 0, "deltas that the informer takes at a time (default the workload's, else 1000)")
	f.BoolVar(&l.twoQueues, "two-queues", false, "nodes have a queue of their own, with as many workers")
	f.BoolVar(&l.priority, "priority", false, "what changed goes before what lists and resyncs bring, as in controller-runtime")
	f.IntVar(&l.oldestEvery, "oldest-every", 0, "with --priority, every N-th turn takes what has been ready for longest, so that no list starves (default never)")
	f.BoolVar(&l.cold, "cold-start", false, "reconcile the first list too, as after a restart")
	f.DurationVar(&l.duration, "duration", 0, "end the load then (default the workload's end)")
	f.DurationVar(&l.warmup, "warmup", 0, "count nothing before")
	f.DurationVar(&l.until, "until", 0, "end the simulation then (default when everything is settled)")
	f.IntVar(&l.replicas, "replicas", 10, "simulations")
	f.Uint64Var(&l.seed, "seed", 0, "seed (default the workload's)")
	l.out.addTo(cmd)
}

// check refuses what is negative, and zeros where a zero would silently mean the default.
func (l *simCommandLine) check(cmd *cobra.Command) error {
	err := inRange(cmd, []string{"workers", "base-delay", "max-delay", "retry-rate", "retry-burst", "batch", "duration", "warmup", "until", "replicas", "oldest-every"}, "warmup")
	if err == nil && l.oldestEvery > 0 && !l.priority {
		err = errors.New("--oldest-every: has no effect without --priority")
	}
	return err
}

func (l *simCommandLine) run(cmd *cobra.Command) error {
	if err := l.check(cmd); err != nil {
		return err
	}
	load, err := unlessInterrupted(cmd.Context(), driveJob{Source: l.source}.open)
	if err != nil {
		return err
	}
	spec := *load.spec
	if spec.Reconcile, err = l.reconcile.over(cmd, spec.Reconcile); err != nil {
		return err
	}
	spec.Duration = cmp.Or(l.duration, spec.Duration)
	config := sim.Config{Spec: &spec, Seed: l.seed, Warmup: l.warmup, Until: l.until, Priority: l.priority, OldestEvery: l.oldestEvery, Cold: l.cold}
	if l.twoQueues {
		if config.Queues, err = nodesApart(spec); err != nil {
			return err
		}
	}
	arrivals := func(uint64) sim.Arrivals { return nil }
	if load.trace {
		recording, err := readRecording(cmd.Context(), l.source, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		if !cmd.Flags().Changed("service") {
			printLine(cmd.ErrOrStderr(), "warning: %s doesn't tell how long a reconcile takes: its own work takes no time, expected --service", l.source)
		}
		spec.Resources[0].Count = max(1, recording.Objects(0))
		arrivals = func(uint64) sim.Arrivals { return recording.Arrivals() }
	}
	begin := time.Now()
	replicas, err := sim.ReplicateFunc(cmd.Context(), config, l.replicas, arrivals)
	switch interrupted := cmd.Context().Err() != nil; {
	case interrupted && len(replicas.Results) == 0:
		return errors.New("interrupted before the first simulation ended")
	case interrupted:
		fmt.Fprintf(cmd.ErrOrStderr(), "interrupted after %d of %s\n", len(replicas.Results), wording.Count(l.replicas, "simulation"))
	case err != nil:
		return cmp.Or(byFlag(cmd, err), fmt.Errorf("%s: %w", load.name, err))
	}
	return l.print(cmd, load.name, replicas, time.Since(begin))
}

// nodesApart gives the nodes a queue of their own.
func nodesApart(spec loadgen.Spec) ([]sim.Queue, error) {
	complete, err := spec.Complete()
	if err != nil {
		return nil, err
	}
	nodes := sim.Queue{Name: "nodes", Workers: complete.Reconcile.Workers}
	for _, r := range complete.Resources {
		if r.Kind == "node" {
			nodes.Resources = append(nodes.Resources, r.Name)
		}
	}
	if nodes.Resources == nil {
		return nil, errors.New("--two-queues: the workload has no nodes, expected a resource of that kind")
	}
	return []sim.Queue{nodes, {Name: "others", Workers: nodes.Workers}}, nil
}

func readRecording(ctx context.Context, source string, stderr io.Writer) (*sim.Recording, error) {
	t, err := unlessInterrupted(ctx, func() (*trace.Trace, error) { return trace.Open(source) })
	if err != nil {
		return nil, err
	}
	defer t.Close()
	recording, err := sim.Record(t)
	if err == nil && recording.Len() == 0 {
		err = fmt.Errorf("%s: no events but bookmarks, expected at least one", source)
	}
	warnTrace(stderr, t)
	return recording, err
}

// A simulated is what sim prints as JSON.
type simulated struct {
	Workload string            `json:"workload"`
	Replicas int               `json:"replicas"`
	Load     time.Duration     `json:"loadNanoseconds"` // of the first simulation
	Demand   sim.Demand        `json:"demand"`          // of the simulation with the median load
	Advice   string            `json:"advice,omitempty"`
	Figures  []simulatedFigure `json:"figures"`
}

type simulatedFigure struct {
	Name string   `json:"name"`
	Unit string   `json:"unit"`
	Mean float64  `json:"mean"`
	Low  *float64 `json:"low,omitempty"` // one simulation has no interval
	High *float64 `json:"high,omitempty"`
}

func (l *simCommandLine) print(cmd *cobra.Command, name string, replicas sim.Replicas, took time.Duration) error {
	first := replicas.Results[0]
	v := simulated{Workload: name, Replicas: len(replicas.Results), Load: first.Load, Demand: typical(replicas)}
	v.Advice = v.Demand.Advice()
	t := table{header: []string{"figure", "mean", "from", "to"}}
	for _, f := range sim.Figures() {
		i := replicas.Interval(f.Of)
		i.Low = max(0, i.Low) // none of them is negative
		if i.Mean == 0 {
			continue
		}
		figure, from, to := simulatedFigure{Name: f.Name, Unit: f.Unit, Mean: i.Mean}, "-", "-"
		if v.Replicas > 1 {
			figure.Low, figure.High = &i.Low, &i.High
			from, to = figureText(i.Low, f.Unit), figureText(i.High, f.Unit)
		}
		v.Figures = append(v.Figures, figure)
		t.rows = append(t.rows, []string{f.Name, figureText(i.Mean, f.Unit), from, to})
	}
	t.value = v
	if err := l.out.print(cmd.OutOrStdout(), t); err != nil || l.out != "table" {
		return err
	}
	out := cmd.OutOrStdout()
	intervals := "FROM and TO bound each mean with 95% confidence"
	if v.Replicas == 1 {
		intervals = "one simulation gives no confidence interval"
	}
	fmt.Fprintf(out, "\n%s of %s in %s; %s.\n",
		wording.Count(v.Replicas, "simulation"), durations.Text(first.Load+first.Drain), durations.Text(took), intervals)
	if v.Advice != "" {
		fmt.Fprintf(out, "Not stable: %s.\n", v.Advice)
	} else {
		load := replicas.Interval(func(r sim.Result) float64 { return r.Demand.Load }).Mean
		fmt.Fprintf(out, "Stable: the tightest limit is %s, %s used.\n", bottleneckText(v.Demand.Bottleneck), wording.Percent(load))
	}
	return nil
}

// typical is the demand with the median load: any other, the first one's too,
// may lie on the other side of what is stable.
func typical(replicas sim.Replicas) sim.Demand {
	results := slices.SortedFunc(slices.Values(replicas.Results), func(a, b sim.Result) int { return cmp.Compare(a.Demand.Load, b.Demand.Load) })
	return results[(len(results)-1)/2].Demand
}

func bottleneckText(name string) string {
	switch name {
	case "client QPS":
		return "API calls"
	case "retry bucket":
		return "retries"
	case "queue":
		return "queue operations"
	}
	return name
}

func figureText(x float64, unit string) string {
	text := fmt.Sprintf("%.4g", x)
	if x >= 1e4 {
		text = fmt.Sprintf("%.0f", x) // no exponent
	}
	switch unit {
	case "s":
		return durations.Seconds(x)
	case "share":
		return wording.Percent(x)
	case "1/s":
		return text + "/s"
	}
	return text
}
