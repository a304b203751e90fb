package objectkey

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// TestSameAsFunc compares keys and errors with the key function's.
func TestSameAsFunc(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web"}}
	objects := map[string]any{
		"namespaced": pod,
		"cluster":    &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}},
		"no name":    &corev1.Pod{},
		"long":       &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: strings.Repeat("n", 253)}},
		"explicit":   cache.ExplicitKey("a/b"),
		"tombstone":  cache.DeletedFinalStateUnknown{Key: "a/b", Obj: pod},
		"no meta":    42,
		"nil":        nil,
	}
	for fname, fn := range map[string]cache.KeyFunc{
		"meta":     cache.MetaNamespaceKeyFunc,
		"deletion": cache.DeletionHandlingMetaNamespaceKeyFunc,
		"own":      func(any) (string, error) { return "own", nil },
		"failing":  func(any) (string, error) { return "", errors.New("no key") },
	} {
		m := New(fn)
		for oname, obj := range objects {
			t.Run(fname+"/"+oname, func(t *testing.T) {
				want, wantErr := fn(obj)
				got, gotErr := m.Append([]byte("before:"), obj)
				assert.Equal(t, wantErr, gotErr)
				assert.Equal(t, "before:"+want, string(got))
			})
		}
	}
}

// TestNoString expects keys on the stack to cost nothing.
func TestNoString(t *testing.T) {
	var pod any = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web-with-a-name-of-some-length"}}
	m := New(cache.MetaNamespaceKeyFunc)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		var buf [Len]byte
		if key, _ := m.Append(buf[:0], pod); len(key) == 0 {
			t.Error("no key")
		}
	}))
}

// TestWarm gives Warm what a list may hold, and to a Maker of an unknown function
// objects whose metadata can't be read.
func TestWarm(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web"}}
	odd := []any{pod, &corev1.Pod{}, cache.ExplicitKey("a/b"), cache.DeletedFinalStateUnknown{Key: "a/b", Obj: pod}, 42, nil}
	many := make([]any, 2*Block+1)
	for i := range many {
		many[i] = pod
	}
	unreadable := []any{struct{ metav1.Object }{}}
	known, own := New(cache.MetaNamespaceKeyFunc), New(func(any) (string, error) { return "own", nil })
	for _, objs := range [][]any{nil, odd, many} {
		assert.NotPanics(t, func() { known.Warm(objs) })
	}
	assert.NotPanics(t, func() { own.Warm(unreadable) })
	assert.Panics(t, func() { known.Warm(unreadable) }, "as the key function does")
}
