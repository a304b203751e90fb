// Package tune recommends a controller's settings from what it tells about
// itself. Its steps, in order:
//
//  1. What is known of the load comes to [Metrics] (what was counted from scrape to
//     scrape, see package scrape) or to [Workload] (a spec, or a recording). Settings that nobody
//     told are taken from the metrics or are a default (package defaults).
//  2. fit.go and calls.go take what the counters tell exactly: rates, means, utilisation,
//     calls. What can't carry advice is refused (plausible.go). Which of several queues or
//     reconciles made the calls may be open (hypotheses.go).
//  3. Package infer finds the loads that explain the rest: a table of families of arrivals and
//     keys, one explorer for all of them, and the posterior over their members, each of which
//     package model simulates.
//  4. Package predict says what any settings would bring, by simulating the members: an
//     interval holds 95% of them. A workload or a recording, of which everything is known, is
//     simulated by package sim.
//  5. Package search looks for the cheapest settings that meet the objectives, unless
//     recommend.go finds no reason to; it varies each setting around them.
//  6. Package advice puts it all into words and tables, with what to paste: a Result.
//
// Imports go one way: scrape, model and service; infer; predict; search and defaults; advice; this
// one. thresholds.go of each says from where on.
//
// How far to trust it: `make judge` draws controllers at random, simulates them with another
// simulator than ours, tunes them from two, twenty and two hundred scrapes, and compares what is
// predicted with what they then do. Its result is reports/results/judge.md.
package tune
