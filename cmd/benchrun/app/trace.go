package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/spf13/cobra"
)

func traceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Record, inspect, convert, anonymize and replay watch traffic",
		Long: `Trace works on recordings of watch traffic. It reads, plain or compressed by gzip
or zstd, and told apart by their contents:

  kubectl       kubectl get RESOURCE -A --watch --output-watch-events -o json
  JSON lines    {"ts", "resource", "type", "object"}
  audit logs    of a cluster's API servers at any level, as they are written or as
                Docker, CRI, Azure, CloudWatch, Splunk, Elasticsearch or
                oc adm node-logs wrap them; those of several servers together
  SimKube       traces of version 2
  compact       its own format, which record and import write: JSON lines in zstd,
                so that zstd -dc FILE | jq reads it too

A RECORDING is a file, or - for standard input. Of one that was cut short, or is
still being written, all commands use what comes before the end, with a warning.

benchrun run, drive, sim and tune take the same files.`,
		Example: `  # An hour of a cluster's pods, then what happened in it
  benchrun trace record --resource pods --duration 1h --out pods.ibt
  benchrun trace info pods.ibt

  # What kubectl prints, as it comes
  kubectl get pods -A --watch --output-watch-events -o json | benchrun trace import - --out pods.ibt

  # A workload of the same shape, which needs no recording
  benchrun trace fit pods.ibt --out pods.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(traceRecordCommand(), traceInfoCommand(), traceImportCommand(), traceConvertCommand(), traceAnonymizeCommand(), traceFitCommand(), traceReplayCommand())
	return cmd
}

var errNoOut = errors.New("--out: missing, expected the file to write")

// A traceInput is the files that a trace command reads, and the part of them.
type traceInput struct {
	part   trace.Part
	traces []*trace.Trace
}

func (in *traceInput) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&in.part.Resources, "resource", nil, "only these resources: pods, deployments.apps")
	f.DurationVar(&in.part.From, "from", 0, "leave out what came before, counted from the start")
	f.DurationVar(&in.part.To, "to", 0, "leave out what came after, counted from the start")
	cmd.Args = wantSome("RECORDING")
}

// open opens all recordings as one, by time.
func (in *traceInput) open(cmd *cobra.Command, paths []string) (func() (trace.Record, error), error) {
	for _, path := range paths {
		t, err := in.openOne(cmd, path)
		if err != nil {
			in.close()
			return nil, err
		}
		in.traces = append(in.traces, t)
	}
	merged := trace.Merge(in.traces...)
	return func() (trace.Record, error) {
		if err := cmd.Context().Err(); err != nil {
			return trace.Record{}, err
		}
		return merged.NextRecord()
	}, nil
}

// openOne opens a file, or what "-" stands for.
func (in *traceInput) openOne(cmd *cobra.Command, path string) (*trace.Trace, error) {
	return unlessInterrupted(cmd.Context(), func() (*trace.Trace, error) {
		if path == "-" {
			return trace.OpenReader("standard input", cmd.InOrStdin(), in.part)
		}
		return trace.OpenPart(path, in.part)
	})
}

// warn says on stderr what is wrong with the recordings.
func (in *traceInput) warn(stderr io.Writer) {
	for _, t := range in.traces {
		warnTrace(stderr, t)
	}
}

// warnTrace says what is wrong with a recording that was read to its end.
func warnTrace(stderr io.Writer, t *trace.Trace) {
	warnCut(stderr, t.Cut())
	for _, w := range t.Warnings() {
		printLine(stderr, "warning: %v", w)
	}
}

// warnCut says that a recording was cut short, which is known once it was read to
// its end. Whatever takes recordings uses what comes before.
func warnCut(stderr io.Writer, err error) {
	if err != nil {
		fmt.Fprintf(stderr, "warning: %s; what comes before is used\n", oneLine(err))
	}
}

func (in *traceInput) close() {
	for _, t := range in.traces {
		_ = t.Close() // they were only read
	}
}

func (in *traceInput) stats() []trace.Stats {
	var all []trace.Stats
	for _, t := range in.traces {
		all = append(all, t.Stats())
	}
	return all
}

// A traceOutput is a file that appears under its name when it is complete.
type traceOutput struct {
	trace.Writer
	file      *os.File // of JSON lines
	temporary string
	path      string
}

var traceFormats = []string{"compact", "jsonl"}

// special tells whether path is a device or a pipe, which is written to as it is:
// a file in the place of /dev/null would harm everybody.
func special(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
}

// createTrace begins to write; "-" is stdout, for lines only.
func createTrace(path, format string, stdout io.Writer) (*traceOutput, error) {
	if path == "-" {
		if format == "compact" {
			return nil, errors.New("--out: the compact format goes to a file, expected --out FILE or --format jsonl")
		}
		return &traceOutput{Writer: trace.NewJSON(plain.NewJSONWriter(stdout))}, nil
	}
	if special(path) {
		if format == "compact" {
			return nil, fmt.Errorf("--out: %s is a device or a pipe, expected a file", path)
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &traceOutput{Writer: trace.NewJSON(f), file: f}, err
	}
	err := atomicfile.Check(path)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	o := &traceOutput{path: path, temporary: atomicfile.Beside(path)}
	if format == "compact" {
		o.Writer, err = trace.Create(o.temporary)
	} else if o.file, err = os.OpenFile(o.temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		o.Writer = trace.NewJSON(o.file)
	}
	return o, err
}

// finish gives the file its name, or removes it if something went wrong.
func (o *traceOutput) finish(err error) error {
	err = errors.Join(err, o.Close())
	if o.file != nil {
		err = errors.Join(err, o.file.Close())
	}
	if o.path == "" {
		return err
	}
	if err != nil {
		return errors.Join(err, os.Remove(o.temporary))
	}
	return os.Rename(o.temporary, o.path)
}

// A traceTicker prints a count now and then while a command works.
type traceTicker struct {
	line  *progressLine
	begin time.Time
	count int
}

func newTraceTicker(w io.Writer) *traceTicker {
	t := &traceTicker{line: newProgressLine(w), begin: time.Now()}
	t.line.last = t.begin // short work needs no progress
	return t
}

func (t *traceTicker) tick(doing string) {
	if t.count++; t.count%1000 == 0 {
		t.line.show(lab.Progress{Elapsed: time.Since(t.begin), Doing: fmt.Sprintf("%d events %s", t.count, doing)})
	}
}

// interrupted says in a user's words that a command was ended.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}
