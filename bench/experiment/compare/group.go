package compare

import (
	"cmp"
	"fmt"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// Options say which results belong together, in benchstat's words. Every key of
// the configuration separates results, but for those named here.
type Options struct {
	Col    string // what tells the columns apart, .file by default: the first column is the old one
	Row    string // what tells the rows apart, .fullname by default
	Ignore string // keys that don't separate results
	Filter string // which results count, all by default
	Paired bool   // the samples were taken in turns, so that those of one round belong together
}

// A grouping puts results into tables of one configuration, rows and columns.
type grouping struct {
	filter                   *benchproc.Filter
	table, row, col, residue *benchproc.Projection
	byFile                   bool // the columns are the files
	paired                   bool // Options.Paired
}

func newGrouping(o Options) (grouping, error) {
	var g grouping
	var err error
	if g.filter, err = benchproc.NewFilter(cmp.Or(o.Filter, "*")); err != nil {
		return g, fmt.Errorf("--filter: %w", err)
	}
	g.byFile, g.paired = cmp.Or(o.Col, ".file") == ".file", o.Paired
	var parser benchproc.ProjectionParser
	for _, x := range []struct {
		flag, projection string
		into             **benchproc.Projection
	}{
		{"", ".config", &g.table}, {"--row", cmp.Or(o.Row, ".fullname"), &g.row}, {"--col", cmp.Or(o.Col, ".file"), &g.col}, {"--ignore", o.Ignore, new(*benchproc.Projection)},
	} {
		if *x.into, err = parser.Parse(x.projection, g.filter); err != nil {
			return g, fmt.Errorf("%s: %w", x.flag, err)
		}
	}
	g.residue = parser.Residue()
	return g, nil
}

// A place is where a result counts.
type place struct{ table, row, col benchproc.Key }

func (g grouping) place(r *benchfmt.Result) place {
	return place{g.table.Project(r), g.row.Project(r), g.col.Project(r)}
}

// described are a key's fields as "goarch=arm64 pkg=example.com/q", those that are empty
// left out.
func described(k benchproc.Key, fields []*benchproc.Field) string {
	var parts []string
	for _, f := range fields {
		if v := k.Get(f); v != "" {
			parts = append(parts, f.Name+"="+v)
		}
	}
	return strings.Join(parts, " ")
}

// unlikeFields name what two configurations differ in.
func unlikeFields(a, b benchproc.Key) (names []string, text string) {
	var parts []string
	for _, f := range benchproc.NonSingularFields([]benchproc.Key{a, b}) {
		names = append(names, f.Name)
		parts = append(parts, fmt.Sprintf("%s is %q and %q", f.Name, a.Get(f), b.Get(f)))
	}
	return names, strings.Join(parts, ", ")
}
