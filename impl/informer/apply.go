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
	defer s.metrics.processed(s.indexer)()
	s.moment.Lock()
	defer s.moment.Unlock()
	b := newBatch()
	defer s.fanout.publish(b) // what was stored is told, also when an index function panics later
	for i := range deltas {
		if err := s.apply(&deltas[i], initial, b); err != nil {
			return err
		}
	}
	return nil
}

// processBatch applies deltas of distinct keys in one transaction, if the store
// takes transactions. Readers see all or none of them.
func (s *informer) processBatch(deltas []cache.Delta, initial bool) error {
	store, ok := s.indexer.(cache.TransactionStore)
	defer s.metrics.processed(s.indexer)()
	s.moment.Lock()
	defer s.moment.Unlock()
	b := newBatch()
	defer func() { s.fanout.publish(b) }()
	if !ok {
		var errs []error
		for i := range deltas {
			errs = append(errs, s.apply(&deltas[i], initial, b))
		}
		return errors.Join(errs...)
	}
	notifications, err := s.transact(store, deltas, initial, b.notifications)
	b.notifications = notifications
	return err
}

// transact applies deltas in one transaction and appends what is to be told.
func (s *informer) transact(store cache.TransactionStore, deltas []cache.Delta, initial bool, out []notification) ([]notification, error) {
	s.txns = s.txns[:0]
	defer func() { clear(s.txns) }()
	for i := range deltas {
		obj := deltas[i].Object
		txn := cache.Transaction{Type: cache.TransactionTypeUpdate, Object: obj}
		switch deltas[i].Type {
		case cache.Sync, cache.Replaced, cache.Added, cache.Updated:
			old, exists, err := s.indexer.Get(obj)
			if exists && err == nil {
				out = append(out, updateOf(old, obj))
			} else {
				txn.Type = cache.TransactionTypeAdd
				out = append(out, addOf(obj, initial))
			}
		case cache.Deleted:
			txn.Type = cache.TransactionTypeDelete
			out = append(out, notification{kind: deleted, old: obj})
		default:
			return nil, fmt.Errorf("a delta of type %s is in a batch, expected it alone", deltas[i].Type)
		}
		s.txns = append(s.txns, txn)
	}
	if err := store.Transaction(s.txns...); err != nil {
		done := out[:0]
		for _, i := range err.SuccessfulIndices {
			done = append(done, out[i])
		}
		clear(out[len(done):])
		return s.tracked(done), fmt.Errorf("not all of a batch was stored: %w", err)
	}
	return s.tracked(out), nil
}

// tracked hands stored objects to the mutation detector.
func (s *informer) tracked(notifications []notification) []notification {
	for i := range notifications {
		if n := &notifications[i]; n.kind != deleted {
			s.mutations.AddObject(n.new)
		}
	}
	return notifications
}

// apply stores one delta and adds to b what is to be told.
func (s *informer) apply(d *cache.Delta, initial bool, b *batch) error {
	from := len(b.notifications)
	defer func() { s.tracked(b.notifications[from:]) }()
	switch d.Type {
	case cache.Sync, cache.Replaced, cache.Added, cache.Updated:
		if old, exists, err := s.indexer.Get(d.Object); exists && err == nil {
			if err := s.indexer.Update(d.Object); err != nil {
				return err
			}
			b.add(updateOf(old, d.Object))
			return nil
		}
		if err := s.indexer.Add(d.Object); err != nil {
			return err
		}
		b.add(addOf(d.Object, initial))
	case cache.Deleted:
		if err := s.indexer.Delete(d.Object); err != nil {
			return err
		}
		b.add(notification{kind: deleted, old: d.Object})
	case cache.ReplacedAll:
		info, ok := d.Object.(cache.ReplacedAllInfo)
		if !ok {
			return fmt.Errorf("a ReplacedAll delta holds a %T, expected a cache.ReplacedAllInfo", d.Object)
		}
		return s.replaceAll(info, initial, b)
	case cache.SyncAll:
		for _, obj := range s.indexer.List() {
			b.add(updateOf(obj, obj))
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
		key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
		if err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		if len(known) == 0 {
			came = append(came, addOf(obj, initial))
			continue
		}
		listed[key] = struct{}{}
		if old, exists, err := s.indexer.GetByKey(key); exists && err == nil {
			came = append(came, updateOf(old, obj))
		} else {
			came = append(came, addOf(obj, initial))
		}
	}
	for _, key := range known {
		if _, still := listed[key]; !still {
			old, _, _ := s.indexer.GetByKey(key) // the key is one of the store's
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

// updateOf is a resync if the resource version is the same: it goes only to
// handlers that asked for one.
func updateOf(old, new any) notification {
	n := notification{kind: updated, old: old, new: new}
	if a, err := meta.Accessor(new); err == nil {
		if b, err := meta.Accessor(old); err == nil && a.GetResourceVersion() == b.GetResourceVersion() {
			n.kind = resynced
		}
	}
	return n
}
