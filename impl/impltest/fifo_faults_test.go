package impltest

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl/fifo"
	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/cache"
)

// A fifoFault is a queue with one fault, made of a sound one.
type fifoFault struct {
	name   string
	suite  func(*testing.T, func(fifo.Config) cache.Queue, ...string)
	new    newFIFO
	clause string // must fail, among others
}

// A faulty queue overrides some methods of a sound one.
type faulty struct {
	cache.QueueWithBatch
	add      func(obj any) error
	update   func(obj any) error
	delete   func(obj any) error
	replace  func(list []any, rv string) error
	resync   func() error
	pop      func(cache.PopProcessFunc) (any, error)
	popBatch func(cache.ProcessBatchFunc, cache.PopProcessFunc) error
	bookmark func(string) error
	synced   func() bool
	close    func()
}

func (f *faulty) Add(obj any) error                             { return f.add(obj) }
func (f *faulty) Update(obj any) error                          { return f.update(obj) }
func (f *faulty) Delete(obj any) error                          { return f.delete(obj) }
func (f *faulty) Replace(list []any, rv string) error           { return f.replace(list, rv) }
func (f *faulty) Resync() error                                 { return f.resync() }
func (f *faulty) Pop(process cache.PopProcessFunc) (any, error) { return f.pop(process) }
func (f *faulty) Bookmark(rv string) error                      { return f.bookmark(rv) }
func (f *faulty) HasSynced() bool                               { return f.synced() }
func (f *faulty) Close()                                        { f.close() }
func (f *faulty) PopBatch(b cache.ProcessBatchFunc, s cache.PopProcessFunc) error {
	return f.popBatch(b, s)
}

// noBatch completes queues that have no batches.
type noBatch struct{ cache.Queue }

func (noBatch) PopBatch(cache.ProcessBatchFunc, cache.PopProcessFunc) error { return nil }

// with makes a constructor of queues with a fault, which spoil adds.
func with(sound newFIFO, spoil func(f *faulty, c fifo.Config)) newFIFO {
	return func(c fifo.Config) cache.Queue {
		q := sound(c)
		b, ok := q.(cache.QueueWithBatch)
		if !ok {
			b = noBatch{q}
		}
		f := &faulty{QueueWithBatch: b, add: q.Add, update: q.Update, delete: q.Delete, replace: q.Replace, resync: q.Resync,
			pop: q.Pop, popBatch: b.PopBatch, bookmark: func(string) error { return nil }, synced: q.HasSynced, close: q.Close}
		if s, ok := q.(cache.ReflectorBookmarkStore); ok {
			f.bookmark = s.Bookmark
		}
		spoil(f, c)
		if s, ok := q.(cache.TransformingStore); ok {
			return transforming{f, s}
		}
		return f
	}
}

type transforming struct {
	*faulty
	of cache.TransformingStore
}

func (f transforming) Transformer() cache.TransformFunc { return f.of.Transformer() }

// everyOther wraps f so that it runs on every other call only.
func everyOther(f func(any) error) func(any) error {
	var mu sync.Mutex
	n := 0
	return func(obj any) error {
		mu.Lock()
		n++
		skip := n%2 == 0
		mu.Unlock()
		if skip {
			return nil
		}
		return f(obj)
	}
}

// rewrite wraps Pop so that the handler gets what change makes of its deltas.
func rewrite(pop func(cache.PopProcessFunc) (any, error), change func(cache.Deltas) cache.Deltas) func(cache.PopProcessFunc) (any, error) {
	return func(process cache.PopProcessFunc) (any, error) {
		var given any
		_, err := pop(func(obj any, inInitialList bool) error {
			given = obj
			if deltas, ok := obj.(cache.Deltas); ok {
				given = change(deltas)
			}
			return process(given, inInitialList)
		})
		return given, err
	}
}

func fifoFaults() []fifoFault {
	latest := func(c fifo.Config) cache.Queue { return fifo.NewRingFIFO(c) }
	delta := func(c fifo.Config) cache.Queue { return fifo.NewRingDeltaFIFO(c) }
	inOrder := func(c fifo.Config) cache.Queue { return fifo.NewRingInOrder(c) }
	return []fifoFault{
		{"fifo-oldest-value", TestFIFO, func(c fifo.Config) cache.Queue { return &firstWins{Queue: latest(c), keys: map[string]bool{}} }, "latest-value"},
		{"fifo-delete-ignored", TestFIFO, with(latest, func(f *faulty, _ fifo.Config) { f.delete = func(any) error { return nil } }), "deleted-skipped"},
		{"fifo-replace-keeps", TestFIFO, with(latest, func(f *faulty, _ fifo.Config) {
			sound := f.replace
			f.replace = func(list []any, rv string) error {
				if len(list) < 2 {
					return sound(list, rv)
				}
				for _, obj := range list {
					if err := f.add(obj); err != nil {
						return err
					}
				}
				return nil
			}
		}), "replace-clears"},
		{"fifo-lost-event", TestFIFO, with(latest, func(f *faulty, _ fifo.Config) { f.update = everyOther(f.update) }), "latest-value"},

		{"delta-lost", TestDeltaFIFO, with(delta, func(f *faulty, _ fifo.Config) { f.update = everyOther(f.update) }), "delta-order"},
		{"delta-merged-updates", TestDeltaFIFO, with(delta, func(f *faulty, _ fifo.Config) {
			f.pop = rewrite(f.pop, func(deltas cache.Deltas) cache.Deltas {
				return slices.CompactFunc(deltas, func(a, b cache.Delta) bool { return a.Type == cache.Updated && b.Type == cache.Updated })
			})
		}), "delta-order"},
		{"delta-reversed", TestDeltaFIFO, with(delta, func(f *faulty, _ fifo.Config) {
			f.pop = rewrite(f.pop, func(deltas cache.Deltas) cache.Deltas { slices.Reverse(deltas); return deltas })
		}), "delta-order"},
		{"delta-deletes-kept", TestDeltaFIFO, with(delta, func(f *faulty, _ fifo.Config) {
			f.pop = rewrite(f.pop, func(deltas cache.Deltas) cache.Deltas {
				if newest := deltas.Newest(); len(deltas) > 1 && newest.Type == cache.Deleted {
					deltas = append(deltas, *newest)
				}
				return deltas
			})
		}), "dedup-consecutive-deletes"},
		{"delta-tombstones-missing", TestDeltaFIFO, func(c fifo.Config) cache.Queue {
			c.KnownObjects = &known{}
			return delta(c)
		}, "replace-tombstones"},
		{"delta-replace-is-sync", TestDeltaFIFO, func(c fifo.Config) cache.Queue {
			c.EmitReplaced = false
			return delta(c)
		}, "replace-emits"},
		{"delta-transformed-twice", TestDeltaFIFO, func(c fifo.Config) cache.Queue {
			if once := c.Transformer; once != nil {
				c.Transformer = func(obj any) (any, error) {
					obj, err := once(obj)
					if err != nil {
						return nil, err
					}
					return once(obj)
				}
			}
			return delta(c)
		}, "transform-once"},
		{"delta-synced-early", TestDeltaFIFO, with(delta, func(f *faulty, _ fifo.Config) {
			listed := false
			sound, replace := f.synced, f.replace
			f.replace = func(list []any, rv string) error { listed = true; return replace(list, rv) }
			f.synced = func() bool { return listed || sound() }
		}), "synced-after-first-list"},
		{"delta-resync-queued-too", TestDeltaFIFO, with(delta, func(f *faulty, c fifo.Config) {
			f.resync = func() error {
				for _, key := range c.KnownObjects.ListKeys() {
					if obj, ok, _ := c.KnownObjects.GetByKey(key); ok {
						_ = f.update(obj)
					}
				}
				return nil
			}
		}), "resync"},
		{"delta-close-ignored", TestDeltaFIFO, with(delta, func(f *faulty, _ fifo.Config) { f.close = func() {} }), "close-releases"},
		{"delta-close-drops", TestDeltaFIFO, with(delta, func(f *faulty, _ fifo.Config) {
			closed := false
			f.close = func() { closed = true; f.QueueWithBatch.Close() }
			pop := f.pop
			f.pop = func(p cache.PopProcessFunc) (any, error) {
				if closed {
					return nil, cache.ErrFIFOClosed
				}
				return pop(p)
			}
		}), "close-drains"},
		{"delta-pop-spins", TestDeltaFIFO, with(delta, func(f *faulty, _ fifo.Config) {
			f.close()
			f.pop = func(p cache.PopProcessFunc) (any, error) {
				for {
					if obj, err := f.QueueWithBatch.Pop(p); err != cache.ErrFIFOClosed {
						return obj, err
					}
					time.Sleep(time.Hour)
				}
			}
		}), "close-releases"},
		{"delta-deltas-reused", TestDeltaFIFO, with(delta, func(f *faulty, _ fifo.Config) {
			buf := make(cache.Deltas, 0, 64)
			f.pop = rewrite(f.pop, func(deltas cache.Deltas) cache.Deltas { return append(buf, deltas...) })
		}), "deltas-retained"},
		{"delta-objects-retained", TestDeltaFIFO, with(delta, func(f *faulty, _ fifo.Config) {
			var all []cache.Deltas
			f.pop = rewrite(f.pop, func(deltas cache.Deltas) cache.Deltas { all = append(all, deltas); return deltas })
		}), "no-retained-objects"},
		{"delta-handler-unlocked", TestDeltaFIFO, with(delta, func(f *faulty, _ fifo.Config) {
			f.pop = func(p cache.PopProcessFunc) (any, error) {
				var initial bool
				deltas, err := f.QueueWithBatch.Pop(func(_ any, in bool) error { initial = in; return nil })
				if err != nil {
					return nil, err
				}
				return deltas, p(deltas, initial)
			}
		}), "handler-under-lock"},
		{"delta-panic-keeps-lock", TestDeltaFIFO, with(delta, func(f *faulty, _ fifo.Config) {
			var mu sync.Mutex
			synced := f.synced
			f.synced = func() bool { mu.Lock(); defer mu.Unlock(); return synced() }
			f.pop = func(p cache.PopProcessFunc) (any, error) {
				return f.QueueWithBatch.Pop(func(obj any, in bool) error {
					mu.Lock()
					err := p(obj, in)
					mu.Unlock()
					return err
				})
			}
		}), "handler-panic-unlocks"},

		{"in-order-delete-unknown-ignored", TestInOrderFIFO, with(inOrder, func(f *faulty, c fifo.Config) {
			sound := f.delete
			f.delete = func(obj any) error {
				if d, ok := obj.(cache.DeletedFinalStateUnknown); ok && d.Obj == nil {
					return nil
				}
				return sound(obj)
			}
		}), "delete-unknown-delivered"},
		{"in-order-batch-duplicate-key", TestInOrderFIFO, with(inOrder, func(f *faulty, _ fifo.Config) {
			f.popBatch = func(b cache.ProcessBatchFunc, s cache.PopProcessFunc) error {
				var held []cache.Delta
				keep := func(deltas []cache.Delta, in bool) error {
					if held = append(held, deltas...); len(held) < 2 {
						return s(cache.Deltas(held), in)
					}
					return b(held, in)
				}
				return f.QueueWithBatch.PopBatch(func(deltas []cache.Delta, in bool) error {
					return keep(append(deltas, deltas[0]), in)
				}, s)
			}
		}), "batch-distinct-keys"},
		{"in-order-no-batches", TestInOrderFIFO, with(inOrder, func(f *faulty, _ fifo.Config) {
			f.popBatch = func(_ cache.ProcessBatchFunc, s cache.PopProcessFunc) error {
				_, err := f.pop(s)
				return err
			}
		}), "batch-distinct-keys"},
		{"in-order-atomic-ignored", TestInOrderFIFO, func(c fifo.Config) cache.Queue {
			c.Atomic = false
			return inOrder(c)
		}, "atomic-replace"},
		{"in-order-always-atomic", TestInOrderFIFO, func(c fifo.Config) cache.Queue {
			c.Atomic = true
			return inOrder(c)
		}, "replace-tombstones-first"},
		{"in-order-bookmark-lost", TestInOrderFIFO, with(inOrder, func(f *faulty, _ fifo.Config) {
			f.bookmark = func(string) error { return nil }
		}), "bookmark"},
		{"in-order-never-under-lock", TestInOrderFIFO, with(inOrder, func(f *faulty, _ fifo.Config) {
			f.pop = func(p cache.PopProcessFunc) (any, error) {
				var initial bool
				deltas, err := f.QueueWithBatch.Pop(func(_ any, in bool) error { initial = in; return nil })
				if err != nil {
					return nil, err
				}
				return deltas, p(deltas, initial)
			}
		}), "back-pressure"},
		{"in-order-always-under-lock", TestInOrderFIFO, with(inOrder, func(f *faulty, c fifo.Config) {
			var mu sync.Mutex
			add := f.add
			f.add = func(obj any) error { mu.Lock(); defer mu.Unlock(); return add(obj) }
			f.pop = func(p cache.PopProcessFunc) (any, error) {
				return f.QueueWithBatch.Pop(func(obj any, in bool) error {
					mu.Lock()
					defer mu.Unlock()
					return p(obj, in)
				})
			}
		}), "lock-released"},
		{"in-order-resync-wakes-nobody", TestInOrderFIFO, with(inOrder, func(f *faulty, _ fifo.Config) {
			f.resync = func() error { return nil }
		}), "atomic-resync"},
	}
}

// firstWins keeps a key's first object.
type firstWins struct {
	cache.Queue
	mu   sync.Mutex
	keys map[string]bool
}

func (f *firstWins) Update(obj any) error {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && f.keys[key] {
		return nil
	}
	f.keys[key] = true
	return f.Queue.Update(obj)
}

func (f *firstWins) Add(obj any) error { return f.Update(obj) }

// TestFIFOFaults plants faults. Each must be named by its clause, and none may
// hang or end the process.
func TestFIFOFaults(t *testing.T) {
	if inChild() {
		wallLimit = 2 * time.Second
		for _, fault := range fifoFaults() {
			t.Run(fault.name, func(t *testing.T) { fault.suite(t, fault.new) })
		}
		return
	}
	clauses, _ := failing(t, "TestFIFOFaults")
	for _, fault := range fifoFaults() {
		var caught []string
		for _, c := range clauses {
			if name, ok := strings.CutPrefix(c, fault.name+"/"); ok {
				caught = append(caught, name)
			}
		}
		t.Logf("%s: %v", fault.name, caught)
		assert.Contains(t, caught, fault.clause, fault.name)
	}
}
