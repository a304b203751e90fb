// Package tune recommends a controller's settings from what it tells about
// itself. Its steps, in order:
//
//  1. What is known of the load comes to [Metrics] (what was counted from scrape to
//     scrape, see package scrape), [Workload] or [Recording].
//  2. fit.go and calls.go take what the counters tell exactly: rates, means, utilisation,
//     calls. What can't carry advice is refused (plausible.go). Which of several queues or
//     reconciles made the calls may be open (hypotheses.go).
//  3. Package infer finds the loads that explain the rest: a table of families of arrivals and
//     keys, one explorer for all of them, and the posterior over their members, each of which
//     package model simulates. loadwords.go puts it into words, and how far it is open.
//  4. members.go predicts any [Settings] by simulating the members: an interval holds 95% of
//     them. A workload or a recording, of which everything is known, is simulated by package
//     sim (predict.go).
//  5. search.go, cheapest.go and refine.go look for the cheapest settings that
//     meet the [Objective]s, others.go for what else helps, such as another
//     queue (queues.go); curves.go varies each setting around them,
//     whatif.go predicts what somebody has in mind. thresholds.go says from where on.
//  6. A [Result] holds it all, in words and tables (explain.go, effects.go), with what
//     to paste (paste.go).
//
// How far to trust it: `make judge` draws controllers at random, simulates them with another
// simulator than ours, tunes them from two scrapes and from twenty, and compares what is
// predicted with what they then do. Its result is reports/results/judge.md.
package tune
