package impltest_test

import (
	"testing"

	"github.com/informerbench/informerbench/impl/impltest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// A test of a controller's handler. This one adds keys with the function that knows
// tombstones.
func ExampleTestHandler() {
	newHandler := func(add func(key string)) cache.ResourceEventHandler {
		enqueue := func(obj any) {
			if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
				add(key)
			}
		}
		return cache.ResourceEventHandlerFuncs{
			AddFunc:    enqueue,
			UpdateFunc: func(_, obj any) { enqueue(obj) },
			DeleteFunc: enqueue,
		}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	_ = func(t *testing.T) { impltest.TestHandler(t, newHandler, pod) }
	// Output:
}
