package indexer

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// TestGetBesideDeletions looks up objects that deletions of others move from slot to
// slot, and those that come and go: what stays is always found, and nothing is ever
// found under another's key.
func TestGetBesideDeletions(t *testing.T) {
	const n, rounds = 200, 300
	objs := make([]any, n)
	keys := make([]string, n)
	for i := range objs { // keys of many lengths, some of them long
		meta := metav1.ObjectMeta{Name: strings.Repeat("n", i) + fmt.Sprint(i)}
		if keys[i] = meta.Name; i%3 == 0 {
			objs[i] = &corev1.Node{ObjectMeta: meta}
		} else {
			objs[i] = &corev1.Namespace{ObjectMeta: meta}
		}
	}
	x := NewSnapshot(cache.MetaNamespaceKeyFunc, nil)
	for _, obj := range objs {
		assert.NoError(t, x.Add(obj))
	}
	var reading sync.WaitGroup
	var done atomic.Bool
	for reader := range 2 {
		reading.Go(func() {
			for i := reader; !done.Load(); i = (i + 1) % n {
				obj, exists, _ := x.GetByKey(keys[i])
				if i%2 == 0 && !exists {
					t.Errorf("%s is stored and was not found", keys[i])
					return
				}
				if exists && obj != objs[i] {
					t.Errorf("%T %p was found under the key of %T %p", obj, obj, objs[i], objs[i])
					return
				}
			}
		})
	}
	for round := range rounds {
		for i := 1; i < n; i += 2 {
			assert.NoError(t, x.Delete(objs[(i+round*2)%n]))
			if i%8 == 1 {
				assert.NoError(t, x.Add(objs[(i+round*2)%n]))
			}
		}
		for i := 1; i < n; i += 2 {
			assert.NoError(t, x.Add(objs[i]))
		}
	}
	done.Store(true)
	reading.Wait()
}
