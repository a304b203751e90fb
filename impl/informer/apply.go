package informer

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// process applies the Deltas of a FIFO, in order.
func (s *informer) process(obj any, initial bool) error {
	deltas, ok := obj.(cache.Deltas)
	if !ok {
		return fmt.Errorf("the queue gave a %T, expected cache.Deltas", obj)
	}
	return s.metrics.measure(s.indexer, func() error {
		s.moment.Lock()
		defer s.moment.Unlock()
		var b batch
		defer func() { s.fanout.publish(b) }() // what was stored is told, also when an index function panics later
		for i := range deltas {
			if err := s.apply(&deltas[i], initial, &b); err != nil {
				return err
			}
		}
		return nil
	})
}

// processBatch applies deltas of distinct keys in one transaction: readers see all
// or none of them.
func (s *informer) processBatch(deltas []cache.Delta, initial bool) error {
	return s.metrics.measure(s.indexer, func() error {
		s.moment.Lock()
		defer s.moment.Unlock()
		b := make(batch, 0, len(deltas))
		defer func() { s.fanout.publish(b) }()
		return s.transact(deltas, initial, &b)
	})
}

// transact applies deltas in one transaction, but for those without a key, and
// adds to b what is to be told. A key is made once.
func (s *informer) transact(deltas []cache.Delta, initial bool, b *batch) error {
	var errs []error
	s.txns = s.txns[:0]
	defer func() { clear(s.txns) }()
	for i := range deltas {
		obj := deltas[i].Object
		key, err := keyFunc(obj)
		if err != nil {
			errs = append(errs, cache.KeyError{Obj: obj, Err: err})
			continue
		}
		kind := cache.TransactionTypeUpdate
		if deltas[i].Type == cache.Deleted {
			kind = cache.TransactionTypeDelete
			b.add(notification{kind: deleted, old: obj})
		} else if old, exists := s.store.Get(key); exists {
			b.add(notification{kind: updateBy(deltas[i].Type), old: old, new: obj})
		} else {
			kind = cache.TransactionTypeAdd
			b.add(addOf(obj, initial))
		}
		s.txns = append(s.txns, cache.ThreadSafeStoreTransaction{
			Transaction: cache.Transaction{Type: kind, Object: obj}, Key: key,
		})
	}
	stored := false
	defer func() {
		if !stored { // an index function panics
			*b = nil
		}
	}()
	s.store.Transaction(s.txns...)
	stored = true
	// In a loop of its own, the cache misses of one object's old version do not
	// wait for those of the one before.
	for i := range *b {
		if n := &(*b)[i]; (n.kind == resynced || n.kind == repeated) && !sameVersion(n.old, n.new) {
			n.kind = updated
		}
	}
	s.track(*b)
	return errors.Join(errs...)
}

// track hands stored objects to the mutation detector.
func (s *informer) track(notifications []notification) {
	for i := range notifications {
		if n := &notifications[i]; n.kind != deleted {
			s.mutations.AddObject(n.new)
		}
	}
}

// apply stores one delta and adds to b what is to be told.
func (s *informer) apply(d *cache.Delta, initial bool, b *batch) error {
	from := len(*b)
	defer func() { s.track((*b)[from:]) }()
	switch d.Type {
	case cache.Sync, cache.Replaced, cache.Added, cache.Updated, cache.Deleted:
		key, err := keyFunc(d.Object)
		if err != nil {
			return cache.KeyError{Obj: d.Object, Err: err}
		}
		if d.Type == cache.Deleted {
			s.store.DeleteWithObject(key, d.Object)
			b.add(notification{kind: deleted, old: d.Object})
			return nil
		}
		old, exists := s.store.Get(key)
		s.store.Update(key, d.Object)
		if exists {
			b.add(updateOf(updateBy(d.Type), old, d.Object))
		} else {
			b.add(addOf(d.Object, initial))
		}
	case cache.ReplacedAll:
		info, ok := d.Object.(cache.ReplacedAllInfo)
		if !ok {
			return fmt.Errorf("a ReplacedAll delta holds a %T, expected a cache.ReplacedAllInfo", d.Object)
		}
		return s.replaceAll(info, initial, b)
	case cache.SyncAll:
		for _, obj := range s.indexer.List() {
			b.add(updateOf(resynced, obj, obj))
		}
	case cache.Bookmark:
		info, ok := d.Object.(cache.BookmarkInfo)
		if !ok {
			return fmt.Errorf("a Bookmark delta holds a %T, expected a cache.BookmarkInfo", d.Object)
		}
		s.indexer.Bookmark(info.ResourceVersion)
	}
	return nil
}

// replaceAll makes a list the contents of the store. Deletions are told first, as
// they come first from a FIFO that is not atomic.
func (s *informer) replaceAll(info cache.ReplacedAllInfo, initial bool, b *batch) error {
	var gone, came []notification
	known := s.indexer.ListKeys()
	listed := make(map[string]struct{}, min(len(known), 1)*len(info.Objects))
	came = make([]notification, 0, len(info.Objects))
	for _, obj := range info.Objects {
		key, err := keyFunc(obj)
		if err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		if len(known) == 0 {
			came = append(came, addOf(obj, initial))
			continue
		}
		listed[key] = struct{}{}
		if old, exists := s.store.Get(key); exists {
			came = append(came, updateOf(resynced, old, obj))
		} else {
			came = append(came, addOf(obj, initial))
		}
	}
	for _, key := range known {
		if _, still := listed[key]; !still {
			old, _ := s.store.Get(key)
			gone = append(gone, notification{kind: deleted, old: cache.DeletedFinalStateUnknown{Key: key, Obj: old}})
		}
	}
	if err := s.indexer.Replace(info.Objects, info.ResourceVersion); err != nil {
		return err
	}
	b.add(gone...)
	b.add(came...)
	return nil
}

func addOf(obj any, initial bool) notification {
	if initial {
		return notification{kind: initialAdd, new: obj}
	}
	return notification{kind: added, new: obj}
}

// updateBy is what an update by such a delta is if it changed nothing.
func updateBy(t cache.DeltaType) kind {
	if t == cache.Replaced || t == cache.Sync {
		return resynced
	}
	return repeated
}

// updateOf is an update, or of kind unchanged if the resource version is the same.
func updateOf(unchanged kind, old, new any) notification {
	n := notification{kind: unchanged, old: old, new: new}
	if !sameVersion(old, new) {
		n.kind = updated
	}
	return n
}

func sameVersion(old, new any) bool {
	a, err := meta.Accessor(old)
	if err != nil {
		return false
	}
	b, err := meta.Accessor(new)
	return err == nil && a.GetResourceVersion() == b.GetResourceVersion()
}
