package priority

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/impl/internal/recorder"
	"github.com/stretchr/testify/require"
	testclock "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// sorted is the plainest priority queue: what is ready in one slice.
type sorted struct {
	ready []sortedItem
	turn  int
}

type sortedItem struct{ key, priority, turn int }

func (s *sorted) add(key, priority int) {
	s.turn++
	i := slices.IndexFunc(s.ready, func(it sortedItem) bool { return it.key == key })
	switch {
	case i < 0:
		s.ready = append(s.ready, sortedItem{key, priority, s.turn})
	case priority > s.ready[i].priority:
		s.ready[i] = sortedItem{key, priority, s.turn}
	}
}

// next takes the first item that is not held.
func (s *sorted) next(held []int, oldest bool) (item sortedItem, ok bool) {
	slices.SortFunc(s.ready, func(a, b sortedItem) int {
		if oldest {
			return cmp.Compare(a.turn, b.turn)
		}
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.turn, b.turn))
	})
	for i, it := range s.ready {
		if !slices.Contains(held, it.key) {
			s.ready = slices.Delete(s.ready, i, i+1)
			return it, true
		}
	}
	return item, false
}

// Few priorities are kept in a slice, many in a map and a heap that gives
// levels away; either way the order is that of the plain model, also when items
// are raised, parked at a head and served by age.
func TestPriorityMatchesModel(t *testing.T) {
	for _, priorities := range []int{1, 3, 1000} {
		for _, every := range []int{0, 1, 3} {
			t.Run(fmt.Sprintf("priorities=%d/oldest-every=%d", priorities, every), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) { compareWithModel(t, priorities, every) })
			})
		}
	}
}

func compareWithModel(t *rapid.T, priorities, every int) {
	q := NewWithConfig(Config[int]{OldestEvery: every})
	defer q.ShutDown()
	var model sorted
	var held []int
	gets := 0
	keys := rapid.SampledFrom([]int{5, 200}).Draw(t, "keys")
	for range rapid.IntRange(0, 400).Draw(t, "steps") {
		switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
		case op < 5:
			key := rapid.IntRange(0, keys-1).Draw(t, "key")
			priority := rapid.IntRange(-priorities/2, priorities/2).Draw(t, "priority")
			q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, key)
			model.add(key, priority)
		case op < 8:
			oldest := every > 0 && gets%every == every-1
			want, ok := model.next(held, oldest)
			if !ok {
				continue // Get would block
			}
			gets++
			key, priority, shutdown := q.GetWithPriority()
			require.False(t, shutdown)
			require.Equal(t, want.key, key)
			require.Equal(t, want.priority, priority)
			held = append(held, key)
		case len(held) > 0:
			i := rapid.IntRange(0, len(held)-1).Draw(t, "done")
			q.Done(held[i])
			held = slices.Delete(held, i, i+1)
		}
		require.Equal(t, len(model.ready), q.Len())
	}
}

// Items whose delay is cut short keep the turn of the delayed Add, and many of
// them cost O(log n) each.
func TestPriorityEarlyTurns(t *testing.T) {
	const n = 20_000
	q := NewWithConfig(Config[int]{})
	defer q.ShutDown()
	for i := range n {
		q.AddAfter(i*7919%n, time.Hour)
	}
	q.Add(n)
	for i := range n {
		q.Add(i)
	}
	q.Add(n + 1)
	for i := range n {
		item, _ := q.Get()
		require.Equal(t, i*7919%n, item)
		q.Done(item)
	}
	for _, want := range []int{n, n + 1} {
		item, _ := q.Get()
		require.Equal(t, want, item)
		q.Done(item)
	}
}

// Delays and metrics come from the injected clock.
func TestPriorityClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := testclock.NewFakeClock(time.Unix(1e9, 0))
		r := recorder.New()
		q := NewWithConfig(Config[string]{Name: "q", Clock: fake, MetricsProvider: r})
		q.AddAfter("a", time.Minute)
		synctest.Wait()
		fake.Step(time.Minute - 1)
		synctest.Wait()
		require.Zero(t, q.Len())
		fake.Step(1)
		synctest.Wait()
		require.Equal(t, 1, q.Len())
		fake.Step(2 * time.Second)
		q.Get()
		require.Contains(t, r.String(), "latency=[2]")
		require.Contains(t, r.String(), "retries=[1]")
		q.ShutDown()
		synctest.Wait()
	})
}

func TestPriorityDrainEndsWithShutDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[string]("")
		q.Add("a")
		q.Get()
		drained := make(chan bool, 1)
		go func() { q.ShutDownWithDrain(); drained <- true }()
		synctest.Wait()
		require.Empty(t, drained)
		q.ShutDown()
		synctest.Wait()
		require.NotEmpty(t, drained)
	})
}

// After shutdown an Add is ignored whatever its item, as controller-runtime's.
func TestUnhashableItemIsIgnoredAfterShutDown(t *testing.T) {
	for name, q := range map[string]priorityqueue.PriorityQueue[any]{
		"controller-runtime": priorityqueue.New[any](""),
		"ours":               New[any](""),
	} {
		q.ShutDown()
		require.NotPanics(t, func() {
			q.Add([]int{1})
			q.AddAfter([]int{1}, time.Hour)
			q.AddRateLimited([]int{1})
		}, name)
		require.Zero(t, q.Len(), name)
	}
}

// A restart under steady load: ten thousand objects of the initial list, and an event
// of higher priority for each item that is handed out. initial/op is the share of what is
// handed out that is of the initial list: without OldestEvery none is.
func BenchmarkOldestEvery(b *testing.B) {
	for _, every := range []int{0, 10, 3} {
		b.Run(fmt.Sprintf("every=%d", every), func(b *testing.B) {
			const initial = 10_000
			q := NewWithConfig(Config[int]{OldestEvery: every})
			defer q.ShutDown()
			low, high := -100, 0
			for i := range initial {
				q.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, i)
			}
			next, served := initial, 0
			for b.Loop() {
				q.AddWithOpts(priorityqueue.AddOpts{Priority: &high}, next)
				next++
				item, priority, _ := q.GetWithPriority()
				q.Done(item)
				if priority == low {
					served++
					q.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, item) // there are always some
				}
			}
			b.ReportMetric(float64(served)/float64(b.N), "initial/op")
		})
	}
}
