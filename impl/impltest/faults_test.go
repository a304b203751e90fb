package impltest

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A planting is a suite and an implementation with a choice of faults.
type planting[New any] struct {
	clauses []clause[New]
	own     []clause[New]          // those that no other suite has
	new     func(fault string) New // "" is sound but for relaxes
	relaxes []string
	faults  map[string][]string // the clauses that each fault breaks
	lacking []string            // clauses of its own that no fault breaks yet
}

// How long a clause may take: one that must find a planted deadlock on a mutex,
// and one that must be kept.
const (
	stuckLimit = 3 * time.Second
	patience   = 40 * time.Second
)

// test plants each fault. The clauses that it breaks must say so, and when they
// are relaxed no other clause may: what is relaxed is not enforced elsewhere.
// Every clause of the suite's own must be broken by some fault.
func (p planting[New]) test(t *testing.T) {
	p.faults = maps.Clone(p.faults)
	p.faults[""] = nil
	broken := slices.Clone(p.relaxes)
	for fault, breaks := range p.faults {
		broken = append(broken, breaks...)
		t.Run("fault="+fault, func(t *testing.T) {
			t.Parallel()
			relaxes := slices.Concat(p.relaxes, breaks)
			assert.NoError(t, checkRelaxes(p.clauses, relaxes))
			for _, c := range p.clauses {
				if slices.Contains(breaks, c.name) {
					o := c.try(t, p.new(fault), p.relaxes, stuckLimit)
					assert.NotEmpty(t, o.failure, "%s does not find the fault %s; %s", c.name, fault, o.skipped)
				}
				if o := c.try(t, p.new(fault), relaxes, patience); o.failure != "" {
					t.Errorf("%s fails though %v are relaxed: %s", c.name, breaks, o.failure)
				}
			}
		})
	}
	for _, c := range p.own {
		lacking := slices.Contains(p.lacking, c.name)
		assert.Equal(t, !lacking, slices.Contains(broken, c.name) || slices.Contains(broken, faultPrefix+c.name),
			"whether a fault breaks %s", c.name)
	}
}

func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	t.Run("queue", plantedQueues.test)
	t.Run("storage", plantedStorages.test)
	t.Run("delaying", plantedDelays.test)
	t.Run("limiter", plantedLimiters.test)
	t.Run("limiting", plantedLimitings.test)
	t.Run("priority", plantedPriorities.test)
}

// TestOtherClausesRun has a queue that deadlocks: its clause says so, and all others
// are run.
func TestOtherClausesRun(t *testing.T) {
	t.Parallel()
	kept := 0
	for _, c := range queueClauses() {
		if c.try(t, newPlanted("done-deadlocks"), plantedQueues.relaxes, stuckLimit).failure == "" {
			kept++
		}
	}
	assert.Equal(t, len(queueClauses())-len(plantedQueues.faults["done-deadlocks"])-2, kept,
		"clauses that are kept beside done-unknown and the two that need it")
}
