// Package bench holds what is measured: one case a question, run in the same
// way by go test and by benchrun.
//
//	keys and objects   the same from the same seed for every variant
//	cases              one file a component: a Case is a value with a Run
//	stopwatch          wall time, process CPU time, allocations of the measured part
//	null sinks         what every case costs without a component
//	go test -bench     BenchmarkQueue/op=cycle/keys=unique/n=10k/impl=ring
//
// An op is always one item (one key added, got and done; one object written;
// one event delivered), also where a case works through a backlog of a
// million: ns/op, cpu-ns/op, B/op and allocs/op are figures per item.
// cpu-ns/op is the process's CPU time, garbage collection and waking up of
// other goroutines included; live-B/item is what stays on the heap while
// n items are stored, beyond the keys and objects themselves. A sample begins
// after a garbage collection and ends with one where one is near; where so
// little is allocated that the next is far, gc-cpu-ns/op is 0 and cpu-ns/op
// lacks what collecting would cost.
//
// What a case's own load costs (walking the keys, flow control, goroutines,
// calls, checks) is part of every variant's figures. Each case runs with a
// component that does nothing too, impl=null-sink, and that is its load's cost:
// where it is a large part of a variant's, ratios are nearer to 1 than they
// would be without. Pipeline cases make their events beforehand; there the null
// sink also tells generator-ns/event, what it took to make one.
//
// A case that moves items checks at its end that none was lost, doubled or
// invented, and fails otherwise: a fast wrong answer is not a result.
package bench
