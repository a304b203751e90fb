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
//     skipped and says why. What is given up is not enforced elsewhere: a clause
//     that combines several leaves that one out, or is skipped if it can't.
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
	"strconv"
	"strings"
	"testing"
	"time"
)

// A clause is one sentence of the contract and its test.
type clause[New any] struct {
	name     string // the sub-test's name, and the word for relaxes
	contract string // the sentence of the contract: "queue 3"
	reason   string // one sentence: what a caller relies on
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
		t.Fatal(err)
	}
	for _, c := range clauses {
		t.Run(c.name, func(t *testing.T) {
			switch o := c.try(t, new, relaxes, wallLimit); {
			case o.failure != "":
				t.Error(o.failure)
			case o.skipped != "":
				t.Skip(o.skipped)
			case o.note != "" && testing.Verbose():
				t.Log(o.note)
			}
		})
	}
}

// An outcome is what came of a clause: what fails its sub-test, why it was not
// run, or what is worth a line in the log.
type outcome struct{ failure, skipped, note string }

// try runs the clause, or what relaxes leaves of it.
func (c clause[New]) try(t *testing.T, new New, relaxes []string, limit time.Duration) outcome {
	attempt := func(run func(*trial, New)) *trial {
		return try(t, relaxes, limit, func(tr *trial) { run(tr, new) })
	}
	judge := func(tr *trial, name string) outcome {
		o := outcome{failure: tr.report(name, c.reason)}
		if missing := tr.missing.Load(); missing != nil && o.failure == "" {
			o.skipped = fmt.Sprintf("relies on %s, which this implementation relaxes", *missing)
		}
		return o
	}
	switch {
	case slices.Contains(relaxes, faultPrefix+c.name):
		tr := attempt(func(tr *trial, new New) { tr.unconditional = true; c.run(tr, new) })
		if !tr.Failed() {
			return outcome{failure: fmt.Sprintf("the documented fault is gone: this clause is kept now, so remove %q from its relaxes\nclause %s: %s",
				faultPrefix+c.name, c.name, c.reason)}
		}
		return outcome{note: fmt.Sprintf("documented fault, still there: %s\n%s", c.reason, tr.firstLine())}
	case slices.Contains(relaxes, c.name) && c.weaker != nil:
		return judge(attempt(c.weaker), c.name+", relaxed")
	case slices.Contains(relaxes, c.name):
		return outcome{skipped: "relaxed by this implementation: " + c.reason}
	default:
		return judge(attempt(c.run), c.name)
	}
}

// checkRelaxes reports names in relaxes that are no clause.
func checkRelaxes[New any](clauses []clause[New], relaxes []string) error {
	var known, unknown []string
	for _, c := range clauses {
		known = append(known, c.name)
	}
	for _, name := range relaxes {
		if !slices.Contains(known, strings.TrimPrefix(name, faultPrefix)) {
			unknown = append(unknown, strconv.Quote(name))
		}
	}
	if unknown == nil {
		return nil
	}
	return fmt.Errorf("relaxes: unknown clause %s, expected one of %s", strings.Join(unknown, ", "), strings.Join(known, ", "))
}

// adapt turns the clauses of one component into clauses of another that contains
// it, but for those named in except.
func adapt[Whole, Part any](clauses []clause[Part], part func(Whole) Part, except ...string) []clause[Whole] {
	var adapted []clause[Whole]
	for _, c := range clauses {
		if slices.Contains(except, c.name) {
			continue
		}
		a := clause[Whole]{name: c.name, contract: c.contract, reason: c.reason,
			run: func(t *trial, new Whole) { c.run(t, part(new)) }}
		if c.weaker != nil {
			a.weaker = func(t *trial, new Whole) { c.weaker(t, part(new)) }
		}
		adapted = append(adapted, a)
	}
	return adapted
}
