package impltest

import (
	"slices"
	"sync"
	"testing"

	"github.com/informerbench/informerbench/impl/fifo"
	"k8s.io/client-go/tools/cache"
)

// A fifoFault is a queue with one fault, made of a sound one.
type fifoFault struct {
	name   string
	kind   string
	new    newFIFO
	breaks []string
}

// plantedFIFOs are the faults of each kind of queue.
func plantedFIFOs(kind string, clauses []clause[newFIFO], sound newFIFO) planting[newFIFO] {
	p := planting[newFIFO]{clauses: clauses, faults: map[string][]string{}}
	faulty := map[string]newFIFO{"": sound}
	for _, fault := range fifoFaults() {
		if fault.kind == kind {
			p.faults[fault.name], faulty[fault.name] = fault.breaks, fault.new
		}
	}
	p.new = func(fault string) newFIFO { return faulty[fault] }
	return p
}

func TestFIFOFaults(t *testing.T) {
	t.Parallel()
	t.Run("latest", plantedFIFOs("fifo", fifoClauses(), plainFIFO.upstream).test)
	t.Run("delta", plantedFIFOs("delta", deltaFIFOClauses(), deltaFIFO.upstream).test)
	t.Run("in-order", plantedFIFOs("in-order", inOrderClauses(), func(c fifo.Config) cache.Queue { return fifo.NewSliceInOrder(c) }).test)
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
		{"oldest-value", "fifo", func(c fifo.Config) cache.Queue { return &firstWins{Queue: latest(c), keys: map[string]bool{}} }, []string{"latest-value"}},
		{"delete-ignored", "fifo", with(latest, func(f *faulty, _ fifo.Config) {
			sound := f.delete
			f.delete = func(obj any) error {
				if _, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
					obj = object("unknown", 1)
				}
				return sound(obj)
			}
		}), []string{"deleted-skipped"}},
		{"replace-keeps", "fifo", with(latest, func(f *faulty, _ fifo.Config) {
			var last any
			add, replace := f.add, f.replace
			f.add = func(obj any) error {
				if last == nil {
					last = obj
				}
				return add(obj)
			}
			f.replace = func(list []any, rv string) error {
				err := replace(list, rv)
				if err == nil && last != nil {
					return add(last)
				}
				return err
			}
		}), []string{"replace-clears"}},
		{"lost-event", "fifo", with(latest, func(f *faulty, _ fifo.Config) { f.update = everyOther(f.update) }), []string{"latest-value"}},

		{"lost", "delta", with(delta, func(f *faulty, _ fifo.Config) { f.update = everyOther(f.update) }), []string{"delta-order"}},
		{"merged-updates", "delta", with(delta, func(f *faulty, _ fifo.Config) {
			f.pop = rewrite(f.pop, func(deltas cache.Deltas) cache.Deltas {
				return slices.CompactFunc(deltas, func(a, b cache.Delta) bool { return a.Type == cache.Updated && b.Type == cache.Updated })
			})
		}), []string{"delta-order"}},
		{"reversed", "delta", with(delta, func(f *faulty, _ fifo.Config) {
			f.pop = rewrite(f.pop, func(deltas cache.Deltas) cache.Deltas { slices.Reverse(deltas); return deltas })
		}), []string{"delta-order"}},
		{"deletes-kept", "delta", with(delta, func(f *faulty, _ fifo.Config) {
			f.pop = rewrite(f.pop, func(deltas cache.Deltas) cache.Deltas {
				if newest := deltas.Newest(); len(deltas) > 1 && newest.Type == cache.Deleted {
					deltas = append(deltas, *newest)
				}
				return deltas
			})
		}), []string{"dedup-consecutive-deletes"}},
		{"tombstones-missing", "delta", func(c fifo.Config) cache.Queue {
			return hiding(delta, c, func(error, *faulty, []any) {})
		}, []string{"replace-tombstones"}},
		{"replace-is-sync", "delta", func(c fifo.Config) cache.Queue {
			c.EmitReplaced = false
			return delta(c)
		}, []string{"replace-emits"}},
		{"transformed-twice", "delta", func(c fifo.Config) cache.Queue {
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
		}, []string{"transform-once"}},
		{"synced-early", "delta", with(delta, func(f *faulty, _ fifo.Config) {
			listed := false
			sound, replace := f.synced, f.replace
			f.replace = func(list []any, rv string) error { listed = true; return replace(list, rv) }
			f.synced = func() bool { return listed || sound() }
		}), []string{"synced-after-first-list"}},
		{"resync-queued-too", "delta", with(delta, func(f *faulty, c fifo.Config) {
			f.resync = func() error {
				for _, key := range c.KnownObjects.ListKeys() {
					if obj, ok, _ := c.KnownObjects.GetByKey(key); ok {
						_ = f.update(obj)
					}
				}
				return nil
			}
		}), []string{"resync"}},
		{"close-ignored", "delta", with(delta, func(f *faulty, _ fifo.Config) { f.close = func() {} }), []string{"close-releases"}},
		{"close-drops", "delta", with(delta, func(f *faulty, _ fifo.Config) {
			closed := false
			f.close = func() { closed = true; f.QueueWithBatch.Close() }
			pop := f.pop
			f.pop = func(p cache.PopProcessFunc) (any, error) {
				if closed {
					return nil, cache.ErrFIFOClosed
				}
				return pop(p)
			}
		}), []string{"close-drains"}},
		{"deltas-reused", "delta", with(delta, func(f *faulty, _ fifo.Config) {
			buf := make(cache.Deltas, 0, 64)
			f.pop = rewrite(f.pop, func(deltas cache.Deltas) cache.Deltas { return append(buf, deltas...) })
		}), []string{"deltas-retained"}},
		{"objects-retained", "delta", with(delta, func(f *faulty, _ fifo.Config) {
			var all []cache.Deltas
			f.pop = rewrite(f.pop, func(deltas cache.Deltas) cache.Deltas { all = append(all, deltas); return deltas })
		}), []string{"no-retained-objects"}},
		{"handler-unlocked", "delta", with(delta, func(f *faulty, _ fifo.Config) {
			f.pop = func(p cache.PopProcessFunc) (any, error) {
				var initial bool
				deltas, err := f.QueueWithBatch.Pop(func(_ any, in bool) error { initial = in; return nil })
				if err != nil {
					return nil, err
				}
				return deltas, p(deltas, initial)
			}
		}), []string{"handler-under-lock"}},
		{"panic-keeps-lock", "delta", with(delta, func(f *faulty, _ fifo.Config) {
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
		}), []string{"handler-panic-unlocks"}},

		{"delete-unknown-ignored", "in-order", with(inOrder, func(f *faulty, c fifo.Config) {
			sound := f.delete
			f.delete = func(obj any) error {
				if d, ok := obj.(cache.DeletedFinalStateUnknown); ok && d.Obj == nil {
					return nil
				}
				return sound(obj)
			}
		}), []string{"delete-unknown-delivered"}},
		{"batch-duplicate-key", "in-order", with(inOrder, func(f *faulty, _ fifo.Config) {
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
		}), []string{"batch-distinct-keys"}},
		{"no-batches", "in-order", with(inOrder, func(f *faulty, _ fifo.Config) {
			f.popBatch = func(_ cache.ProcessBatchFunc, s cache.PopProcessFunc) error {
				_, err := f.pop(s)
				return err
			}
		}), []string{"batch-distinct-keys"}},
		{"atomic-ignored", "in-order", func(c fifo.Config) cache.Queue {
			c.Atomic = false
			return inOrder(c)
		}, []string{"atomic-replace"}},
		{"tombstones-last", "in-order", func(c fifo.Config) cache.Queue {
			return hiding(inOrder, c, func(err error, f *faulty, list []any) {
				if err != nil || c.KnownObjects == nil || c.Atomic {
					return
				}
				for _, key := range c.KnownObjects.ListKeys() {
					if !slices.ContainsFunc(list, func(obj any) bool { k, _ := cache.MetaNamespaceKeyFunc(obj); return k == key }) {
						obj, _, _ := c.KnownObjects.GetByKey(key)
						_ = f.delete(cache.DeletedFinalStateUnknown{Key: key, Obj: obj})
					}
				}
			})
		}, []string{"replace-tombstones-first"}},
		{"bookmark-lost", "in-order", with(inOrder, func(f *faulty, _ fifo.Config) {
			f.bookmark = func(string) error { return nil }
		}), []string{"bookmark"}},
		{"never-under-lock", "in-order", with(inOrder, func(f *faulty, c fifo.Config) {
			if !c.Atomic {
				return
			}
			f.pop = func(p cache.PopProcessFunc) (any, error) {
				var initial bool
				deltas, err := f.QueueWithBatch.Pop(func(_ any, in bool) error { initial = in; return nil })
				if err != nil {
					return nil, err
				}
				return deltas, p(deltas, initial)
			}
		}), []string{"back-pressure"}},
		{"always-under-lock", "in-order", with(inOrder, func(f *faulty, c fifo.Config) {
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
		}), []string{"lock-released"}},
		{"resync-wakes-nobody", "in-order", with(inOrder, func(f *faulty, c fifo.Config) {
			if c.Atomic {
				f.resync = func() error { return nil }
			}
		}), []string{"atomic-resync"}},
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

func (f *firstWins) Delete(obj any) error {
	if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
		f.mu.Lock()
		delete(f.keys, key)
		f.mu.Unlock()
	}
	return f.Queue.Delete(obj)
}

func (f *firstWins) Replace(list []any, rv string) error {
	f.mu.Lock()
	clear(f.keys)
	f.mu.Unlock()
	return f.Queue.Replace(list, rv)
}

func (f *firstWins) Pop(process cache.PopProcessFunc) (any, error) {
	return f.Queue.Pop(func(obj any, initial bool) error {
		if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
			f.mu.Lock()
			delete(f.keys, key)
			f.mu.Unlock()
		}
		return process(obj, initial)
	})
}

// hiding makes a queue whose Replace sees no known objects. What is done after it
// may make up for that.
func hiding(sound newFIFO, c fifo.Config, after func(error, *faulty, []any)) cache.Queue {
	if c.KnownObjects == nil {
		return sound(c)
	}
	h := &hidden{KeyListerGetter: c.KnownObjects}
	c.KnownObjects = h
	return with(sound, func(f *faulty, _ fifo.Config) {
		replace := f.replace
		f.replace = func(list []any, rv string) error {
			h.now = true
			err := replace(list, rv)
			h.now = false
			after(err, f, list)
			return err
		}
	})(c)
}

type hidden struct {
	cache.KeyListerGetter
	now bool
}

func (h *hidden) ListKeys() []string {
	if h.now {
		return nil
	}
	return h.KeyListerGetter.ListKeys()
}
