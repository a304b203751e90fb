package app

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/loadgen/drive"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/spf13/cobra"
)

// A driveCommandLine is what drive's flags say.
type driveCommandLine struct {
	job         driveJob
	parts       partFlags
	reconcile   reconcileFlags
	serviceMode string
	speed       string
	by          string
	rounds      int
	budget      time.Duration
	precision   share
	dir         string
	metricsAddr string
	out         output
}

func (s Suite) driveCommand() *cobra.Command {
	var l driveCommandLine
	cmd := &cobra.Command{
		Use:   "drive WORKLOAD|RECORDING",
		Short: "Run a whole controller under open-loop load, with latency by stage",
		Long: `Drive runs the standard controller (informer, handler, rate limiting queue,
workers, reconcile) made of any variants, under a preset, a workload file or a
recording of watch traffic. Events come when they are due, however far behind the
controller is, and every latency counts from there: when the watch delivered an
event, the cache held it, its key was enqueued, a worker picked it up, the first
reconcile that saw it ended, and the first successful one. On Linux a process of
its own releases them, so that the controller's garbage collector and scheduler
don't make the load late; lateness says how late it was, and taken when this
process took the events, as a client reads from its connection.

Everything is accounted for: an event is seen by a reconcile or overtaken by a
newer one, and the last state of every object is seen. A drive that loses
something fails with exit code 1 and names the first keys.

Several variants of a part, with commas, are compared: each is an arm, and all
arms are sampled in turns in fresh processes, the first one twice. The result
directory is as that of benchrun run, and holds each drive's full result in
drive/ARM/ROUND.json. Ctrl-C ends the load and reports what was seen.`,
		Example: `  # What a controller built with client-go feels on a rolling update
  benchrun drive rolling-update

  # Its work queue under load, with your own settings
  benchrun drive steady-5k-nodes --workers 10 --service 'lognormal(5ms, 80ms)' --qps 50 --burst 100

  # Two queues and two informers on your cluster's traffic, at ten times the speed
  benchrun drive pods.json --speed 10 --informer client-go,snapshot --rate-limiting-queue client-go,fused

  # As the node life-cycle controller has it, with metrics for Prometheus meanwhile
  benchrun drive steady-5k-nodes --two-queues --metrics-addr 127.0.0.1:9090`,
		Args:              wantArgs("WORKLOAD|RECORDING"),
		ValidArgsFunction: completeWorkloads,
		RunE: func(cmd *cobra.Command, args []string) error {
			l.job.Source = args[0]
			return s.drive(cmd, l)
		},
	}
	l.addTo(cmd)
	return cmd
}

func (l *driveCommandLine) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	l.parts.addTo(cmd)
	f.BoolVar(&l.job.TwoQueues, "two-queues", false, "nodes have a plain queue of their own, with as many workers, which never fails")
	l.reconcile.addTo(f)
	f.StringVar(&l.serviceMode, "service-mode", "sleep", "how a reconcile passes that time: sleep, cpu (works)")
	f.BoolVar(&l.job.ColdStart, "cold-start", false, "reconcile the first list too, as after a restart")
	f.BoolVar(&l.job.OwnWrites, "own-writes", false, "measure too when the controller could read each event if it were its own write, as a client with EnableReadYourWritesConsistency waits")
	f.StringVar(&l.speed, "speed", "1", "how many times faster than the workload says, or max for as fast as possible")
	f.DurationVar(&l.job.Duration, "duration", 0, "end the load then at the latest (default the workload's end, in a comparison 10s)")
	f.DurationVar(&l.job.Warmup, "warmup", 0, "record no latencies of events due before")
	f.DurationVar(&l.job.Drain, "drain", 0, "how long reconciles take their time after the load (default 30s)")
	oneOf(cmd, &l.by, "by", "what variants are compared by", verdictNames()...)
	f.IntVar(&l.rounds, "rounds", 0, "drives of each arm (default 1, in a comparison 10)")
	f.DurationVar(&l.budget, "budget", 0, "time for all drives of a comparison (default what its rounds take)")
	f.Var(&l.precision, "precision", "half width of the ratios' intervals at which a comparison may end (default 5%)")
	f.Uint64Var(&l.job.Seed, "seed", 0, "seed of reconciles, readers and schedule (default the workload's)")
	f.StringVar(&l.dir, "out", "", "result directory, new or empty (default reports/out/TIME-drive)")
	f.StringVar(&l.metricsAddr, "metrics-addr", "", "serve Prometheus metrics at http://ADDR/metrics during a single drive, on loopback (the default host) /debug/pprof too")
	l.out.addTo(cmd)
	complete(cmd, "service-mode", "sleep", "cpu")
	complete(cmd, "speed", "1", "10", "max")
}

// partFlags are the variants of each part.
type partFlags struct {
	informer, indexer, fifo, queue, delayingQueue, rateLimiter, rateLimitingQueue []string
}

func (p *partFlags) addTo(cmd *cobra.Command) {
	for _, x := range []struct {
		to         *[]string
		name, what string
		names      []string
	}{
		{&p.informer, "informer", "informers, whole (default client-go)", variantNames(impl.Informers())},
		{&p.indexer, "indexer", "indexers, in an informer of parts (default snapshot)", variantNames(impl.Indexers())},
		{&p.fifo, "fifo", "FIFOs, in an informer of parts (default ring)", drive.FIFOs()},
		{&p.rateLimitingQueue, "rate-limiting-queue", "rate limiting queues (default client-go)", variantNames(drive.RateLimitingQueues())},
		{&p.delayingQueue, "delaying-queue", "delaying queues inside the rate limiting queue", variantNames(impl.DelayingQueues[string]())},
		{&p.queue, "queue", "work queues inside the delaying queue, and of the nodes with --two-queues", variantNames(impl.Queues[string]())},
		{&p.rateLimiter, "rate-limiter", "rate limiters (default compact with a queue of ours, else client-go)", variantNames(impl.RateLimiters[string]())},
	} {
		cmd.Flags().StringSliceVar(x.to, x.name, nil, x.what+": "+strings.Join(x.names, ", "))
		completeList(cmd, x.name, x.names...)
	}
}

func variantNames[New any](variants []impl.Variant[New]) []string {
	names := make([]string, len(variants))
	for i, v := range variants {
		names[i] = v.Name
	}
	return names
}

// A distFlag is a flag that takes a distribution.
type distFlag struct{ *randvar.Dist }

func (d distFlag) Type() string { return "distribution" }
func (d distFlag) String() string {
	if d.Dist == nil || d.IsZero() {
		return ""
	}
	return d.Dist.String()
}

func (d distFlag) Set(text string) error {
	parsed, err := randvar.Parse(text)
	*d.Dist = parsed
	return err
}

// drive checks the whole command line before anything runs.
func (s Suite) drive(cmd *cobra.Command, l driveCommandLine) error {
	if err := l.check(cmd); err != nil {
		return err
	}
	arms, err := l.parts.arms()
	if err != nil {
		return err
	}
	load, err := unlessInterrupted(cmd.Context(), l.job.open)
	if err != nil {
		return err
	}
	if l.job.Reconcile, err = l.reconcile.over(cmd, load.spec.Reconcile); err != nil {
		return err
	}
	if err := l.job.complete(load); err != nil {
		return cmp.Or(byFlag(cmd, err), fmt.Errorf("%s: %w", load.name, err))
	}
	l.job.Seed = cmp.Or(l.job.Seed, load.spec.Seed, uint64(time.Now().UnixNano()))
	if len(arms) == 1 && l.rounds <= 1 {
		for _, name := range []string{"by", "budget", "precision"} {
			if cmd.Flags().Changed(name) {
				return fmt.Errorf("--%s: a single drive compares nothing, expected several variants of a part, or --rounds", name)
			}
		}
		return s.driveOnce(cmd, l, load, arms[0])
	}
	if l.metricsAddr != "" {
		return errors.New("--metrics-addr: a comparison runs many drives in processes of their own, expected one variant of each part")
	}
	if load.trace {
		if err := l.job.checkRecording(cmd.Context(), cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	return s.driveAll(cmd, l, load, arms)
}

// check reads the flags that are words and refuses numbers out of range.
func (l *driveCommandLine) check(cmd *cobra.Command) error {
	switch l.serviceMode {
	case "sleep":
	case "cpu":
		l.job.CPU = true
	default:
		return fmt.Errorf("--service-mode: found %q, expected sleep or cpu", l.serviceMode)
	}
	pace, err := trace.ParsePace(l.speed)
	if err != nil {
		return fmt.Errorf("--speed: %w", err)
	}
	if pace != trace.AsFastAsPossible {
		l.job.Speed = float64(pace)
	}
	if _, err := verdictUnit(l.by); err != nil {
		return err
	}
	if err := inRange(cmd, []string{"rounds", "budget", "duration", "workers", "warmup", "drain", "qps", "burst", "retries", "resync"},
		"warmup", "qps", "burst", "retries", "resync"); err != nil {
		return err
	}
	for _, x := range []struct {
		flag  string
		value time.Duration
	}{{"duration", l.job.Duration}, {"warmup", l.job.Warmup}, {"drain", l.job.Drain}} {
		if x.value > drive.Longest {
			return fmt.Errorf("--%s: found %v, expected at most %v", x.flag, x.value, drive.Longest)
		}
	}
	return nil
}
