package app

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/apply"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
)

// What of a workload is applied.
const (
	onlyObjects = "objects"
	onlyEvents  = "events"
)

func workloadApplyCommand() *cobra.Command {
	var to recordCommandLine // says how to reach the cluster
	var only, speed string
	var duration time.Duration
	cmd := &cobra.Command{
		Use:   "apply PRESET|FILE",
		Short: "Write a workload into a cluster, to drive a real program with it",
		Long: `Apply creates what a workload begins with, and its namespaces, and then does what
its events tell of when they are due: it creates, changes and deletes objects, gives
pods their nodes as a scheduler does and their status as a kubelet does. It wants a
cluster for tests: nothing is removed at the end, and a controller that has its own
opinion of these objects may change them. What such a one has deleted is counted.`,
		Example: `  benchrun workload apply rolling-update --kubeconfig test.kubeconfig

  # The objects before a program starts, the events as its load
  benchrun workload apply rolling-update --only objects
  benchrun swap ./cmd/manager --load 'benchrun workload apply rolling-update --only events'`,
		Args:              wantArgs("PRESET|FILE"),
		ValidArgsFunction: completeWorkloads,
		RunE: func(cmd *cobra.Command, args []string) error {
			pace, err := trace.ParsePace(speed)
			switch {
			case err != nil:
				return fmt.Errorf("--speed: %w", err)
			case duration < 0:
				return fmt.Errorf("--duration: found %s, expected a time above 0", duration)
			case only != "" && only != onlyObjects && only != onlyEvents:
				return fmt.Errorf("--only: found %q, expected %s or %s", only, onlyObjects, onlyEvents)
			}
			spec, err := unlessInterrupted(cmd.Context(), func() (*loadgen.Spec, error) { return loadgen.Open(args[0]) })
			if err != nil {
				return err
			}
			g, err := spec.Generator()
			if err != nil {
				return err
			}
			config, err := to.config().ClientConfig()
			if err != nil {
				return fmt.Errorf("kubeconfig: %w", err)
			}
			config.QPS, config.UserAgent = -1, "benchrun-workload"
			client, err := dynamic.NewForConfig(config)
			if err != nil {
				return fmt.Errorf("kubeconfig: %w", err)
			}
			return applyWorkload(cmd, g, &apply.Writer{Client: client}, only, float64(pace), duration)
		},
	}
	f := cmd.Flags()
	f.StringVar(&to.kubeconfig, "kubeconfig", "", "how to reach the cluster (default $KUBECONFIG, ~/.kube/config or the pod's own account)")
	to.addContextTo(cmd)
	f.StringVar(&only, "only", "", "apply its objects or its events alone: objects, events")
	f.StringVar(&speed, "speed", "1", "how many times faster than the workload says, or max for as fast as possible")
	f.DurationVar(&duration, "duration", 0, "leave out the events that are due later (default the workload's end)")
	complete(cmd, "only", onlyObjects, onlyEvents)
	return cmd
}

func applyWorkload(cmd *cobra.Command, g *loadgen.Generator, w *apply.Writer, only string, speed float64, duration time.Duration) error {
	progress := newProgressLine(cmd.ErrOrStderr())
	begun := time.Now()
	doing := "creating what there is at first"
	w.Done = func(writes int64) {
		progress.show(lab.Progress{Elapsed: time.Since(begun), Doing: fmt.Sprintf("%s: %s", doing, wording.Count(int(writes), "write"))})
	}
	var made, c apply.Counts
	var err error
	if only != onlyEvents {
		made, err = w.Objects(cmd.Context(), g)
	}
	if err == nil && only != onlyObjects {
		doing = "doing what is due"
		c, err = w.Events(cmd.Context(), g, speed, duration)
	}
	progress.done()
	done := fmt.Sprintf("%s created at first; then %s created, %d changed, %d deleted", wording.Count(int(made.Created), "object"), wording.Count(int(c.Created), "object"), c.Changed, c.Deleted)
	if c.Gone > 0 {
		done += fmt.Sprintf(", %d that somebody else had deleted", c.Gone)
	}
	if only != onlyObjects {
		done += fmt.Sprintf("; at most %s late", wording.Elapsed(c.Late))
	}
	if err != nil {
		return fmt.Errorf("%w; until then %s", interrupted(err), done)
	}
	fmt.Fprintln(cmd.ErrOrStderr(), done)
	return nil
}
