package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen/trace/fit"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

func traceFitCommand() *cobra.Command {
	var in traceInput
	var path string
	var out output
	cmd := &cobra.Command{
		Use:   "fit RECORDING... --out FILE",
		Short: "Write a workload that resembles recordings, and show how closely",
		Long: `Fit writes a workload for benchrun run, drive and sim whose rates, mix of events,
sizes, skew, bursts and lives are near those of the recordings, and says how near:
it counts what the workload does as info counts the recording. Distances are
differences of shares, or relative: +10% is a tenth more than the recording.

If a figure is too far off, marked FAR, the exit code is 1; the workload is
written all the same.`,
		Example: `  benchrun trace fit pods.ibt --out pods.yaml
  benchrun drive pods.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if path == "" {
				return errNoOut
			}
			counter, err := in.count(cmd, args)
			if err != nil {
				return err
			}
			recording := counter.Summary()
			spec, distances, err := fit.Nearest(cmd.Context(), recording, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
			if err != nil {
				return interrupted(fmt.Errorf("%s: %w", strings.Join(args, ", "), err))
			}
			var text bytes.Buffer
			encoder := yaml.NewEncoder(&text)
			encoder.SetIndent(2)
			if err := errors.Join(encoder.Encode(spec), encoder.Close()); err != nil {
				return err
			}
			if err := atomicfile.Write(path, text.Bytes()); err != nil {
				return fmt.Errorf("--out: %w", err)
			}
			if err := out.print(cmd.OutOrStdout(), distanceTable(distances)); err != nil {
				return err
			}
			return judgeFit(cmd.ErrOrStderr(), path, distances)
		},
	}
	in.addTo(cmd)
	cmd.Flags().StringVar(&path, "out", "", "the workload to write, as YAML, and what it is named after")
	out.addTo(cmd)
	return cmd
}

// judgeFit fails if the workload is far from the recording, and says in what.
func judgeFit(stderr io.Writer, path string, all []fit.Distance) error {
	var far []string
	for _, d := range all {
		if d.Far {
			far = append(far, d.Figure+" of "+d.Resource)
		}
	}
	if len(far) == 0 {
		return nil
	}
	printLine(stderr, "%s does not resemble the recording: %s of %d are too far off: %s",
		path, wording.Count(len(far), "figure"), len(all), strings.Join(far, ", "))
	return errGate
}

func distanceTable(all []fit.Distance) table {
	t := table{header: []string{"resource", "figure", "recording", "workload", "distance", ""}, value: all}
	for _, d := range all {
		cells := []string{figure(d.Recording), figure(d.Workload), fmt.Sprintf("%+.0f%%", 100*d.Distance)}
		switch {
		case d.Figure == "zipf":
			cells = []string{fmt.Sprintf("%.2f", d.Recording), fmt.Sprintf("%.2f", d.Workload), fmt.Sprintf("%+.2f", d.Distance)}
		case d.Share:
			cells = []string{wording.Percent(d.Recording), wording.Percent(d.Workload), fmt.Sprintf("%+.1f points", 100*d.Distance)}
		}
		mark := ""
		if d.Far {
			mark = "FAR"
		}
		t.rows = append(t.rows, append(append([]string{d.Resource, d.Figure}, cells...), mark))
	}
	return t
}
