package app

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/spf13/cobra"
)

// A suiteResult is what one variant's conformance suite said.
type suiteResult struct {
	Component string         `json:"component"`
	Variant   string         `json:"variant"`
	Result    string         `json:"result"` // "pass", "fail", "hang"
	Passed    int            `json:"passed"`
	Skipped   int            `json:"skipped"`
	Failed    []clauseResult `json:"failed,omitempty"`
	Clauses   []clauseResult `json:"clauses"`
}

type clauseResult struct {
	Clause string `json:"clause"`
	Result string `json:"result"`
	Why    string `json:"why,omitempty"` // the first line that it logged
}

func (s Suite) verifyCommand() *cobra.Command {
	var components, variants []string
	var verbose bool
	var timeout time.Duration
	var out output
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Run the conformance suites",
		Long: `Verify checks every variant against its component's contract, clause by clause,
each variant in a process of its own. A variant that relaxes a clause is not
held to it; documented faults of upstream's own types are expected there.
It exits with 1 if a clause fails or a suite hangs.`,
		Example: `  benchrun verify
  benchrun verify --component queue --variant ring -v`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			names, err := s.selectSuites(components, variants)
			if err != nil {
				return err
			}
			if timeout <= 0 {
				return fmt.Errorf("--timeout: found %s, expected more than 0s", timeout)
			}
			program, err := self()
			if err != nil {
				return err
			}
			results, err := verifyAll(cmd.Context(), names, newProgressLine(cmd.ErrOrStderr()), func(ctx context.Context, name string) ([]byte, error) {
				return lab.RunChild(ctx, append(program, "clauses", "--suite", name), timeout)
			})
			if len(results) == 0 {
				return err
			}
			if err := errors.Join(out.print(cmd.OutOrStdout(), verifyTable(results, verbose)), err); err != nil {
				return err
			}
			for _, r := range results {
				if r.Result != "pass" {
					return errGate
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&components, "component", nil, "components to verify (default all)")
	f.StringSliceVar(&variants, "variant", nil, "variants to verify (default all)")
	f.BoolVarP(&verbose, "verbose", "v", false, "print every clause, not only the failed ones")
	f.DurationVar(&timeout, "timeout", 3*time.Minute, "after which a variant's suite counts as hung")
	out.addTo(cmd)
	completeNames(cmd, s.suites)
	return cmd
}

// suites lists the components and variants that have a suite.
func (s Suite) suites() (listing, error) {
	var l listing
	if s.Conformance == nil {
		return l, errors.New("this benchrun was built without conformance suites")
	}
	for _, t := range s.Conformance() {
		component, variant, _ := strings.Cut(t.Name, "/")
		l.Components = append(l.Components, listedComponent{Name: component})
		l.Variants = append(l.Variants, listedVariant{Component: component, Name: variant})
	}
	return l, nil
}

func (s Suite) selectSuites(components, variants []string) ([]string, error) {
	l, err := s.suites()
	if err != nil {
		return nil, err
	}
	var names, allComponents, allVariants []string
	for _, v := range l.Variants {
		allComponents, allVariants = append(allComponents, v.Component), append(allVariants, v.Name)
		if (len(components) == 0 || slices.Contains(components, v.Component)) && (len(variants) == 0 || slices.Contains(variants, v.Name)) {
			names = append(names, v.Component+"/"+v.Name)
		}
	}
	for _, x := range []struct {
		flag       string
		names, all []string
	}{{"component", components, allComponents}, {"variant", variants, allVariants}} {
		for _, name := range x.names {
			if !slices.Contains(x.all, name) {
				slices.Sort(x.all)
				return nil, fmt.Errorf("--%s: unknown %s %q, expected one of %s", x.flag, x.flag, name, strings.Join(slices.Compact(x.all), ", "))
			}
		}
	}
	if len(names) == 0 {
		return nil, errors.New("no suite is left by these components and variants")
	}
	return names, nil
}

// verifyAll runs each suite, in a child process, as many at once as there are
// cores. When it is interrupted it returns those that had ended, and an error.
func verifyAll(ctx context.Context, names []string, line *progressLine, child func(ctx context.Context, name string) ([]byte, error)) ([]suiteResult, error) {
	begin := time.Now()
	results, ended := make([]suiteResult, len(names)), make([]bool, len(names))
	slots := make(chan struct{}, runtime.NumCPU())
	var children sync.WaitGroup
	for i, name := range names {
		children.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			line.show(lab.Progress{Doing: "verifying " + name, Elapsed: time.Since(begin)})
			output, err := child(ctx, name)
			results[i], ended[i] = readSuite(name, string(output), err), !errors.Is(err, context.Canceled)
		})
	}
	children.Wait()
	line.done()
	if ctx.Err() != nil {
		var whole []suiteResult
		for i, r := range results {
			if ended[i] {
				whole = append(whole, r)
			}
		}
		return whole, fmt.Errorf("interrupted: %d of %s verified", len(whole), wording.Count(len(names), "variant"))
	}
	return results, nil
}

// readSuite reads the output of go test -v. The clauses are the innermost
// sub-tests.
func readSuite(name, output string, failure error) suiteResult {
	component, variant, _ := strings.Cut(name, "/")
	r := suiteResult{Component: component, Variant: variant, Result: "pass", Clauses: []clauseResult{}}
	var order []string
	state, why := map[string]string{}, map[string]string{}
	current := name
	for line := range strings.Lines(output) {
		text := strings.TrimSpace(strings.Trim(line, "\x16"))
		if mark, rest, ok := strings.Cut(text, " "); ok && mark == "===" {
			word, test, _ := strings.Cut(rest, " ")
			current = strings.TrimSpace(test)
			if word == "RUN" {
				order = append(order, current)
			}
			continue
		}
		if rest, ok := strings.CutPrefix(text, "--- "); ok {
			result, test, _ := strings.Cut(rest, ": ")
			if i := strings.LastIndex(test, " ("); i > 0 {
				current = test[:i]
				state[current] = strings.ToLower(result)
			}
			continue
		}
		if why[current] == "" && text != "" && text != "FAIL" && text != "PASS" {
			why[current] = text
		}
	}
	for i, test := range order {
		below := func(next string) bool { return strings.HasPrefix(next, test+"/") }
		explained := func(next string) bool { return below(next) && state[next] != "pass" && state[next] != "skip" }
		if rest := order[i+1:]; slices.ContainsFunc(rest, below) && (state[test] == "pass" || slices.ContainsFunc(rest, explained)) {
			continue
		}
		c := clauseResult{Clause: cmp.Or(strings.TrimPrefix(strings.TrimPrefix(test, name), "/"), "(suite)"), Result: state[test]}
		switch c.Result {
		case "pass":
			r.Passed++
		case "skip":
			r.Skipped++
			c.Why = why[test]
		default:
			c.Result = cmp.Or(c.Result, "did not end") // it was running when the process ended
			if c.Why = why[test]; c.Why == "" && failure != nil {
				c.Why = failure.Error()
			}
			r.Failed = append(r.Failed, c)
		}
		r.Clauses = append(r.Clauses, c)
	}
	switch {
	case failure != nil && strings.HasPrefix(failure.Error(), "timed out"):
		r.Result = "hang"
	case failure != nil || len(r.Failed) > 0:
		r.Result = "fail"
	case r.Passed == 0:
		r.Result, failure = "fail", errors.New("the suite has no clauses")
	}
	if r.Result != "pass" && len(r.Failed) == 0 {
		r.Failed = append(r.Failed, clauseResult{"(suite)", r.Result, failure.Error()})
	}
	return r
}

func verifyTable(results []suiteResult, verbose bool) table {
	t := table{value: results, header: []string{"component", "variant", "result", "passed", "failed", "clause"}}
	for _, r := range results {
		shown := r.Failed
		if verbose {
			shown = r.Clauses
		}
		row := []string{r.Component, r.Variant, r.Result, fmt.Sprint(r.Passed), fmt.Sprint(len(r.Failed)), ""}
		if len(shown) == 0 {
			t.rows = append(t.rows, row)
		}
		for _, c := range shown {
			row[5] = c.Result + ": " + c.Clause
			if c.Why != "" {
				row[5] += ": " + c.Why
			}
			t.rows = append(t.rows, slices.Clone(row))
		}
	}
	return t
}

// A clauseCommand line is the child process that runs one suite, as go test -v
// would.
func (s Suite) clauseCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "clauses", Short: "Run one conformance suite in this process", Hidden: true, Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, t := range s.Conformance() {
				if t.Name != name {
					continue
				}
				testing.Init()
				// As -v, but a sub-test's result is printed when it ends and not
				// when its parent does: after a hang it is known what hung.
				if err := flag.Set("test.v", "test2json"); err != nil {
					return err
				}
				every := func(_, _ string) (bool, error) { return true, nil }
				testing.Main(every, []testing.InternalTest{t}, nil, nil)
			}
			return fmt.Errorf("--suite: unknown suite %q", name)
		},
	}
	cmd.Flags().StringVar(&name, "suite", "", "component/variant")
	return cmd
}
