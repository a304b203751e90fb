package election

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// NewConfigMapLock returns a lock that keeps the record in the annotation
// control-plane.alpha.kubernetes.io/leader of a ConfigMap, where electors of
// before Kubernetes 1.20 look for it. It leaves the rest of the object as it is.
func NewConfigMapLock(client corev1client.ConfigMapsGetter, namespace, name string, config resourcelock.ResourceLockConfig) resourcelock.Interface {
	if client == nil {
		panic("election.NewConfigMapLock: client is nil, expected one, such as a clientset's CoreV1()")
	}
	return &annotationLock[*corev1.ConfigMap]{
		kind: "ConfigMap", namespace: namespace, name: name, config: config, client: client.ConfigMaps(namespace),
		blank: func(meta metav1.ObjectMeta) *corev1.ConfigMap { return &corev1.ConfigMap{ObjectMeta: meta} },
	}
}

// NewEndpointsLock is NewConfigMapLock on an Endpoints object.
func NewEndpointsLock(client corev1client.EndpointsGetter, namespace, name string, config resourcelock.ResourceLockConfig) resourcelock.Interface {
	if client == nil {
		panic("election.NewEndpointsLock: client is nil, expected one, such as a clientset's CoreV1()")
	}
	//lint:ignore SA1019 old electors keep their record on this deprecated kind
	return &annotationLock[*corev1.Endpoints]{
		kind: "Endpoints", namespace: namespace, name: name, config: config, client: client.Endpoints(namespace),
		//lint:ignore SA1019 as above
		blank: func(meta metav1.ObjectMeta) *corev1.Endpoints { return &corev1.Endpoints{ObjectMeta: meta} },
	}
}

type annotatable interface {
	metav1.Object
	runtime.Object
}

// objectClient is what the clientset's clients of all kinds have.
type objectClient[T annotatable] interface {
	Get(context.Context, string, metav1.GetOptions) (T, error)
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
}

// annotationLock keeps the object that the server answered last: its resource
// version is what makes an update fail that comes second.
type annotationLock[T annotatable] struct {
	kind, namespace, name string
	config                resourcelock.ResourceLockConfig
	client                objectClient[T]
	blank                 func(metav1.ObjectMeta) T
	object                T
	known                 bool
}

func (l *annotationLock[T]) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	object, err := l.client.Get(ctx, l.name, metav1.GetOptions{})
	if err != nil {
		return nil, nil, err
	}
	var record resourcelock.LeaderElectionRecord
	raw := object.GetAnnotations()[resourcelock.LeaderElectionRecordAnnotationKey]
	if raw != "" { // without one nobody leads
		if err := json.Unmarshal([]byte(raw), &record); err != nil {
			return nil, nil, fmt.Errorf("%s %s: annotation %s: found %q, expected a leader election record: %w",
				l.kind, l.Describe(), resourcelock.LeaderElectionRecordAnnotationKey, raw, err)
		}
	}
	l.object, l.known = object, true
	return &record, []byte(raw), nil
}

func (l *annotationLock[T]) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	object := l.blank(metav1.ObjectMeta{Namespace: l.namespace, Name: l.name})
	if err := annotate(object, record); err != nil {
		return err
	}
	object, err := l.client.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	l.object, l.known = object, true
	return nil
}

func (l *annotationLock[T]) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if !l.known {
		return errors.New("update of a lock that was neither read nor created")
	}
	// A copy: the one that is kept stays what the server answered.
	object := l.object.DeepCopyObject().(T)
	if err := annotate(object, record); err != nil {
		return err
	}
	object, err := l.client.Update(ctx, object, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	l.object = object
	return nil
}

// A preciseRecord is the JSON of a record with all of its times: metav1.Time
// writes whole seconds, and reads fractions. Of renewals within one second the
// others would see the first only, and wait from there.
type preciseRecord struct {
	resourcelock.LeaderElectionRecord
	AcquireTime time.Time `json:"acquireTime"`
	RenewTime   time.Time `json:"renewTime"`
}

func annotate(object metav1.Object, record resourcelock.LeaderElectionRecord) error {
	raw, err := json.Marshal(preciseRecord{record, record.AcquireTime.UTC(), record.RenewTime.UTC()})
	if err != nil {
		return err
	}
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[resourcelock.LeaderElectionRecordAnnotationKey] = string(raw)
	object.SetAnnotations(annotations)
	return nil
}

// RecordEvent records an event about the object, as client-go's Lease lock does.
func (l *annotationLock[T]) RecordEvent(message string) {
	if l.config.EventRecorder == nil || !l.known {
		return
	}
	object := l.object.DeepCopyObject()
	object.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(l.kind))
	l.config.EventRecorder.Eventf(object, corev1.EventTypeNormal, "LeaderElection", "%s %s", l.config.Identity, message)
}

func (l *annotationLock[T]) Identity() string { return l.config.Identity }
func (l *annotationLock[T]) Describe() string { return l.namespace + "/" + l.name }
