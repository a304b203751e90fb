package queue

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl/internal/recorder"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	testclock "k8s.io/utils/clock/testing"
)

// subject is a queue under comparison with its own clock and metrics.
type subject struct {
	workqueue.TypedInterface[float64]
	name    string
	clock   *testclock.FakeClock
	metrics *recorder.Recorder
}

func subjects(measured bool) []subject {
	var all []subject
	for name, make := range map[string]func(workqueue.TypedQueueConfig[float64]) workqueue.TypedInterface[float64]{
		"client-go": func(c workqueue.TypedQueueConfig[float64]) workqueue.TypedInterface[float64] {
			return workqueue.NewTypedWithConfig(c)
		},
		"slice": NewSlice[float64], "ring": NewRing[float64], "compact": NewCompact[float64],
	} {
		s := subject{name: name, clock: testclock.NewFakeClock(time.Unix(1e9, 0)), metrics: recorder.New()}
		config := workqueue.TypedQueueConfig[float64]{Clock: s.clock}
		if measured {
			config.Name, config.MetricsProvider = "fuzz", s.metrics
		}
		s.TypedInterface = make(config)
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b subject) int { return map[bool]int{true: -1, false: 1}[a.name == "client-go"] })
	return all
}

// FuzzQueue plays a string of operations on client-go's queue and ours and
// compares every result and metric. A byte is an operation and a key; keys are
// floats, one of them NaN.
func FuzzQueue(f *testing.F) {
	f.Add([]byte("abcabcGGGaGDDG"), true)
	f.Add([]byte("nnnGGGGnG"), true)
	f.Add([]byte("aaGaDaGDaSaGGG"), false)
	f.Add([]byte("abcdefghijklmGGGGGGDDDDDDDtGGGGGGaaStGDDDD"), true)
	f.Fuzz(func(t *testing.T, ops []byte, measured bool) {
		all := subjects(measured)
		for _, s := range all {
			defer s.ShutDown()
		}
		var held []float64
		for i, op := range ops {
			play(t, all, &held, i, op)
		}
		for _, s := range all[1:] {
			require.Equal(t, all[0].metrics.String(), s.metrics.String(), "metrics of %s", s.name)
		}
	})
}

func play(t *testing.T, all []subject, held *[]float64, i int, op byte) {
	upstream := all[0]
	switch {
	case op == 'G':
		if upstream.Len() == 0 && !upstream.ShuttingDown() {
			return // Get would block
		}
		want, wantDown := upstream.Get()
		for _, s := range all[1:] {
			got, down := s.Get()
			require.Equal(t, wantDown, down, "Get of %s after operation %d", s.name, i)
			require.Equal(t, math.Float64bits(want), math.Float64bits(got), "Get of %s after operation %d", s.name, i)
		}
		if !wantDown {
			*held = append(*held, want)
		}
	case op == 'D':
		if len(*held) == 0 {
			return
		}
		n := i % len(*held)
		for _, s := range all {
			s.Done((*held)[n])
		}
		*held = slices.Delete(*held, n, n+1)
	case op == 'S':
		for _, s := range all {
			s.ShutDown()
		}
	case op == 't':
		for _, s := range all {
			s.clock.Step(time.Microsecond) // too short for the ticker, which is asynchronous
		}
	case op >= '0' && op <= '9': // Done of an item that nobody holds: only ours are immune
		key := float64(op - '0' + 'a')
		if slices.Contains(*held, key) {
			return
		}
		for _, s := range all[1:] {
			s.Done(key)
		}
	default:
		key := float64(op)
		if op == 'n' {
			key = math.NaN()
		}
		for _, s := range all {
			s.Add(key)
		}
	}
	for _, s := range all[1:] {
		require.Equal(t, upstream.Len(), s.Len(), "Len of %s after operation %d", s.name, i)
		require.Equal(t, upstream.ShuttingDown(), s.ShuttingDown(), s.name)
	}
}
