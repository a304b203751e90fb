package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informerbench/informerbench/loadgen"
)

// tree is an object as it can be written: without what the server decides.
func tree(object loadgen.Object) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.DeepCopyObject())
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: fields}
	if kinds, _, err := scheme.Scheme.ObjectKinds(object); err == nil {
		u.SetGroupVersionKind(kinds[0])
	}
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "ownerReferences", "generation"} {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	return u, nil
}

// statusOf takes the status out of an object, as the body of a patch; nil without one.
func statusOf(u *unstructured.Unstructured) (map[string]any, error) {
	status, has := u.Object["status"]
	if !has {
		return nil, nil
	}
	delete(u.Object, "status")
	whole, ok := status.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s %s: status is %v, expected an object", u.GetKind(), key(u), status)
	}
	if len(whole) == 0 {
		return nil, nil
	}
	return map[string]any{"status": whole}, nil
}

// patch merges a body into an object or a part of it; nothing if it is nil.
func (w *Writer) patch(ctx context.Context, u *unstructured.Unstructured, body map[string]any, part ...string) error {
	if body == nil {
		return nil
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = w.client(u).Patch(ctx, u.GetName(), types.MergePatchType, text, metav1.PatchOptions{}, part...)
	w.wrote()
	return named(u, err)
}

// client is that of an object's kind and namespace.
func (w *Writer) client(u *unstructured.Unstructured) dynamic.ResourceInterface {
	resource, _ := meta.UnsafeGuessKindToResource(u.GroupVersionKind()) // the kinds of workloads have regular plurals
	if u.GetNamespace() == "" {
		return w.Client.Resource(resource)
	}
	return w.Client.Resource(resource).Namespace(u.GetNamespace())
}

func named(u *unstructured.Unstructured, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", u.GetKind(), key(u), err)
}

func isPod(u *unstructured.Unstructured) bool {
	return u.GetKind() == "Pod" && u.GroupVersionKind().Group == ""
}

func node(u *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName")
	return name
}

// A counter counts from several goroutines.
type counter struct{ created, changed, deleted, gone, latest atomic.Int64 }

func (c *counter) late(by time.Duration) {
	for old := c.latest.Load(); int64(by) > old && !c.latest.CompareAndSwap(old, int64(by)); old = c.latest.Load() {
	}
}

func (c *counter) counts() Counts {
	return Counts{c.created.Load(), c.changed.Load(), c.deleted.Load(), c.gone.Load(), time.Duration(c.latest.Load())}
}
