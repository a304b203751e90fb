package delay

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

// verify states the invariant of the wheel.
func (w *wheel[T]) verify(t *testing.T) {
	seen := map[uint32]bool{}
	for l := range w.lists {
		for s, list := range w.lists[l] {
			require.Equal(t, list.first != none, w.occupied[l]>>s&1 == 1)
			prev := none
			for slot := list.first; slot != none; slot = w.keys.At(slot).next {
				spoke := w.keys.At(slot)
				level, digit := w.place(w.tickOf(spoke.at))
				require.Greater(t, w.tickOf(spoke.at), w.present)
				require.Equal(t, [2]int{l, s}, [2]int{level, digit})
				require.Equal(t, prev, spoke.prev)
				require.False(t, seen[slot])
				seen[slot] = true
				prev = slot
			}
			require.Equal(t, prev, list.last)
		}
	}
	for i, slot := range w.ripe[w.taken:] {
		require.False(t, seen[slot])
		seen[slot] = true
		require.LessOrEqual(t, w.tickOf(w.keys.At(slot).at), w.present)
		require.True(t, i == 0 || w.keys.At(w.ripe[w.taken+i-1]).at <= w.keys.At(slot).at)
	}
	require.Len(t, seen, w.keys.Len())
}

// A wheel beside the reference heap, both used as schedules: the same items in
// the same order, at the first tick that is not before their time.
func TestWheelMatchesHeap(t *testing.T) {
	for _, tick := range []int64{1, 7, 1000} {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("tick=%d/seed=%d", tick, seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			w := newWheel[int](time.Duration(tick))
			h := newBinaryHeap[int]()
			now := int64(0)
			for step := range 20_000 {
				key := rng.IntN(400)
				switch rng.IntN(4) {
				case 0, 1:
					d := 1 + rng.Int64N(1+rng.Int64N(1<<rng.IntN(40)))
					w.add(w.hash(key), key, now, now+d)
					h.add(h.hash(key), key, now, now+d)
				case 2:
					now += rng.Int64N(1 << rng.IntN(36))
				case 3:
					limit := 1 + rng.IntN(5)
					want := h.due(now/tick*tick, nil, limit)
					got := w.due(now, nil, limit)
					require.Equal(t, want, got, "step %d", step)
					require.True(t, len(got) == limit || w.next() > now, "due is to be called again at once")
					require.True(t, h.next() == never || w.next() < h.next()+tick, "the wheel would wake too late")
				}
				if step%97 == 0 {
					w.verify(t)
				}
			}
		})
	}
}

// With so many items that new ones go through the lot, a wheel and a heap4 give
// out what the reference does, and say when to come back.
func TestWideMatchesHeap(t *testing.T) {
	const keys = 60_000
	for name, s := range map[string]schedule[int]{
		"heap4": newHeap4[int](),
		"wheel": newWheel[int](1),
	} {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rng := rand.New(rand.NewPCG(seed, 0))
			h := newBinaryHeap[int]()
			now := int64(1)
			for step := range 4 * keys {
				key, d := step, 1+rng.Int64N(1<<40)
				if step >= keys {
					key = rng.IntN(2 * keys)
				}
				if rng.IntN(100) == 0 {
					d = 1 + rng.Int64N(50)
				}
				s.add(s.hash(key), key, now, now+d)
				h.add(0, key, now, now+d)
				if step%100 == 0 {
					now += rng.Int64N(100)
					require.Equal(t, h.due(now, nil, 1), s.due(now, nil, 1))
					require.LessOrEqual(t, s.next(), h.next())
				}
				if step%1000 == 0 {
					now += rng.Int64N(1 << 33)
					require.Equal(t, allDue(h, now), allDue(s, now))
				}
			}
			now += 1 << 40
			require.Equal(t, allDue(h, now), allDue(s, now))
			require.Equal(t, int64(never), s.next())
			s.add(s.hash(1), 1, now, now+1)
			s.drop()
			require.Equal(t, int64(never), s.next())
		})
	}
}

// AddAfter hashes an item without the lock, also while a shutdown drops the schedule:
// run with -race.
func TestHashNeedsNoLock(t *testing.T) {
	for name, s := range map[string]schedule[int]{
		"heap":  newBinaryHeap[int](),
		"heap4": newHeap4[int](),
		"wheel": newWheel[int](1),
	} {
		t.Run(name, func(t *testing.T) {
			var hashing sync.WaitGroup
			hashing.Go(func() {
				for key := range 1000 {
					s.hash(key)
				}
			})
			for key := range 1000 {
				s.add(s.hash(key), key, 0, int64(key))
				s.remove(s.hash(key-1), key-1)
			}
			s.drop()
			hashing.Wait()
			require.Empty(t, allDue(s, 1<<40))
			s.add(s.hash(1), 1, 0, 2)
			require.Equal(t, []int{1}, allDue(s, 2))
		})
	}
}

// allDue calls due until nothing is.
func allDue(s schedule[int], now int64) []int {
	var all []int
	for {
		before := len(all)
		if all = s.due(now, all, before+batch); len(all) == before {
			return all
		}
	}
}

// A clock that goes back makes nothing ready early.
func TestWheelNeverEarlyWhenClockGoesBack(t *testing.T) {
	w := newWheel[string](time.Millisecond)
	require.Empty(t, w.due(int64(time.Hour), nil, 10))
	w.add(w.hash("late"), "late", int64(time.Minute), int64(2*time.Minute))
	w.add(w.hash("early"), "early", int64(time.Minute), int64(time.Minute)+1)
	require.Empty(t, w.due(int64(time.Minute), nil, 10))
	require.Equal(t, []string{"early"}, w.due(int64(time.Minute)+1, nil, 10))
	require.Equal(t, []string{"late"}, w.due(int64(2*time.Minute), nil, 10))
	w.verify(t)
}

// Up to one tick late, never early, in order of exact times within a tick.
func TestWheelTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tick = 10 * time.Millisecond
		q := NewWheel(workqueue.TypedDelayingQueueConfig[string]{}, tick)
		defer q.ShutDown()
		rng := rand.New(rand.NewPCG(1, 1))
		begin := time.Now()
		type item struct {
			name string
			at   time.Duration
		}
		var want []item
		for i := range 500 {
			d := time.Duration(1 + rng.Int64N(int64(time.Second)))
			want = append(want, item{fmt.Sprint(i), d})
			q.AddAfter(fmt.Sprint(i), d)
		}
		sort.SliceStable(want, func(i, j int) bool { return want[i].at < want[j].at })
		for _, w := range want {
			got, _ := q.Get()
			require.Equal(t, w.name, got)
			late := time.Since(begin) - w.at
			require.GreaterOrEqual(t, late, time.Duration(0))
			require.Less(t, late, tick)
			q.Done(got)
		}
	})
}
