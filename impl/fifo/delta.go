package fifo

import (
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// What the delta queues share.

// transform is obj as it is to be queued. A tombstone's object comes from the
// store or the queue, so it went through the transformer before.
func transform(transformer cache.TransformFunc, obj any) (any, error) {
	if transformer == nil {
		return obj, nil
	}
	if _, tombstone := obj.(cache.DeletedFinalStateUnknown); tombstone {
		return obj, nil
	}
	return transformer(obj)
}

// supersedes tells whether a deletion replaces the deletion of that object just
// before it: the older one is kept, unless it does not know the final state.
func supersedes(older any) bool {
	_, unknown := older.(cache.DeletedFinalStateUnknown)
	return unknown
}

// noneKnown stands in for a nil Config.KnownObjects.
type noneKnown struct{}

func (noneKnown) ListKeys() []string                 { return nil }
func (noneKnown) GetByKey(string) (any, bool, error) { return nil, false, nil }

func orNone(known cache.KeyListerGetter) cache.KeyListerGetter {
	if known == nil {
		return noneKnown{}
	}
	return known
}

// tombstone is the tombstone of a known key that is missing from a list. A store
// that does not answer costs the final state, not the deletion.
func tombstone(known cache.KeyListerGetter, key string) cache.DeletedFinalStateUnknown {
	obj, exists, err := known.GetByKey(key)
	if err != nil || !exists {
		report(err, key, "Known object not found, its tombstone goes without it")
		obj = nil
	}
	return cache.DeletedFinalStateUnknown{Key: key, Obj: obj}
}

// toSync is a known object to queue again, if it is still there.
func toSync(known cache.KeyListerGetter, key string) (obj any, ok bool) {
	obj, exists, err := known.GetByKey(key)
	if err != nil || !exists {
		report(err, key, "Known object not found, it is not synced")
		return nil, false
	}
	return obj, true
}

// report tells of a known key without an object. Without an error that is none: the
// object went after its key was listed.
func report(err error, key, message string) {
	if err == nil {
		klog.Background().Info(message, "key", key)
		return
	}
	utilruntime.HandleErrorWithLogger(klog.Background(), err, message, "key", key)
}
