package loadgen

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// An hour at 1,000 events a second leaves no more memory in use than its first
// minute did: objects that are gone are let go, and their keys are used again.
func TestMemoryStaysFlat(t *testing.T) {
	const minute, hour = 60_000, 3_600_000
	for _, name := range []string{"job-burst", "rolling-update"} {
		t.Run("schedule/"+name, func(t *testing.T) {
			schedule, err := tenth(t, name).Schedule()
			require.NoError(t, err)
			grown, ended := growth(minute, hour, func() bool {
				_, ok := schedule.Next()
				return ok
			})
			require.False(t, ended)
			require.Less(t, grown, int64(1<<20), "bytes")
			runtime.KeepAlive(schedule)
		})
	}
	for _, name := range []string{"job-burst", "rolling-update"} {
		t.Run("objects/"+name, func(t *testing.T) {
			generator, err := tenth(t, name).Generator()
			require.NoError(t, err)
			grown, ended := growth(minute/2, minute, func() bool {
				_, err := generator.Next()
				return err == nil
			})
			require.False(t, ended)
			require.Less(t, grown, int64(4<<20), "bytes")
			runtime.KeepAlive(generator)
		})
	}
}

// tenth is a preset of a tenth of the size, without an end.
func tenth(t *testing.T, name string) *Spec {
	t.Helper()
	spec := endless(t, name)
	for i := range spec.Resources {
		r := &spec.Resources[i]
		r.Count, r.Nodes, r.Events.Parallel = r.Count/10, r.Nodes/10, r.Events.Parallel/10
		if r.Events.Pattern == patternFollow {
			r.Count, r.Namespaces, r.Replicas = 0, 0, 0 // those of the pods
		}
	}
	return spec
}

// growth is how many more bytes are in use after events than after warmUp, and
// whether the events have ended.
func growth(warmUp, events int, next func() bool) (grown int64, ended bool) {
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for range warmUp {
		ended = !next() || ended
	}
	before := inUse()
	for range events {
		ended = !next() || ended
	}
	return inUse() - before, ended
}
