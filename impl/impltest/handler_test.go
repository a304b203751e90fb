package impltest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

type adder = func(add func(string)) cache.ResourceEventHandler

// enqueue is the handler that most controllers have.
func enqueue(add func(string)) cache.ResourceEventHandler {
	both := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			add(key)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: both, UpdateFunc: func(_, obj any) { both(obj) }, DeleteFunc: both}
}

func TestEnqueue(t *testing.T) { TestHandler(t, enqueue, object("a", 1)) }

// handlerFaults are handlers as they were found in public controllers, and the clauses
// that catch them.
var handlerFaults = map[string]adder{
	"add-adds": changed(func(f *cache.ResourceEventHandlerDetailedFuncs, add func(obj any)) {
		f.AddFunc = func(obj any, initial bool) {
			if !initial {
				add(obj)
			}
		}
	}),
	"update-adds":    changed(func(f *cache.ResourceEventHandlerDetailedFuncs, _ func(any)) { f.UpdateFunc = nil }),
	"recreated-adds": changed(func(f *cache.ResourceEventHandlerDetailedFuncs, _ func(any)) { f.UpdateFunc = nil }),
	"delete-adds":    changed(func(f *cache.ResourceEventHandlerDetailedFuncs, _ func(any)) { f.DeleteFunc = nil }),
	"tombstone-with-object": changed(func(f *cache.ResourceEventHandlerDetailedFuncs, add func(any)) {
		f.DeleteFunc = func(obj any) { add(obj.(*metav1.PartialObjectMetadata)) }
	}),
	"tombstone-without-object": changed(func(f *cache.ResourceEventHandlerDetailedFuncs, add func(any)) {
		f.DeleteFunc = func(obj any) {
			if lost, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = lost.Obj.(*metav1.PartialObjectMetadata)
			}
			add(obj)
		}
	}),
	"duplicates": func(add func(string)) cache.ResourceEventHandler {
		known := map[string]*int{}
		return cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { known[obj.(*metav1.PartialObjectMetadata).Name] = new(int) },
			DeleteFunc: func(obj any) {
				if o, ok := obj.(*metav1.PartialObjectMetadata); ok {
					*known[o.Name]++ // nil for what was never added
				}
			},
		}
	},
	"resync": changed(func(f *cache.ResourceEventHandlerDetailedFuncs, add func(any)) {
		f.UpdateFunc = func(old, obj any) {
			if old == obj {
				panic("nothing has changed")
			}
			add(obj)
		}
	}),
	"objects-unchanged": changed(func(f *cache.ResourceEventHandlerDetailedFuncs, add func(any)) {
		f.AddFunc = func(obj any, _ bool) {
			obj.(*metav1.PartialObjectMetadata).Labels = map[string]string{"seen": "yes"}
			add(obj)
		}
	}),
}

// changed is enqueue with a fault.
func changed(fault func(f *cache.ResourceEventHandlerDetailedFuncs, add func(obj any))) adder {
	return func(add func(string)) cache.ResourceEventHandler {
		both := func(obj any) {
			if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
				add(key)
			}
		}
		f := cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(obj any, _ bool) { both(obj) }, UpdateFunc: func(_, obj any) { both(obj) }, DeleteFunc: both,
		}
		fault(&f, both)
		return f
	}
}

// TestHandlerFaults plants faults. Each must be named by its clause.
func TestHandlerFaults(t *testing.T) {
	for _, c := range handlerClauses {
		fault := handlerFaults[c.name]
		if !assert.NotNil(t, fault, "clause %s has no planted fault", c.name) {
			continue
		}
		o := c.try(t, handlerMaker{fault, object("a", 1)}, nil, wallLimit)
		assert.NotEmpty(t, o.failure, "clause %s did not notice its fault", c.name)
		o = c.try(t, handlerMaker{enqueue, object("a", 1)}, nil, wallLimit)
		assert.Empty(t, o.failure, "clause %s of a handler without faults", c.name)
	}
}
