package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// TestSoakInformer runs every informer under changes, broken watches, readers
// and handlers that come and go, and ends in balance: the store, its index and
// each handler's own account of what it was told equal the server's objects, no
// handler was told anything twice or out of order, and no goroutine is left.
func TestSoakInformer(t *testing.T) {
	seed := soakedSeed()
	variants := impl.Informers()
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			t.Logf("-soak=%v -soak.seed=%d", *soakTime, seed)
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			soakInformer(t, v.New, seed, *soakTime/time.Duration(len(variants)))
		})
	}
}

const (
	soakObjects  = 2000
	soakGroups   = 20
	soakHandlers = 4 // that stay, and as many that come and go
	soakReaders  = 4
)

func group(obj any) ([]string, error) {
	return []string{obj.(*metav1.PartialObjectMetadata).Labels["group"]}, nil
}

func version(obj any) int {
	n, _ := strconv.Atoi(obj.(*metav1.PartialObjectMetadata).ResourceVersion)
	return n
}

func soakInformer(t *testing.T, newInformer impl.NewInformer, seed uint64, duration time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	source := newSoakSource()
	informer := newInformer(source, &metav1.PartialObjectMetadata{}, cache.SharedIndexInformerOptions{
		ResyncPeriod: time.Second, Indexers: cache.Indexers{"group": group},
	})
	var wrong faults
	var stay []*account
	listen := func() (*account, cache.ResourceEventHandlerRegistration) {
		a := &account{versions: map[string]int{}, wrong: &wrong}
		r, err := informer.AddEventHandler(a)
		require.NoError(t, err)
		return a, r
	}
	for range soakHandlers {
		a, _ := listen()
		stay = append(stay, a)
	}
	var running, busy sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	defer running.Wait()
	defer cancel()
	require.True(t, cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))

	end := time.Now().Add(duration)
	due := func() bool { return time.Now().After(end) }
	busy.Go(func() {
		r := rand.New(rand.NewPCG(seed, 0))
		for !due() {
			source.change(r)
		}
	})
	for g := range soakReaders {
		busy.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(1+g)))
			for x := informer.GetIndexer(); !due(); {
				want := fmt.Sprint(r.IntN(soakGroups))
				found, err := x.ByIndex("group", want)
				if err != nil {
					wrong.add("ByIndex: %v", err)
				}
				for _, obj := range found {
					if got, _ := group(obj); got[0] != want {
						wrong.add("ByIndex of group %s gave an object of group %s", want, got[0])
					}
				}
				if n := len(x.List()); n > soakObjects {
					wrong.add("%d objects listed, at most %d exist", n, soakObjects)
				}
			}
		})
	}
	var churned atomic.Int64
	for range soakHandlers {
		busy.Go(func() {
			for !due() {
				_, r := listen()
				if !cache.WaitForCacheSync(ctx.Done(), r.HasSynced) {
					wrong.add("a handler did not sync")
				}
				if err := informer.RemoveEventHandler(r); err != nil {
					wrong.add("RemoveEventHandler: %v", err)
				}
				churned.Add(1)
			}
		})
	}
	busy.Wait()

	truth := source.truth()
	settled := func() bool {
		for _, a := range stay {
			if !a.equals(truth) {
				return false
			}
		}
		return true
	}
	require.Eventually(t, settled, 10*time.Minute, 10*time.Millisecond, "a handler's account differs from the server's objects")
	stored := 0
	for g := range soakGroups {
		found, err := informer.GetIndexer().ByIndex("group", fmt.Sprint(g))
		require.NoError(t, err)
		for _, obj := range found {
			stored++
			require.Equal(t, truth[obj.(*metav1.PartialObjectMetadata).Name], version(obj))
		}
	}
	require.Len(t, truth, stored)
	require.Len(t, informer.GetIndexer().ListKeys(), stored)
	require.Empty(t, wrong.all())
	require.Positive(t, churned.Load())
	t.Logf("%d changes, %d handlers came and went", source.version, churned.Load())
}

// faults collects what went wrong in goroutines that can't fail the test.
type faults struct {
	mu  sync.Mutex
	few []string
}

func (f *faults) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.few) < 10 {
		f.few = append(f.few, fmt.Sprintf(format, args...))
	}
}

func (f *faults) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.few
}

// An account is a handler that keeps the version of each object it was told of.
type account struct {
	mu       sync.Mutex
	versions map[string]int
	wrong    *faults
}

func (a *account) OnAdd(obj any, _ bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := obj.(*metav1.PartialObjectMetadata).Name
	if had, ok := a.versions[name]; ok {
		a.wrong.add("%s was added at version %d, though it was there at %d", name, version(obj), had)
	}
	a.versions[name] = version(obj)
}

func (a *account) OnUpdate(old, obj any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := obj.(*metav1.PartialObjectMetadata).Name
	if had, ok := a.versions[name]; !ok || had != version(old) || had > version(obj) {
		a.wrong.add("%s was updated from version %d to %d, though it was at %d", name, version(old), version(obj), had)
	}
	a.versions[name] = version(obj)
}

func (a *account) OnDelete(obj any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if _, ok := a.versions[name]; !ok {
		a.wrong.add("%s was deleted, though it was not there", name)
	}
	delete(a.versions, name)
}

func (a *account) equals(truth map[string]int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.versions) != len(truth) {
		return false
	}
	for name, v := range truth {
		if a.versions[name] != v {
			return false
		}
	}
	return true
}
