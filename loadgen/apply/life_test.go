package apply

import (
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informerbench/informerbench/loadgen"
)

// A list is a stream of given events.
type list struct{ events []loadgen.Event }

func (l *list) Next() (e loadgen.Event, err error) {
	if len(l.events) == 0 {
		return e, io.EOF
	}
	e, l.events = l.events[0], l.events[1:]
	return e, nil
}

// life are the events of one pod, a second apart.
func life() []loadgen.Event {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: "u", ResourceVersion: "7"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	bound := pod.DeepCopy()
	bound.Spec.NodeName = "node-1"
	running := bound.DeepCopy()
	running.Status.Phase = corev1.PodRunning
	ending := running.DeepCopy()
	ending.DeletionTimestamp = &metav1.Time{Time: time.Unix(9, 0)}
	var events []loadgen.Event
	for i, p := range []*corev1.Pod{pod, bound, running, ending, ending} {
		kind := watch.Modified
		switch i {
		case 0:
			kind = watch.Added
		case 4:
			kind = watch.Deleted
		}
		events = append(events, loadgen.Event{At: time.Duration(i) * time.Second, Type: kind, Object: p})
	}
	return events
}

func notFound(a clienttesting.Action) error {
	return apierrors.NewNotFound(a.GetResource().GroupResource(), "web-0")
}
