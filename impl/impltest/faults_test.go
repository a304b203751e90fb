package impltest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

// plantedFaults are faults and the clauses that must catch them, by suite. Other
// clauses may fail too: a fault often has more than one effect.
var plantedFaults = map[string]struct {
	test   func(t *testing.T, fault string)
	faults map[string]string
}{
	"queue": {
		test: func(t *testing.T, fault string) { TestQueue(t, newPlanted(fault)) },
		faults: map[string]string{
			"lost-requeue":            "requeue-after-done",
			"requeue-without-wake-up": "requeue-wakes",
			"second-holder":           "single-holder",
			"queued-twice":            "added-once",
			"lost-wake-up":            "wake-ups",
			"never-blocks":            "get-blocks",
			"check-then-act":          "concurrent",
			"len-counts-dirty":        "len-counts-queued",
			"spurious-done":           "spurious-done",
			"done-deadlocks":          "done-unknown",
			"never-down":              "shutting-down",
			"add-after-shutdown":      "add-after-shutdown",
			"queue-dropped":           "drain-after-shutdown",
			"shutdown-wakes-one":      "shutdown-wakes",
			"drain-returns":           "drain-waits-processing",
			"drain-waits-queued":      "drain-ignores-queued",
			"drain-not-ended":         "shutdown-ends-drain",
			"one-drain-ends":          "concurrent-drains",
			"goroutine-leak":          "no-goroutine-leak",
			"leaked-reference":        "no-retained-items",
			"depth-kept":              "metrics-depth-adds",
			"latency-from-first":      "metrics-latency",
			"work-from-add":           "metrics-work-duration",
			"clock-ignored":           "injected-clock",
			"storage-ignored":         "injected-storage",
			"lock-kept":               "panic-unlocks",
		},
	},
	"storage": {
		test: func(t *testing.T, fault string) {
			TestStorage(t, func() workqueue.Queue[string] { return &plantedStorage{fault: fault} })
		},
		faults: map[string]string{
			"last-first":       "storage-fifo",
			"len-of-array":     "storage-len",
			"touch-adds":       "storage-touch",
			"leaked-reference": "storage-no-retained-items",
			"growth-mixes":     "storage-differential",
		},
	},
	"delaying": {
		test: func(t *testing.T, fault string) { TestDelayingQueue(t, newPlantedDelaying(fault)) },
		faults: map[string]string{
			"early":           "never-early",
			"late":            "on-time",
			"lost":            "earliest-wins",
			"twice":           "earliest-wins",
			"later-wins":      "earliest-wins",
			"zero-waits":      "after-zero",
			"add-cancels":     "add-keeps-waiting",
			"clock-ignored":   "delay-clock",
			"goroutines-wait": "no-goroutine-left-waiting",
		},
	},
	"limiter": {
		test: func(t *testing.T, fault string) { TestRateLimiter(t, newPlantedLimiter(fault)) },
		faults: map[string]string{
			"overflow":          "no-overflow",
			"unclamped":         "clamped",
			"sum-of":            "exponential",
			"forget-ignored":    "forget-resets",
			"requeues-less-one": "num-requeues",
			"no-bucket":         "bucket-burst",
		},
	},
	"limiting": {
		test: func(t *testing.T, fault string) { TestRateLimitingQueue(t, newPlantedLimiting(fault)) },
		faults: map[string]string{
			"asked-twice":    "add-rate-limited",
			"forget-is-done": "forget-is-not-done",
		},
	},
	"priority": {
		// The provider's panic would end the process in a goroutine of upstream's.
		test: func(t *testing.T, fault string) { TestPriorityQueue(t, newPlantedPriority(fault), "panic-unlocks") },
		faults: map[string]string{
			"priority-ignored": "priority-order",
			"positive-only":    "priority-order",
			"first-only":       "many-at-once",
			"delay-ignored":    "waiting-does-not-block",
			"limiter-ignored":  "rate-limited-or-after",
		},
	},
}

// TestPlantedFaults runs the suites against queues with one fault each: the
// clause of the fault must fail, by name, and it must hold without the fault.
func TestPlantedFaults(t *testing.T) {
	if inChild() {
		for suite, p := range plantedFaults {
			t.Run(suite+":none", func(t *testing.T) { p.test(t, "") })
			for fault := range p.faults {
				t.Run(suite+":"+fault, func(t *testing.T) {
					if fault == "done-deadlocks" || fault == "lock-kept" {
						wallLimit = 2 * time.Second
					}
					p.test(t, fault)
				})
			}
		}
		return
	}
	for suite, p := range plantedFaults {
		sound, output := failing(t, "TestPlantedFaults/"+suite+":none")
		if suite == "queue" {
			require.Empty(t, sound, "the planted queue keeps every clause but for its fault:\n%s", output)
		}
		for fault, clause := range p.faults {
			failed, _ := failing(t, "TestPlantedFaults/"+suite+":"+fault+"/"+clause)
			assert.Contains(t, failed, suite+":"+fault+"/"+clause, "the fault is caught by its clause")
			assert.NotContains(t, sound, suite+":none/"+clause, "the clause holds without the fault")
		}
	}
}

// TestOtherClausesRun has a queue that deadlocks in one clause, blocks in another
// or leaks in a third: all others must be run and kept.
func TestOtherClausesRun(t *testing.T) {
	for fault, clauses := range map[string][]string{
		"done-deadlocks":     {"done-unknown", "spurious-done", "metrics-work-duration"},
		"shutdown-wakes-one": {"shutdown-wakes", "drain-wakes"},
		"goroutine-leak":     {"no-goroutine-leak", "no-goroutine-after-drain"},
	} {
		failed, output := failing(t, "TestPlantedFaults/queue:"+fault)
		for _, clause := range clauses {
			assert.Contains(t, failed, "queue:"+fault+"/"+clause)
		}
		run := strings.Count(output, "=== RUN   TestPlantedFaults/queue:"+fault+"/")
		assert.Equal(t, len(queueClauses()), run, "clauses that were run with the fault %s", fault)
		assert.Greater(t, strings.Count(output, "--- PASS: "), run/2, "clauses that are kept with the fault %s", fault)
	}
}
