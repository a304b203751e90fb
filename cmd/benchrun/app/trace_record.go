package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/informerbench/informerbench/loadgen/trace/record"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"
)

// A recordCommandLine is what record's flags say.
type recordCommandLine struct {
	kubeconfig, context, path string
	resources                 []string
	duration                  time.Duration
	resume                    bool
	options                   record.Options
}

func traceRecordCommand() *cobra.Command {
	var l recordCommandLine
	cmd := &cobra.Command{
		Use:   "record --out FILE",
		Short: "Record a cluster's watch traffic with list and watch",
		Long: `Record lists the resources and then watches them until the duration is over or
Ctrl-C ends it. It needs the rights to list and watch them and makes no other
requests. Only what is named is recorded: secrets only if they are.

Watches that end are resumed. When that is not possible (410 Gone) it lists again,
and what changed meanwhile is recorded as events, and counted. What came is
written every 10 seconds: after a crash the file is readable up to there, and
--append goes on with it. If the cluster vanishes, the file is kept.`,
		Example: `  # All pods and nodes for an hour
  benchrun trace record --resource pods,nodes --duration 1h --out cluster.ibt

  # Of another cluster and one namespace, only the metadata
  benchrun trace record --context staging -n shop --resource pods,deployments.apps --slim --out shop.ibt

  # Go on with a recording that was ended
  benchrun trace record --resource pods,nodes --append --out cluster.ibt`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return l.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&l.path, "out", "", "the file to write, in the compact format")
	f.StringSliceVar(&l.resources, "resource", []string{"pods"}, "what to record: pods, deployments.apps")
	f.StringVar(&l.kubeconfig, "kubeconfig", "", "how to reach the cluster (default $KUBECONFIG, ~/.kube/config or the pod's own account)")
	l.addContextTo(cmd)
	f.StringVarP(&l.options.Namespace, "namespace", "n", "", "only this namespace (default all)")
	f.DurationVar(&l.duration, "duration", 0, "how long to record (default until Ctrl-C)")
	f.BoolVar(&l.options.Slim, "slim", false, "record the metadata of the objects alone")
	f.BoolVar(&l.resume, "append", false, "go on with an existing recording of the same resources")
	f.DurationVar(&l.options.Patience, "give-up-after", time.Minute, "end when the API server has not answered for so long")
	return cmd
}

func (l *recordCommandLine) addContextTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.context, "context", "", "the context of the kubeconfig (default its current one)")
	completeBy(cmd, "context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		raw, err := l.config().RawConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return slices.Sorted(maps.Keys(raw.Contexts)), cobra.ShellCompDirectiveNoFileComp
	})
}

func (l *recordCommandLine) config() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = l.kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: l.context})
}

func (l *recordCommandLine) run(cmd *cobra.Command) (err error) {
	switch {
	case l.path == "":
		return errNoOut
	case l.duration < 0 || l.options.Patience <= 0:
		return errors.New("--duration, --give-up-after: expected a time above 0")
	}
	config, err := l.config().ClientConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	if l.options.Resources, err = record.Resolve(config, l.resources...); err != nil {
		return err
	}
	writer, err := l.open(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	recorder, err := record.New(config, writer, l.options)
	if err != nil {
		return errors.Join(err, writer.Close())
	}
	ctx := cmd.Context()
	if l.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.duration)
		defer cancel()
	}
	stop := l.watchProgress(cmd.ErrOrStderr(), recorder)
	err = recorder.Run(ctx)
	stop()
	err = errors.Join(err, writer.Close())
	c := recorder.Counts()
	done := fmt.Sprintf("%s: %s (%d of them existing objects), %s", l.path, wording.Count(c.Events, "event"), c.Existing, wording.Count(c.Bookmarks, "bookmark"))
	if c.Reconnects+c.Relists > 0 {
		done += fmt.Sprintf("; watches resumed: %d, lists again: %d, events inferred from them: %d", c.Reconnects, c.Relists, c.Inferred)
	}
	if err != nil {
		return fmt.Errorf("%s; kept what was recorded until then, %s", oneLine(err), done)
	}
	fmt.Fprintln(cmd.ErrOrStderr(), done)
	return nil
}

// open creates the file, or goes on with one.
func (l *recordCommandLine) open(stderr io.Writer) (trace.Writer, error) {
	if !l.resume {
		w, err := trace.Create(l.path)
		if errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("--out: found %s, expected a new file, or --append to go on with it", l.path)
		}
		return w, err
	}
	known, err := knownObjects(l.path)
	if err != nil {
		return nil, err
	}
	w, dropped, err := trace.Resume(l.path)
	if dropped > 0 {
		printLine(stderr, "warning: %s was cut short: what follows its last whole block, %s, was removed", l.path, wording.Count(int(dropped), "byte"))
	}
	l.options.Known = known
	return w, err
}

// knownObjects returns what a recording says exists at its end.
func knownObjects(path string) (map[string]map[string]string, error) {
	known := map[string]map[string]string{}
	t, err := trace.Open(path)
	if errors.Is(err, trace.ErrCut) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	defer t.Close()
	for {
		r, err := t.NextRecord()
		switch {
		case errors.Is(err, io.EOF):
			return known, nil
		case err != nil:
			return nil, err
		}
		objects := known[r.GroupResource]
		if objects == nil {
			objects = map[string]string{}
			known[r.GroupResource] = objects
		}
		switch r.Type {
		case watch.Deleted:
			delete(objects, r.Namespace+"/"+r.Name)
		case watch.Added, watch.Modified:
			objects[r.Namespace+"/"+r.Name] = r.ResourceVersion
		}
	}
}

// watchProgress prints how it goes until it is stopped.
func (l *recordCommandLine) watchProgress(w io.Writer, r *record.Recorder) (stop func()) {
	line, begin := newProgressLine(w), time.Now()
	ended, done := make(chan struct{}), make(chan struct{})
	what := fmt.Sprintf("%s into %s", strings.Join(l.resources, ", "), filepath.Base(l.path))
	go func() {
		defer close(done)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				line.done()
				return
			case <-tick.C:
			}
			c := r.Counts()
			p := lab.Progress{Elapsed: time.Since(begin), Doing: fmt.Sprintf("%s, %s", wording.Count(c.Events, "event"), what)}
			if l.duration > 0 {
				p.Left = max(0, l.duration-p.Elapsed)
			}
			line.show(p)
		}
	}()
	return func() { close(ended); <-done }
}
