// Package experiment is how variants are compared, from what is wanted to what
// may be claimed. It holds the record that a comparison leaves on disk; the
// steps are packages of their own:
//
//	lab      which cases, which arms, how precise, how long: fixed beforehand;
//	         then round by round, in a round every arm once, shuffled, each
//	         sample a fresh child process, appended to raw.txt one by one
//	verdict  medians and U-test as benchstat's, a paired interval over rounds,
//	         what differs by more than the noise floor, Holm-adjusted; the best
//	         full drop-in of each component, in a sentence
//	compare  two results, as a gate for CI
//	trend    many results, with the points from which on they differ
//
// and beside them merge joins the shards of a run, releases builds the cases
// against versions of a dependency, and calibration counts how often verdicts are
// right.
//
// The unit of evidence is a ratio within one run. Machines are shared and slow
// down for seconds or minutes, so the arms of a comparison take turns, and the
// baseline takes part a second time under the name of a control: what the two
// differ by is the noise floor, below which nothing is claimed. Sampling stops
// when the intervals are as narrow as wanted or the budget is spent, never
// because a p-value looks good.
package experiment
