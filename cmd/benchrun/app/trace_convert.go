package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen/pace"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/spf13/cobra"
)

func traceImportCommand() *cobra.Command {
	var in traceInput
	var path string
	cmd := &cobra.Command{
		Use:   "import RECORDING... --out FILE",
		Short: "Merge recordings by time into one file of the compact format",
		Example: `  benchrun trace import pods.json.gz --out pods.ibt
  benchrun trace import pods.jsonl nodes.jsonl leases.jsonl --out cluster.ibt
  benchrun trace import audit.log --resource pods --out pods.ibt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if path == "" {
				return errNoOut
			}
			return copyTraces(cmd, &in, args, path, "compact", nil)
		},
	}
	in.addTo(cmd)
	cmd.Flags().StringVar(&path, "out", "", "the file to write")
	return cmd
}

func traceConvertCommand() *cobra.Command {
	var in traceInput
	var path, format string
	cmd := &cobra.Command{
		Use:   "convert RECORDING... [--format compact|jsonl] [--out FILE]",
		Short: "Convert recordings to another format, or extract a part",
		Long: `Convert writes recordings as JSON lines {"ts", "resource", "type", "object"} or in
the compact format: all as one, in the order of time.`,
		Example: `  benchrun trace convert pods.ibt | head
  benchrun trace convert cluster.ibt --resource pods --from 1h --to 2h --out second-hour.ibt
  benchrun trace convert pods.ibt --out pods.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format == "" && path == "-" {
				format = "jsonl"
			}
			format = cmp.Or(format, formatOf(path))
			if !slices.Contains(traceFormats, format) {
				return fmt.Errorf("--format: found %q, expected one of %s", format, strings.Join(traceFormats, ", "))
			}
			return copyTraces(cmd, &in, args, path, format, nil)
		},
	}
	in.addTo(cmd)
	cmd.Flags().StringVar(&path, "out", "-", "the file to write; - is standard output")
	cmd.Flags().StringVar(&format, "format", "", "compact or jsonl (default by the name of the file: jsonl if it has .json in it, or for standard output)")
	complete(cmd, "format", traceFormats...)
	return cmd
}

// formatOf is the format that a file's name asks for.
func formatOf(path string) string {
	if strings.Contains(filepath.Base(path), ".json") {
		return "jsonl"
	}
	return "compact"
}

// copyTraces writes recordings into one file; change may alter a record. What is
// written when Ctrl-C ends it is kept, unless it would replace a file.
func copyTraces(cmd *cobra.Command, in *traceInput, from []string, to, format string, change func(*trace.Record) error) error {
	for _, path := range from {
		if samePath(path, to) {
			return fmt.Errorf("--out: found %s, which is read, expected another file", to)
		}
	}
	next, err := in.open(cmd, from)
	if err != nil {
		return err
	}
	defer in.close()
	out, err := createTrace(to, format, cmd.OutOrStdout())
	if err != nil {
		return err
	}
	ticker := newTraceTicker(cmd.ErrOrStderr())
	err = func() error {
		for {
			record, err := next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if change != nil {
				if err := change(&record); err != nil {
					return err
				}
			}
			if err := out.Write(record); err != nil {
				return err
			}
			ticker.tick("written")
		}
	}()
	kept := errors.Is(err, context.Canceled) && ticker.count > 0 && to != "-" && !exists(to)
	if kept {
		err = nil
	}
	if err := out.finish(err); err != nil {
		return interrupted(err)
	}
	ticker.line.done()
	in.warn(cmd.ErrOrStderr())
	if kept {
		return fmt.Errorf("interrupted: %s has the %s until then", to, wording.Count(ticker.count, "event"))
	}
	if to != "-" {
		info, err := os.Stat(to)
		if err != nil {
			return err
		}
		printLine(cmd.ErrOrStderr(), "%s: %s, %s", to, wording.Count(ticker.count, "event"), wording.Count(int(info.Size()), "byte"))
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func samePath(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false // opening it says why
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func traceReplayCommand() *cobra.Command {
	var in traceInput
	var speed string
	cmd := &cobra.Command{
		Use:   "replay RECORDING... [--speed N]",
		Short: "Print events as JSON lines at the times at which they came",
		Long: `Replay prints the events as lines {"ts", "resource", "type", "object"} when they
are due. If the reader of the output is slow the events behind are late but
never lost; how late they were is printed at the end.`,
		Example: `  benchrun trace replay pods.ibt | my-consumer
  benchrun trace replay pods.ibt --speed 10
  benchrun trace replay pods.ibt --speed max > /dev/null`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := trace.ParsePace(speed)
			if err != nil {
				return fmt.Errorf("--speed: %w", err)
			}
			next, err := in.open(cmd, args)
			if err != nil {
				return err
			}
			defer in.close()
			pacer := pace.New()
			defer pacer.Close()
			lines := trace.NewJSON(plain.NewJSONWriter(cmd.OutOrStdout()))
			begin := time.Now()
			n, err := trace.Replay(cmd.Context(), next, p, pacer, func(record trace.Record) error {
				if err := lines.Write(record); err != nil || p == trace.AsFastAsPossible {
					return err
				}
				return lines.Flush()
			})
			err = errors.Join(err, lines.Close())
			in.warn(cmd.ErrOrStderr())
			took := time.Since(begin)
			fmt.Fprintf(cmd.ErrOrStderr(), "%s in %s, %s a second", wording.Count(n, "event"), took.Round(time.Millisecond), figure(float64(n)/took.Seconds()))
			if late := pacer.Lateness(); late.Count() > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "; late by %s (median), %s (p99), %s (max)",
					late.Quantile(0.5), late.Quantile(0.99), late.Max())
			}
			fmt.Fprintln(cmd.ErrOrStderr())
			return interrupted(err)
		},
	}
	in.addTo(cmd)
	cmd.Flags().StringVar(&speed, "speed", "1", "how many times faster than recorded, or max")
	return cmd
}
