// Package conformance applies the suites of impltest to the whole catalogue:
// every variant of every component, upstream's own types included, with what it
// relaxes.
//
//  1. Tests lists one test for each variant: "queue/ring", "indexer/locked".
//  2. This package's own go test runs them, and so does benchrun verify.
//
// A component that is new in the catalogue needs one line here.
package conformance

import (
	"slices"
	"testing"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/impltest"
)

// Tests returns a test for each variant of each component in the catalogue,
// named component/variant. They may run in parallel.
func Tests() []testing.InternalTest {
	return slices.Concat(
		each("storage", impl.Storages[string](), impltest.TestStorage),
		each("queue", impl.Queues[string](), impltest.TestQueue),
		each("queue-struct-keys", structKeyQueues(), impltest.TestQueue),
		each("delaying-queue", impl.DelayingQueues[string](), impltest.TestDelayingQueue),
		each("rate-limiter", impl.RateLimiters[string](), impltest.TestRateLimiter),
		each("rate-limiting-queue", impl.RateLimitingQueues[string](), impltest.TestRateLimitingQueue),
		each("priority-queue", impl.PriorityQueues[string](), impltest.TestPriorityQueue),
		cacheTests(),
		each("elector", impl.Electors(), impltest.TestElector),
	)
}

// each applies a component's suite to its variants.
func each[New any](component string, variants []impl.Variant[New], suite func(*testing.T, New, ...string)) []testing.InternalTest {
	tests := make([]testing.InternalTest, len(variants))
	for i, v := range variants {
		tests[i] = testing.InternalTest{Name: component + "/" + v.Name, F: func(t *testing.T) {
			t.Parallel()
			suite(t, v.New, v.Relaxes...)
		}}
	}
	return tests
}
