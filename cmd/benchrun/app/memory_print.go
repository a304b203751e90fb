package app

import (
	"fmt"
	"io"
	"strings"

	"github.com/informerbench/informerbench/bench/memory"
)

// print shows a result: the changes first.
func (l *memoryCommandLine) print(w io.Writer, r memory.Result) error {
	if l.out != "table" {
		changes := r.Tables()[0]
		for _, row := range changes.Rows {
			row[0] = strings.TrimSuffix(row[0], memory.Advised)
		}
		return l.show(w, r, changes)
	}
	fmt.Fprintf(w, "%s\n", r.Summary)
	for _, t := range r.Tables() {
		fmt.Fprintln(w)
		if err := l.show(w, r, t); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "\n%s%s\n", r.Advice.Manifest(), r.Advice.Why)
	for _, t := range r.Transforms {
		if t.Kind != "any kind" { // the interner is in the report
			fmt.Fprintf(w, "\ntransform of %s:\n  %s\n", t.Kind, strings.ReplaceAll(strings.TrimSpace(t.Code), "\n", "\n  "))
		}
	}
	return nil
}

// show prints a table, or for machines the value.
func (l *memoryCommandLine) show(w io.Writer, value any, t memory.Table) error {
	return l.out.print(w, table{value: value, header: t.Header, rows: t.Rows})
}
