// Package tune recommends a controller's settings from what it tells about
// itself. Its steps, in order:
//
//  1. What is known of the load comes to [Metrics] (the difference of two
//     scrapes, see package scrape), [Workload] or [Recording].
//  2. fit.go, calls.go, callers.go, divide.go, held.go and unseen.go, service.go, mixtures.go, hyper.go, pairs.go and
//     humps.go, burst.go, keys.go, gaps.go, levels.go and grid.go make a [Model] of it, in the form of a workload spec:
//     service time, arrivals, API calls, failures.
//     Where several explain what was measured, prior.go says how probable each is
//     beforehand where calls are made, trial.go compares each with it,
//     weigh.go says how likely it is, usual.go whether it is odd at all, and predictions are over all of them
//     (candidates.go). They say what the data can't tell, and refuse where it
//     can't carry advice or, as beyond.go knows, what was said beside it is wrong.
//  3. predict.go simulates the model (package sim), with an effort (effort.go) that goes
//     with the load, under any [Settings]; those under which it was measured show how
//     well it reproduces what was measured. doubt.go and lasting.go say what is left
//     open, told.go puts bursts into words, unstable.go leaves out what is not predicted.
//  4. search.go, cheapest.go and refine.go look for the cheapest settings that
//     meet the [Objective]s, others.go for what else helps, such as another
//     queue (queues.go); curves.go varies each setting around them,
//     whatif.go predicts what somebody has in mind.
//  5. A [Result] holds it all, in words and tables (explain.go, effects.go), with what
//     to paste (paste.go).
//
// How far to trust it: 61 controllers of which all is known were simulated with
// client-go's queue for 20 minutes or more and tuned from their metrics alone, with two
// seeds. Predictions are of the 99th percentile of the wait after a change of workers or
// of the client's limit, where it then is above 1 ms. Of 382, 348 were within 25% of what
// the system did, 198 of them within 5%, and for 361 it lay in the interval, of 95%.
// The fit was developed with these systems. Of 125 predictions for 36 others, drawn at
// random, more than half of them with bursts, and not looked at before, 100 were within
// 25% and 114 in their intervals: that is nearer to what to expect. Worst are limits that
// nearly bind and service times with several humps in the few buckets of
// workqueue_work_duration_seconds. To repeat the first:
//
//	go test ./bench/tune -run TestKnownSystems -v -timeout 0 -known 2 -length 1200
package tune
