package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench"
	"github.com/spf13/cobra"
)

// A listing is what list prints as JSON and YAML.
type listing struct {
	Components []listedComponent `json:"components,omitempty"`
	Variants   []listedVariant   `json:"variants,omitempty"`
	Cases      []listedCase      `json:"cases,omitempty"`
	Workloads  []listedWorkload  `json:"workloads,omitempty"`
}

type listedComponent struct {
	Name     string   `json:"name"`
	Baseline string   `json:"baseline"`
	Variants []string `json:"variants"`
	Cases    int      `json:"cases"`
}

type listedVariant struct {
	Component string   `json:"component"`
	Name      string   `json:"name"`
	Peer      bool     `json:"peer"`
	Relaxes   []string `json:"relaxes,omitempty"`
	Summary   string   `json:"summary"`
}

type listedCase struct {
	Name    string `json:"name"`
	Unit    string `json:"unit"`
	Quick   bool   `json:"quick"`
	Summary string `json:"summary"`
}

type listedWorkload struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

var sections = []string{"components", "variants", "cases", "workloads"}

func (s Suite) listCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "list [components|variants|cases|workloads]",
		Short: "List components, variants, cases and workloads",
		Example: `  benchrun list
  benchrun list variants
  benchrun list cases -o csv`,
		ValidArgs: sections,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && !slices.Contains(sections, args[0]) {
				return fmt.Errorf("unknown list %q, expected one of %s", strings.Join(args, " "), strings.Join(sections, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := s.listing()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				args = sections
			}
			var shown listing
			var tables []table
			for _, section := range args {
				tables = append(tables, all.section(section, &shown))
			}
			if len(tables) > 1 && out == "csv" {
				return fmt.Errorf("-o csv holds one table, expected one of %s as argument", strings.Join(sections, ", "))
			}
			if out == "json" || out == "yaml" {
				return out.print(cmd.OutOrStdout(), table{value: shown})
			}
			for i, t := range tables {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				if err := out.print(cmd.OutOrStdout(), t); err != nil {
					return err
				}
			}
			return nil
		},
	}
	out.addTo(cmd)
	return cmd
}

func (s Suite) listing() (listing, error) {
	var l listing
	cases, err := s.Cases(bench.Options{})
	if err != nil {
		return l, err
	}
	seen := map[string]bool{}
	for _, c := range cases {
		i := slices.IndexFunc(l.Components, func(x listedComponent) bool { return x.Name == c.Component })
		if i < 0 {
			i = len(l.Components)
			l.Components = append(l.Components, listedComponent{Name: c.Component, Baseline: c.Baseline})
		}
		l.Components[i].Cases++
		for _, v := range c.About {
			if key := c.Component + "/" + v.Name; !seen[key] {
				seen[key] = true
				l.Components[i].Variants = append(l.Components[i].Variants, v.Name)
				l.Variants = append(l.Variants, listedVariant{c.Component, v.Name, v.Peer, v.Relaxes, v.Summary})
			}
		}
		l.Cases = append(l.Cases, listedCase{c.Component + "/" + c.Name, c.Unit, c.Quick, c.Summary})
	}
	if s.Workloads != nil {
		for _, w := range s.Workloads() {
			l.Workloads = append(l.Workloads, listedWorkload{w[0], w[1]})
		}
	}
	return l, nil
}

// section copies one section into shown and returns its table.
func (l listing) section(name string, shown *listing) table {
	var t table
	switch name {
	case "components":
		shown.Components = l.Components
		t.header = []string{"component", "baseline", "cases", "variants"}
		for _, c := range l.Components {
			t.rows = append(t.rows, []string{c.Name, c.Baseline, fmt.Sprint(c.Cases), strings.Join(c.Variants, " ")})
		}
	case "variants":
		shown.Variants = l.Variants
		t.header, t.clauses = []string{"component", "variant", "peer", "relaxes", "summary"}, 3
		for _, v := range l.Variants {
			t.rows = append(t.rows, []string{v.Component, v.Name, yes(v.Peer), strings.Join(v.Relaxes, " "), v.Summary})
		}
	case "cases":
		shown.Cases = l.Cases
		t.header = []string{"case", "unit", "quick", "summary"}
		for _, c := range l.Cases {
			t.rows = append(t.rows, []string{c.Name, c.Unit, yes(c.Quick), c.Summary})
		}
	case "workloads":
		shown.Workloads = l.Workloads
		t.header = []string{"workload", "summary"}
		for _, w := range l.Workloads {
			t.rows = append(t.rows, []string{w.Name, w.Summary})
		}
	}
	return t
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}
