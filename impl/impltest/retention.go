package impltest

import (
	"fmt"
	"runtime"
	"strings"
	"testing/synctest"
	"time"
	"unsafe"
	"weak"

	"k8s.io/client-go/util/workqueue"
)

// retentionClauses are the clauses about what a queue keeps alive.
var retentionClauses = []clause[newQueue]{
	{name: "no-retained-items", contract: "queue 7", run: queueNoRetainedItems,
		reason: "an item that was handed out and is done is not kept alive by the queue: keys of deleted objects would pile up"},
}

func queueNoRetainedItems(t *trial, new newQueue) {
	t.needs("storage-no-retained-items")
	q, _ := measured(t, new)
	watched := watch(t, func(key string) { q.Add(key) })
	// Half of the items stay queued, so that what stores them stays too.
	taken := map[weak.Pointer[byte]]bool{}
	for range len(watched) / 2 {
		taken[takeWatched(t, q)] = true
	}
	expectCollected(t, watched, taken)
	runtime.KeepAlive(q)
}

// watchedKeys is how many keys watch makes: enough to make tables grow.
const watchedKeys = 64

// watch makes keys, hands each to add and keeps only weak pointers to them. A key
// is longer than what the allocator packs together.
func watch(t *trial, add func(key string)) []weak.Pointer[byte] {
	watched := make([]weak.Pointer[byte], watchedKeys)
	for i := range watched {
		key := strings.Clone(fmt.Sprintf("namespace-of-a-long-name/%064d", i))
		watched[i] = weak.Make(unsafe.StringData(key))
		<-t.Go(func() { add(key) })
	}
	return watched
}

// takeWatched gets an item, ends its processing and answers a weak pointer to it.
func takeWatched(t *trial, q workqueue.TypedInterface[string]) weak.Pointer[byte] {
	return watchedBy(t, func() string {
		item, _ := q.Get()
		q.Done(item)
		return item
	})
}

// watchedBy answers a weak pointer to the key that take returns.
func watchedBy(t *trial, take func() string) (w weak.Pointer[byte]) {
	// In a goroutine of its own, so that no stack slot of the clause holds the key.
	<-t.Go(func() { w = weak.Make(unsafe.StringData(take())) })
	return w
}

// expectCollected checks that the taken keys are garbage and the others are not.
func expectCollected(t *trial, watched []weak.Pointer[byte], taken map[weak.Pointer[byte]]bool) {
	kept, lost := 0, 0
	for range 5 { // a stale stack slot may hold one for a while
		runtime.GC()
		kept, lost = 0, 0
		for _, w := range watched {
			switch alive := w.Value() != nil; {
			case taken[w] && alive:
				kept++
			case !taken[w] && !alive:
				lost++
			}
		}
		if kept == 0 {
			break
		}
	}
	if kept > 0 || lost > 0 {
		t.Errorf("of %d items that were taken and done, %d are still referenced by the queue (and of %d others, %d are not)",
			len(taken), kept, len(watched)-len(taken), lost)
	}
}

// expectDelayedCollected lets half of the watched items become ready, a minute
// apart, and checks that they are garbage once they are done.
func expectDelayedCollected(t *trial, q workqueue.TypedInterface[string], watched []weak.Pointer[byte]) {
	taken := map[weak.Pointer[byte]]bool{}
	for range len(watched) / 2 {
		after(time.Minute)
	}
	after(heartbeat)
	for range len(watched) / 2 {
		taken[takeWatched(t, q)] = true
	}
	synctest.Wait()
	expectCollected(t, watched, taken)
	runtime.KeepAlive(q)
}

// expectForgotten checks that a limiter keeps no item that was forgotten.
func expectForgotten(t *trial, l workqueue.TypedRateLimiter[string]) {
	taken := map[weak.Pointer[byte]]bool{}
	n := 0
	watched := watch(t, func(key string) {
		n++
		l.When(key)
		if n%2 == 0 {
			l.Forget(key)
		}
	})
	for i, w := range watched {
		if i%2 == 1 {
			taken[w] = true
		}
	}
	expectCollected(t, watched, taken)
	runtime.KeepAlive(l)
}
