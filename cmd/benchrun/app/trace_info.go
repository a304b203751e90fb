package app

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen/trace/summary"
	"github.com/spf13/cobra"
)

func traceInfoCommand() *cobra.Command {
	var in traceInput
	var out output
	cmd := &cobra.Command{
		Use:   "info RECORDING...",
		Short: "Describe recordings: rates, mix, sizes, skew, bursts, lives",
		Long: `Info reads recordings to their end and says, for each resource and for all:

  how many events a second, and of which type as recorded
  how large the objects are as JSON, and the share of it that is managedFields
  TOP 1%       share of the events that the busiest 1% of the objects take
  ZIPF         exponent of the Zipf law that fits best; 0 is uniform
  PEAK/S       events in the busiest second of the clock
  DISPERSION   variance by mean of the events in a second; 1 is a Poisson process
  how long objects live, from added to deleted, and how often they change
  what was irregular, and how often`,
		Example: `  benchrun trace info pods.json
  benchrun trace info audit.log.gz --resource pods,nodes -o json
  benchrun trace info pods.ibt --from 10m --to 20m`,
		RunE: func(cmd *cobra.Command, args []string) error {
			counter, err := in.count(cmd, args)
			if err != nil {
				return err
			}
			return printSummary(cmd.OutOrStdout(), out, counter.Summary(in.stats()...))
		},
	}
	in.addTo(cmd)
	out.addTo(cmd)
	return cmd
}

func printSummary(w io.Writer, out output, s summary.Summary) error {
	if out != "table" {
		return out.print(w, trafficTable(s, true))
	}
	if s.All.Events == 0 {
		fmt.Fprint(w, "0 events\n\n")
	} else if s.Begin.IsZero() {
		fmt.Fprintf(w, "%s without times\n\n", wording.Count(s.All.Events, "event"))
	} else {
		fmt.Fprintf(w, "%s in %s from %s on\n\n", wording.Count(s.All.Events, "event"), s.Duration.Round(time.Millisecond), s.Begin.Format(time.RFC3339Nano))
	}
	if err := out.print(w, trafficTable(s, false)); err != nil {
		return err
	}
	lives := table{header: []string{"resource", "whole lives", "changes", "usual", "lived s", "p99", "between s", "p99"}}
	for _, t := range s.Resources {
		if l := t.Lives; l.Whole > 0 || l.Between.Count > 0 {
			lives.rows = append(lives.rows, append([]string{t.Resource}, livesCells(l)...))
		}
	}
	if len(lives.rows) > 0 {
		fmt.Fprintln(w)
		if err := out.print(w, lives); err != nil {
			return err
		}
	}
	for i, o := range s.Oddities {
		if i == 0 {
			fmt.Fprintln(w)
		}
		printLine(w, "%s: %d", o.What, o.Count)
	}
	return nil
}

// trafficTable has a row a resource; full adds what -o csv has beyond the table.
func trafficTable(s summary.Summary, full bool) table {
	t := table{header: []string{"resource", "events", "/s", "added", "modified", "deleted", "objects", "bytes", "p99", "managed", "top 1%", "zipf", "peak/s", "dispersion"}, value: s}
	if full {
		t.header = append(t.header, "bookmarks", "existing", "whole lives", "changes", "usual", "lived s", "lived s p99", "between s", "between s p99")
	}
	all := s.All
	all.Resource = "all"
	rows := s.Resources
	if len(rows) != 1 {
		rows = append(rows[:len(rows):len(rows)], all)
	}
	for _, r := range rows {
		row := []string{
			r.Resource, strconv.Itoa(r.Events), figure(r.Rate), strconv.Itoa(r.Added), strconv.Itoa(r.Modified), strconv.Itoa(r.Deleted),
			strconv.Itoa(r.Objects), figure(r.Size.Median), figure(r.Size.P99), wording.Percent(r.Managed), wording.Percent(r.Skew.Top1Percent),
			fmt.Sprintf("%.2f", r.Skew.ZipfS), strconv.Itoa(r.Bursts.Peak), figure(r.Bursts.Dispersion),
		}
		if s.Begin.IsZero() { // without times nothing is known of them
			for _, column := range []int{2, 12, 13} {
				row[column] = "-"
			}
		}
		if full {
			row = append(append(row, strconv.Itoa(r.Bookmarks), strconv.Itoa(r.Existing)), livesCells(r.Lives)...)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func livesCells(l summary.Lives) []string {
	cells := []string{strconv.Itoa(l.Whole), "", "", "", ""}
	if l.Whole > 0 {
		cells = []string{strconv.Itoa(l.Whole), figure(l.Modifications.Median), fmt.Sprintf("%d in %s", l.Usual, wording.Percent(l.UsualShare)), figure(l.Seconds.Median), figure(l.Seconds.P99)}
	}
	if l.Between.Count == 0 {
		return append(cells, "", "")
	}
	return append(cells, figure(l.Between.Median), figure(l.Between.P99))
}

// figure prints a number to three digits, whole where it is large.
func figure(f float64) string {
	switch {
	case f >= 100 || f == float64(int64(f)):
		return strconv.FormatFloat(f, 'f', 0, 64)
	case f >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case f >= 1:
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}

// count reads the recordings to their end.
func (in *traceInput) count(cmd *cobra.Command, args []string) (*summary.Counter, error) {
	next, err := in.open(cmd, args)
	if err != nil {
		return nil, err
	}
	defer in.close()
	counter, ticker := summary.NewCounter(), newTraceTicker(cmd.ErrOrStderr())
	for {
		record, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, interrupted(err)
		}
		counter.Add(record)
		ticker.tick("read")
	}
	ticker.line.done()
	in.warn(cmd.ErrOrStderr())
	return counter, nil
}
