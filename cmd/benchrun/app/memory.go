package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/memory"
	"github.com/informerbench/informerbench/bench/memory/child"
	"github.com/informerbench/informerbench/bench/memory/input"
	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/informerbench/informerbench/loadgen/trace/record"
	"github.com/informerbench/informerbench/reports"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

// A memoryCommandLine is what memory's flags say.
type memoryCommandLine struct {
	problem memory.Problem
	sample  int
	cluster bool
	record  recordCommandLine // how a cluster is reached
	heap    string
	dir     reportDir
	out     output
}

func memoryCommand() *cobra.Command {
	var l memoryCommandLine
	cmd := &cobra.Command{
		Use:   "memory [FILE|PRESET]",
		Short: "Measure how much memory a cache takes, and what would make it less",
		Long: `Memory runs real informers in processes of their own, on as many objects as the
input has (or --objects says), and reads what they take: bytes an object and where
they are, the resident set at rest, its peaks at start and at a relist, and what
each of a dozen changes would save. The first line says which changes to make.

FILE is what kubectl get -A -o json prints (one list or several, gzip or not), a
recording, a workload file; or name a preset, or a cluster with --kubeconfig or
--cluster: it is listed page by page, and only what --resource names. Objects are
not written anywhere: the report has counts, sizes and names of fields.`,
		Example: `  # What the pods and deployments of a cluster take in an informer
  kubectl get pods,deployments -A -o json | benchrun memory -

  # The same, listed by itself, and as if there were 100,000 of them
  benchrun memory --cluster --resource pods,deployments.apps --objects 100000

  # A preset, held unstructured, with an index more
  benchrun memory rolling-update --form unstructured --index namespace,label:app`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return wantArgs("FILE or PRESET")(cmd, args)
			}
			return nil
		},
		ValidArgsFunction: completeWorkloads,
		RunE:              func(cmd *cobra.Command, args []string) error { return l.run(cmd, args) },
	}
	l.addTo(cmd)
	return cmd
}

func (l *memoryCommandLine) addTo(cmd *cobra.Command) {
	f, p := cmd.Flags(), &l.problem
	f.StringSliceVar(&l.record.resources, "resource", nil, "kinds to take: pods, deployments.apps (default all of a file, the pods of a cluster)")
	f.BoolVar(&l.cluster, "cluster", false, "list from the cluster of the current kubeconfig")
	f.StringVar(&l.record.kubeconfig, "kubeconfig", "", "list from the cluster of this kubeconfig")
	l.record.addContextTo(cmd)
	f.StringVarP(&l.record.options.Namespace, "namespace", "n", "", "list only this namespace (default all)")
	f.StringVar(&l.heap, "heap", "", "heap profile of your process, as /debug/pprof/heap writes it: says what its caches hold")
	f.IntVar(&p.Objects, "objects", 0, "predict for so many objects (default as many as there are)")
	f.IntVar(&l.sample, "sample", input.DefaultSample, "objects of each kind that are kept as the sample")
	f.IntVar(&p.Measured, "measured", memory.DefaultMost, "run with this many objects at most; beyond, figures are extrapolated")
	f.IntVar(&p.Repeats, "repeats", memory.DefaultRepeats, "rounds; each measures everything once")
	f.Uint64Var(&p.Seed, "seed", 1, "seed of the sample and of the order")
	oneOf(cmd, &p.Load.Form, "form", "how objects are held", child.Typed, child.Unstructured, child.Metadata)
	oneOf(cmd, &p.Load.Encoding, "encoding", "what the client asks for; client-go's typed clients ask for protobuf, the dynamic one for JSON", "protobuf", "json", "cbor")
	oneOf(cmd, &p.Load.List, "list", "how it lists", "watchlist", "list", "pages")
	f.StringVar(&p.Load.Informer, "informer", "client-go", "the informer, of benchrun list")
	complete(cmd, "informer", variantNames(impl.Informers())...)
	f.StringSliceVar(&p.Load.Indices, "index", []string{"namespace"}, "indices: namespace, owner, label:KEY")
	completeList(cmd, "index", "namespace", "owner")
	f.IntVar(&p.Load.Handlers, "handlers", 1, "event handlers of each informer")
	f.StringSliceVar(&p.Drop, "drop", nil, "also try without these parts: status.images, spec.containers[].env")
	f.StringSliceVar(&p.Annotation, "annotation", nil, "also try without these annotations")
	f.StringVar(&p.Selector, "selector", "", "also try with this label selector")
	f.StringVar(&p.Field, "field-selector", "", "also try with this field selector")
	f.IntVar(&p.Shards, "shards", 0, "also try one of so many shards")
	f.StringVar(&l.dir.path, "out", "", "directory of the report, new or empty (default reports/out/TIME-memory)")
	l.out.addTo(cmd)
}

func (l *memoryCommandLine) run(cmd *cobra.Command, args []string) error {
	l.dir.kind = "memory"
	if err := l.check(args); err != nil {
		return err
	}
	var heap *memory.Heap
	if l.heap != "" {
		f, err := os.Open(l.heap)
		if err != nil {
			return fmt.Errorf("--heap: %w", err)
		}
		defer f.Close()
		if heap, err = memory.ReadHeap(f); err != nil {
			return fmt.Errorf("--heap: %s: %w", l.heap, err)
		}
		if len(args) == 0 && !l.fromCluster() {
			return l.show(cmd.OutOrStdout(), heap, heap.Table())
		}
	}
	progress, began := newProgressLine(cmd.ErrOrStderr()), time.Now()
	set, err := l.read(cmd.Context(), cmd.InOrStdin(), args, progress, began)
	if err != nil {
		progress.done()
		return err
	}
	if l.problem.Load.Form == child.Unstructured && !cmd.Flags().Changed("encoding") {
		l.problem.Load.Encoding = "json"
	}
	l.problem.Set, l.problem.Sample = set, sampleMemory
	l.problem.Progress = func(doing string, done, of int) {
		p := lab.Progress{Doing: doing, Done: done, Elapsed: time.Since(began)}
		if done > 1 {
			p.Left = time.Duration(float64(p.Elapsed) / float64(done) * float64(of-done))
		}
		progress.show(p)
	}
	result, err := memory.Measure(cmd.Context(), l.problem)
	progress.done()
	if err != nil {
		return err
	}
	result.Heap = heap
	if result.Stopped == "interrupted" {
		fmt.Fprintf(cmd.ErrOrStderr(), "interrupted: what follows is from %d of %d rounds\n", result.Repeats, l.problem.Repeats)
	}
	for _, w := range result.Warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning:", oneLine(errors.New(w)))
	}
	wrote := l.dir.write(func(dir string) error { return reports.WriteMemory(dir, result) })
	if err := l.print(cmd.OutOrStdout(), result); err != nil || l.out != "table" {
		return errors.Join(err, wrote)
	}
	if wrote == nil {
		fmt.Fprintf(cmd.OutOrStdout(), "\nReport: %s\n", filepath.Join(l.dir.path, "report.html"))
	}
	return wrote
}

func (l *memoryCommandLine) fromCluster() bool { return l.cluster || l.record.kubeconfig != "" }

func (l *memoryCommandLine) check(args []string) error {
	switch {
	case len(args) == 0 && !l.fromCluster() && l.heap == "":
		return errors.New("found no input, expected FILE, PRESET, --cluster or --heap")
	case len(args) > 0 && l.fromCluster():
		return fmt.Errorf("found %q and a cluster, expected one input", args[0])
	case l.sample < 1:
		return fmt.Errorf("--sample: found %d, expected at least 1", l.sample)
	case l.problem.Objects < 0:
		return fmt.Errorf("--objects: found %d, expected at least 1", l.problem.Objects)
	case l.problem.Shards < 0 || l.problem.Shards == 1:
		return fmt.Errorf("--shards: found %d, expected at least 2", l.problem.Shards)
	}
	if _, err := impl.Find(impl.Informers(), l.problem.Load.Informer); err != nil {
		return fmt.Errorf("--informer: %w", err)
	}
	return l.dir.check()
}

// read counts and samples the input.
func (l *memoryCommandLine) read(ctx context.Context, stdin io.Reader, args []string, progress *progressLine, began time.Time) (*input.Set, error) {
	defer lessMemory()()
	if l.fromCluster() {
		return l.readCluster(ctx, progress, began)
	}
	name := args[0]
	set := input.NewSet(cmp.Or(map[string]string{"-": "standard input"}[name], name), l.sample, l.problem.Seed)
	return unlessInterrupted(ctx, func() (*input.Set, error) { return set, l.fill(set, name, stdin) })
}

// fill reads a file or preset into set.
func (l *memoryCommandLine) fill(set *input.Set, name string, stdin io.Reader) error {
	part := trace.Part{Resources: l.record.resources}
	if name == "-" {
		t, err := trace.OpenReader("standard input", stdin, part)
		if err != nil {
			return err
		}
		defer t.Close()
		return input.Recording(set, t)
	}
	load, err := driveJob{Source: name}.open()
	if err != nil {
		return err
	}
	if !load.trace {
		if len(l.record.resources) > 0 {
			return errors.New("--resource: goes with a file of objects or a cluster, not with a workload")
		}
		return input.Workload(set, load.spec)
	}
	t, err := trace.OpenPart(name, part)
	if err != nil {
		return err
	}
	defer t.Close()
	return input.Recording(set, t)
}

func (l *memoryCommandLine) readCluster(ctx context.Context, progress *progressLine, began time.Time) (*input.Set, error) {
	config, err := l.record.config().ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	config.QPS, config.UserAgent = -1, "benchrun-memory"
	names := l.record.resources
	if len(names) == 0 {
		names = []string{"pods"}
	}
	resources, err := record.Resolve(config, names...)
	if err != nil {
		return nil, err
	}
	set := input.NewSet(config.Host, l.sample, l.problem.Seed)
	return set, input.Cluster(ctx, set, config, l.record.options.Namespace, resources, func(n int) {
		progress.show(lab.Progress{Doing: fmt.Sprintf("listing, %d objects", n), Elapsed: time.Since(began)})
	})
}

// sampleTimeout is for a machine that stands still: a child gives up by itself.
const sampleTimeout = 30 * time.Minute

// sampleMemory runs a job in a child process.
func sampleMemory(ctx context.Context, j child.Job) (child.Reading, error) {
	job, err := json.Marshal(j)
	if err != nil {
		return child.Reading{}, err
	}
	return childResult[child.Reading](ctx, sampleTimeout, "memory-sample", "--job", string(job))
}

// memorySampleCommand is the child process that is measured.
func memorySampleCommand() *cobra.Command {
	var text string
	cmd := &cobra.Command{
		Use: "memory-sample", Short: "Run informers in this process", Hidden: true, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var j child.Job
			if err := json.Unmarshal([]byte(text), &j); err != nil {
				return fmt.Errorf("--job: %w", err)
			}
			klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // of the watches that are ended
			reading, err := child.Run(cmd.Context(), j)
			if err != nil {
				return err
			}
			return printResult(cmd.OutOrStdout(), reading)
		},
	}
	cmd.Flags().StringVar(&text, "job", "", "JSON of the job")
	return cmd
}
