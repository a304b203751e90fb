// Package impltest is the contract as a test suite: hand it the constructor of
// your work queue, rate limiter, FIFO or indexer and it checks, clause by
// clause, that controllers can rely on it as they rely on upstream's.
//
//	func TestMyQueue(t *testing.T) {
//		impltest.TestQueue(t, NewMyQueue)
//	}
//
// Each step is a sub-test:
//
//  1. Every clause of the contract is one sub-test with a kebab-case name
//     ("requeue-after-done"). When it fails it prints the clause's reason: what
//     breaks in a controller.
//  2. An implementation that gives a clause up names it in relaxes. Where a
//     weaker guarantee is left, the sub-test asserts that one; otherwise it is
//     skipped and says why.
//  3. "fault:NAME" in relaxes documents a fault: the sub-test then asserts that
//     the clause is really broken, so that a fix is noticed.
//
// Clauses run in a testing/synctest bubble, so a blocked goroutine is seen at
// once and hours pass in no time. A clause never hangs or ends the process: a
// call that blocks for ever and a panic in the calling goroutine are failures of
// that clause, with the stacks of the goroutines that are stuck, and the other
// clauses still run. (A panic in a goroutine that the implementation started
// does end the process, as it would end the controller.)
//
// Random tests print their seed when they fail; set IMPLTEST_SEED to run that
// seed again.
package impltest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A clause is one sentence of the contract and its test.
type clause[New any] struct {
	name   string // the sub-test's name, and the word for relaxes
	reason string // one sentence: what a caller relies on
	// run tests the clause with implementations that it makes with new.
	run func(t *trial, new New)
	// weaker tests what is left when the clause is relaxed; nil if nothing is.
	weaker func(t *trial, new New)
}

// faultPrefix marks a relaxed clause whose breach is a documented fault.
const faultPrefix = "fault:"

// runClauses runs every clause as a sub-test of t.
func runClauses[New any](t *testing.T, clauses []clause[New], new New, relaxes []string) {
	t.Helper()
	if err := checkRelaxes(clauses, relaxes); err != nil {
		t.Error(err)
	}
	for _, c := range clauses {
		t.Run(c.name, func(t *testing.T) {
			attempt := func(run func(*trial, New)) *trial {
				return try(t, relaxes, func(tr *trial) { run(tr, new) })
			}
			switch {
			case slices.Contains(relaxes, faultPrefix+c.name):
				if tr := attempt(c.run); !tr.Failed() {
					t.Errorf("the documented fault is gone: this clause is kept now, so remove %q from its relaxes\nclause %s: %s",
						faultPrefix+c.name, c.name, c.reason)
				} else if testing.Verbose() {
					t.Logf("documented fault, still there: %s\n%s", c.reason, tr.firstLine())
				}
			case !slices.Contains(relaxes, c.name):
				attempt(c.run).report(t, c.name, c.reason)
			case c.weaker != nil:
				attempt(c.weaker).report(t, c.name+", relaxed", c.reason)
			default:
				t.Skipf("relaxed by this implementation: %s", c.reason)
			}
		})
	}
}

// checkRelaxes reports names in relaxes that are no clause.
func checkRelaxes[New any](clauses []clause[New], relaxes []string) error {
	known := make([]string, len(clauses))
	for i, c := range clauses {
		known[i] = c.name
	}
	for _, name := range relaxes {
		if !slices.Contains(known, strings.TrimPrefix(name, faultPrefix)) {
			return fmt.Errorf("relaxes: unknown clause %q, expected one of %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// adapt turns the clauses of one component into clauses of another that contains
// it, but for those named in except.
func adapt[Whole, Part any](clauses []clause[Part], part func(Whole) Part, except ...string) []clause[Whole] {
	var adapted []clause[Whole]
	for _, c := range clauses {
		if slices.Contains(except, c.name) {
			continue
		}
		a := clause[Whole]{name: c.name, reason: c.reason,
			run: func(t *trial, new Whole) { c.run(t, part(new)) }}
		if c.weaker != nil {
			a.weaker = func(t *trial, new Whole) { c.weaker(t, part(new)) }
		}
		adapted = append(adapted, a)
	}
	return adapted
}
