package counters

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	before := Read()
	kept := make([]byte, 1<<20)
	runtime.GC()
	after := Read()
	require.GreaterOrEqual(t, after.Bytes-before.Bytes, uint64(len(kept)))
	require.Greater(t, after.Objects, before.Objects)
	require.Greater(t, after.Collections, before.Collections)
	require.Positive(t, after.UntilCollection())
	require.GreaterOrEqual(t, after.Live, uint64(len(kept)))
	runtime.KeepAlive(kept)
	require.NotEmpty(t, ReadLatencies().Counts)
	require.Zero(t, Counters{Heap: 2, Goal: 1}.UntilCollection())
}

func TestP99(t *testing.T) {
	buckets := []float64{0, 1e-6, 1e-3, math.Inf(1)}
	none := &Latencies{Counts: []uint64{0, 0, 0}, Buckets: buckets}
	for _, x := range []struct {
		added []uint64
		want  time.Duration
	}{
		{[]uint64{0, 0, 0}, 0},
		{[]uint64{100, 0, 0}, time.Microsecond},
		{[]uint64{99, 1, 0}, time.Microsecond},
		{[]uint64{98, 2, 0}, time.Millisecond},
		{[]uint64{50, 0, 50}, time.Millisecond}, // the last bucket has no upper end
	} {
		require.Equal(t, x.want, P99(none, &Latencies{Counts: x.added, Buckets: buckets}), "%v", x.added)
	}
}
