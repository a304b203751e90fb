// Package upstream has the benchmarks of client-go and controller-runtime, and that
// of writes to the API server's store, under their own names and with their own
// loads, each runnable with any variant, so that what they print stands beside what
// upstream's print:
//
//	go test ./bench/upstream -run '^$' -bench . -count 10 > upstream.txt
//	go test ./bench/upstream -run '^$' -bench . -count 10 -args -impl snapshot,ring > ours.txt
//	go tool benchstat upstream.txt ours.txt
//
// A benchmark takes the first of the names after -impl that its component has,
// and is skipped if it has none. By default it takes upstream's own type, so that
// its result is also what to lay beside the output of
//
//	go test k8s.io/client-go/tools/cache -run '^$' -bench SharedIndexInformer
//
// More cores are a dimension of go test: -cpu 1,2,4,8. For ratios with their
// noise run the cases of benchrun, which are sampled in turns.
package upstream
