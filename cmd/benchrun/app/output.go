package app

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// An output is the -o flag: how a result is printed.
type output string

var outputs = []string{"table", "json", "yaml", "csv"}

func (o *output) String() string { return string(*o) }
func (o *output) Type() string   { return "format" }
func (o *output) Set(s string) error {
	if !slices.Contains(outputs, s) {
		return fmt.Errorf("expected one of %s", strings.Join(outputs, ", "))
	}
	*o = output(s)
	return nil
}

func (o *output) addTo(cmd *cobra.Command) {
	*o = "table"
	cmd.Flags().VarP(o, "output", "o", "how to print the result: "+strings.Join(outputs, ", "))
	complete(cmd, "output", outputs...)
}

// A table is what -o table and csv print; value is the same for json and yaml.
type table struct {
	header  []string
	rows    [][]string
	value   any
	clauses int // the column of clauses, which -o table cuts short; 0 for none
}

func (o output) print(w io.Writer, t table) error {
	switch o {
	case "json":
		return printJSON(w, t.value)
	case "yaml":
		b, err := yaml.Marshal(t.value)
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	case "csv":
		c := csv.NewWriter(w)
		if err := c.Write(t.header); err != nil {
			return err
		}
		return c.WriteAll(t.rows)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tw, strings.ToUpper(strings.Join(t.header, "\t")))
	for _, row := range t.rows {
		if t.clauses > 0 {
			row = slices.Clone(row)
			row[t.clauses] = few(row[t.clauses])
		}
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = plain.Line(cell)
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	return tw.Flush()
}

// printJSON prints v as JSON, which keeps names as they are by escaping them.
func printJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(plain.JSON(b), '\n'))
	return err
}

// lessMemory has the collector work harder from some hundred megabytes on, so
// that a result of a million lines is read on a small CI machine. It is not for
// what measures. The returned function ends it.
func lessMemory() (end func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(384 << 20)
	return func() { debug.SetMemoryLimit(before) }
}

// few keeps the first two of a list of clauses and counts the rest: a peer may
// relax a dozen. The other formats and the report name them all.
func few(clauses string) string {
	all := strings.Fields(clauses)
	if len(all) <= 3 {
		return clauses
	}
	return fmt.Sprintf("%s %s and %d more", all[0], all[1], len(all)-2)
}

// printLine prints one line, whatever the names in it hold.
func printLine(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, plain.Line(fmt.Sprintf(format, args...)))
}
