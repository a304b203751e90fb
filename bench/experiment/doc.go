// Package experiment is how variants are compared, from what is wanted to what
// may be claimed:
//
//	plan        which cases, which arms, how precise, how long: fixed beforehand
//	schedule    round by round over all cases; in a round every arm once, shuffled
//	samples     a fresh child process each, appended to raw.txt one by one
//	statistics  medians and U-test as benchstat's, a paired interval over rounds
//	verdicts    what differs by more than the noise floor, Holm-adjusted
//	decision    the best full drop-in of each component, in a sentence
//
// The unit of evidence is a ratio within one run. Machines are shared and slow
// down for seconds or minutes, so the arms of a comparison take turns, and the
// baseline takes part a second time under the name of a control: what the two
// differ by is the noise floor, below which nothing is claimed. Sampling stops
// when the intervals are as narrow as wanted or the budget is spent, never
// because a p-value looks good.
package experiment
