package child

import (
	"testing"

	"github.com/informerbench/informerbench/loadgen/cputime"
	"github.com/stretchr/testify/assert"
)

// Near a memory limit what allocates collects, so what is read every few milliseconds
// would keep a process busy for ever.
func TestReadingAllocatesNothing(t *testing.T) {
	r := newReader()
	defer r.close()
	var heap, held uint64
	assert.Zero(t, testing.AllocsPerRun(100, func() { heap, held = r.heapObjects(), r.status(resident); cputime.Process() }))
	assert.Positive(t, heap)
	if r.file != nil {
		assert.Greater(t, held, heap/2, "the resident set")
		assert.GreaterOrEqual(t, r.status(residentPeak), held)
	}
}
