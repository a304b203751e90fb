package bench

import (
	"runtime"
	"testing"
	"time"

	"github.com/informerbench/informerbench/loadgen/counters"
	"github.com/stretchr/testify/require"
)

// A sample goes on until the garbage that it made is collected.
func TestSampleEndsWithCollection(t *testing.T) {
	var s stopwatch
	runtime.GC()
	s.start()
	s.begun = s.begun.Add(-time.Hour) // so that the extension has the time it takes
	for garbage := counters.Read().UntilCollection() / 4; garbage > 0; {
		piece := make([]byte, min(garbage, 1<<20))
		garbage -= uint64(len(piece))
	}
	going := s.untilCollected()
	require.True(t, going())
	runtime.GC()
	require.False(t, going())
}

// A sample ends where it is cut if the next collection is far, or too long in
// coming.
func TestSampleEndsWithoutCollection(t *testing.T) {
	var s stopwatch
	runtime.GC()
	s.start()
	s.begun = s.begun.Add(-time.Hour)
	require.False(t, s.untilCollected()(), "nothing was allocated")

	s.begunCounters.Bytes = 0 // much was allocated
	s.begun = time.Now().Add(time.Hour)
	require.False(t, s.untilCollected()(), "no time is left")
}
