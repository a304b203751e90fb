// Package apply writes a workload into a cluster: what the workload's events tell of is done
// to an API server, so that a real program can be driven by it.
//
//  1. Objects creates the namespaces and what there is at first, each with its status.
//  2. Events does each event when it is due: it creates, changes and deletes. A pod gets its
//     node as from a scheduler and its status as from a kubelet.
//
// What a server decides is left to it: uid, versions, times and owners. Writes to one object
// keep their order. Nothing is removed at the end, so that it can be looked at.
package apply

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/loadgen"
)

// A Writer writes into one cluster.
type Writer struct {
	Client dynamic.Interface
	Clock  clock.Clock // nil is the real one
	// Done is called after each write, from several goroutines, with how many there were;
	// nil for nobody.
	Done func(writes int64)

	writes     atomic.Int64
	namespaces sync.Map // of *sync.Once
	unbound    sync.Map // pods that were created without a node
	leaving    sync.Map // pods whose deletion was asked for
}

// Counts are what was written, and what was not there any more: a controller may delete
// what the workload made.
type Counts struct {
	Created, Changed, Deleted, Gone int64
	Late                            time.Duration // of the write that began the longest after it was due
}

const atOnce = 32 // writes that are under way

// Objects creates what the workload begins with.
func (w *Writer) Objects(ctx context.Context, g *loadgen.Generator) (Counts, error) {
	var created atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, object := range g.Population() {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			err := w.Create(ctx, object)
			if err == nil {
				created.Add(1)
			}
			return err
		})
	}
	err := group.Wait()
	return Counts{Created: created.Load()}, err
}

// Events does what the stream tells of, speed times as fast as it says (0: as fast as
// possible), and stops at what is due after duration, if that is not zero. It returns when
// all was written, or at the first error.
func (w *Writer) Events(ctx context.Context, stream loadgen.Stream, speed float64, duration time.Duration) (Counts, error) {
	if w.Clock == nil {
		w.Clock = clock.RealClock{}
	}
	var c counter
	group, ctx := errgroup.WithContext(ctx)
	lanes := make([]chan due, atOnce) // the writes of one object are in one lane, in order
	for i := range lanes {
		lanes[i] = make(chan due, 256)
		group.Go(func() error {
			for d := range lanes[i] {
				c.late(w.Clock.Since(d.at))
				if err := w.write(ctx, d.kind, d.object, &c); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer func() {
			for _, lane := range lanes {
				close(lane)
			}
		}()
		return w.send(ctx, stream, speed, duration, lanes)
	})
	err := group.Wait()
	return c.counts(), err
}

// A due is a write and when it is to begin.
type due struct {
	at     time.Time
	kind   watch.EventType
	object *unstructured.Unstructured
}

var seed = maphash.MakeSeed()

// send hands each event over when it is due.
func (w *Writer) send(ctx context.Context, stream loadgen.Stream, speed float64, duration time.Duration, lanes []chan due) error {
	begun := w.Clock.Now()
	for {
		event, err := stream.Next()
		switch {
		case errors.Is(err, io.EOF) || err == nil && duration > 0 && event.At > duration:
			return nil
		case err != nil:
			return err
		case event.Type == watch.Bookmark:
			continue
		}
		object, err := tree(event.Object)
		if err != nil {
			return err
		}
		at := begun
		if speed > 0 {
			at = begun.Add(time.Duration(float64(event.At) / speed))
		}
		if ahead := at.Sub(w.Clock.Now()); ahead > 0 {
			select {
			case <-w.Clock.After(ahead):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		lane := lanes[maphash.String(seed, object.GetKind()+"/"+key(object))%uint64(len(lanes))]
		select {
		case lane <- due{at, event.Type, object}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func key(u *unstructured.Unstructured) string { return u.GetNamespace() + "/" + u.GetName() }

// write does one event. What is gone already is counted.
func (w *Writer) write(ctx context.Context, kind watch.EventType, u *unstructured.Unstructured, c *counter) error {
	var count *atomic.Int64
	var err error
	switch kind {
	case watch.Added:
		count, err = &c.created, w.create(ctx, u)
	case watch.Modified:
		count, err = &c.changed, w.change(ctx, u)
	case watch.Deleted:
		count, err = &c.deleted, w.remove(ctx, u, 0)
	}
	if apierrors.IsNotFound(err) && kind != watch.Added {
		count, err = &c.gone, nil
	}
	if err == nil && count != nil {
		count.Add(1)
	}
	return err
}

// Create creates an object, and its namespace if there is none, and writes its status.
func (w *Writer) Create(ctx context.Context, object loadgen.Object) error {
	u, err := tree(object)
	if err != nil {
		return err
	}
	return w.create(ctx, u)
}

func (w *Writer) create(ctx context.Context, u *unstructured.Unstructured) error {
	if err := w.namespace(ctx, u.GetNamespace()); err != nil {
		return err
	}
	status, err := statusOf(u)
	if err != nil {
		return err
	}
	// A namespace's service account comes a moment after it.
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		_, err := w.client(u).Create(ctx, u, metav1.CreateOptions{})
		if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "serviceaccount") {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return named(u, err)
	}
	if isPod(u) && node(u) == "" {
		w.unbound.Store(key(u), true)
	}
	w.wrote()
	return w.patch(ctx, u, status, "status")
}

// change writes an object's next version.
func (w *Writer) change(ctx context.Context, u *unstructured.Unstructured) error {
	status, err := statusOf(u)
	if err != nil {
		return err
	}
	switch {
	case !isPod(u):
		body, meta := maps.Clone(u.Object), u.Object["metadata"].(map[string]any)
		maps.DeleteFunc(body, func(field string, _ any) bool { return field == "apiVersion" || field == "kind" })
		body["metadata"] = map[string]any{"labels": meta["labels"], "annotations": meta["annotations"]}
		if err := w.patch(ctx, u, body); err != nil {
			return err
		}
	case u.GetDeletionTimestamp() != nil:
		if _, again := w.leaving.LoadOrStore(key(u), true); !again {
			return w.remove(ctx, u, graceSeconds)
		}
	case node(u) != "":
		if _, waits := w.unbound.LoadAndDelete(key(u)); waits {
			if err := w.bind(ctx, u); err != nil {
				return err
			}
		}
	}
	return w.patch(ctx, u, status, "status")
}

// graceSeconds are how long a pod that is to be deleted may take to end: long enough that
// the workload's own event deletes it.
const graceSeconds = 600

// remove deletes an object; a pod that may take no time is gone at once.
func (w *Writer) remove(ctx context.Context, u *unstructured.Unstructured, grace int64) error {
	options := metav1.DeleteOptions{}
	if isPod(u) {
		options.GracePeriodSeconds = &grace
	}
	if grace == 0 {
		w.unbound.Delete(key(u))
		w.leaving.Delete(key(u))
	}
	err := w.client(u).Delete(ctx, u.GetName(), options)
	w.wrote()
	return named(u, err)
}

// bind gives a pod its node as a scheduler does.
func (w *Writer) bind(ctx context.Context, u *unstructured.Unstructured) error {
	binding := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Binding", "metadata": map[string]any{"name": u.GetName(), "namespace": u.GetNamespace()},
		"target": map[string]any{"apiVersion": "v1", "kind": "Node", "name": node(u)},
	}}
	_, err := w.client(u).Create(ctx, binding, metav1.CreateOptions{}, "binding")
	w.wrote()
	return named(u, err)
}

// namespace creates a namespace the first time that it is asked for.
func (w *Writer) namespace(ctx context.Context, name string) (err error) {
	if name == "" {
		return nil
	}
	once, _ := w.namespaces.LoadOrStore(name, new(sync.Once))
	once.(*sync.Once).Do(func() {
		space := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
		_, err = w.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(ctx, space, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			err = nil
		} else if err != nil {
			err = fmt.Errorf("namespace %s: %w", name, err)
		}
	})
	return err
}

func (w *Writer) wrote() {
	if n := w.writes.Add(1); w.Done != nil {
		w.Done(n)
	}
}
