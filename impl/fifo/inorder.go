package fifo

import (
	"iter"

	"k8s.io/client-go/tools/cache"
)

// What the in-order FIFOs share.

// defaultBatch is the largest batch unless the Config says. The lock is released for a handler only while
// fewer than two batches are waiting, so that a slow handler holds up the
// producer instead of growing the queue.
const defaultBatch = 1000

// batchable tells whether a delta may share a batch with others. The deltas of
// atomic events concern all keys and come alone.
func batchable(kind cache.DeltaType) bool {
	switch kind {
	case cache.Added, cache.Updated, cache.Deleted, cache.Replaced, cache.Sync:
		return true
	}
	return false
}

// keyOfEvent is keyOf for what an in-order FIFO may be given: a Delta too.
func keyOfEvent(fn cache.KeyFunc, obj any) (string, error) { return keyOf(fn, undelta(obj)) }

func undelta(obj any) any {
	if d, ok := obj.(cache.Delta); ok {
		return d.Object
	}
	return obj
}

// missing returns the tombstones that precede a non-atomic Replace: first for
// queued keys whose last event is no deletion, in queue order, then for known
// keys that are neither listed nor queued. It fails with a cache.KeyError.
func missing(list []any, queued iter.Seq[cache.Delta], known cache.KeyListerGetter, fn cache.KeyFunc) ([]any, error) {
	listed := make(map[string]bool, len(list))
	for _, obj := range list {
		key, err := keyOfEvent(fn, obj)
		if err != nil {
			return nil, cache.KeyError{Obj: obj, Err: err}
		}
		listed[key] = true
	}
	var order []string
	last := map[string]cache.Delta{}
	for d := range queued {
		key, err := keyOfEvent(fn, d.Object)
		if err != nil {
			return nil, cache.KeyError{Obj: d.Object, Err: err}
		}
		if _, again := last[key]; !again {
			order = append(order, key)
		}
		last[key] = d
	}
	var tombstones []any
	for _, key := range order {
		if d := last[key]; !listed[key] && d.Type != cache.Deleted {
			tombstones = append(tombstones, cache.DeletedFinalStateUnknown{Key: key, Obj: d.Object})
		}
	}
	for _, key := range known.ListKeys() {
		if _, queued := last[key]; !queued && !listed[key] {
			tombstones = append(tombstones, tombstone(known, key))
		}
	}
	return tombstones, nil
}

// unqueued returns the known objects whose keys are not queued. It fails with a
// cache.KeyError.
func unqueued(queued iter.Seq[cache.Delta], known cache.KeyListerGetter, fn cache.KeyFunc) ([]any, error) {
	seen := map[string]bool{}
	for d := range queued {
		key, err := keyOfEvent(fn, d.Object)
		if err != nil {
			return nil, cache.KeyError{Obj: d, Err: err}
		}
		seen[key] = true
	}
	var objs []any
	for _, key := range known.ListKeys() {
		if seen[key] {
			continue
		}
		if obj, ok := toSync(known, key); ok {
			objs = append(objs, obj)
		}
	}
	return objs, nil
}

// transformAll transforms the objects of an atomic Replace.
func transformAll(transformer cache.TransformFunc, objs []any) ([]any, error) {
	if transformer == nil {
		return objs, nil
	}
	out := make([]any, len(objs))
	for i, obj := range objs {
		var err error
		if out[i], err = transformer(obj); err != nil {
			return nil, err
		}
	}
	return out, nil
}
