package e2e

import (
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A kind is a population of the cluster.
type kind struct {
	schema.GroupVersionResource
	count  int
	object runtime.Object // of its type
	list   func() runtime.Object
	make   func(i int) runtime.Object
	global bool // has no namespace
}

const namespaces = 10

// namespace returns where the i-th object is.
func (k kind) namespace(i int) string {
	if k.global {
		return ""
	}
	return fmt.Sprintf("team-%d", i%namespaces)
}

func (k kind) name(i int) string {
	return fmt.Sprintf("%s-%05d", strings.TrimSuffix(k.Resource, "s"), i)
}

// ours selects what the tests made; the server keeps a lease and a service of its own.
const ours = "tier=backend"

// meta makes the i-th object's metadata, with labels in the shape of a workload's.
func (k kind) meta(i int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: k.namespace(i),
		Name:      k.name(i),
		Labels:    map[string]string{"app": fmt.Sprintf("app-%d", i%50), "tier": "backend"},
	}
}

// uncached is the kind that the server is told to serve without a watch cache, so
// that etcd's compaction reaches its watches.
const uncached = "leases.coordination.k8s.io"

// kinds returns what the cluster holds, in the order of its creation.
func kinds() []kind {
	node := kind{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, count: 200, global: true,
		object: &corev1.Node{}, list: func() runtime.Object { return &corev1.NodeList{} }}
	node.make = func(i int) runtime.Object {
		capacity := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi")}
		return &corev1.Node{ObjectMeta: node.meta(i), Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity}}
	}
	lease := kind{GroupVersionResource: schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, count: 200,
		object: &coordinationv1.Lease{}, list: func() runtime.Object { return &coordinationv1.LeaseList{} }}
	lease.make = func(i int) runtime.Object {
		holder, seconds, renewed := node.name(i), int32(40), metav1.NowMicro()
		return &coordinationv1.Lease{ObjectMeta: lease.meta(i),
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &renewed}}
	}
	slice := kind{GroupVersionResource: schema.GroupVersionResource{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}, count: 100,
		object: &discoveryv1.EndpointSlice{}, list: func() runtime.Object { return &discoveryv1.EndpointSliceList{} }}
	slice.make = func(i int) runtime.Object {
		s := &discoveryv1.EndpointSlice{ObjectMeta: slice.meta(i), AddressType: discoveryv1.AddressTypeIPv4}
		for e := range 50 {
			s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf("10.1.%d.%d", i, e)}})
		}
		return s
	}
	pod := kind{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, count: 3000,
		object: &corev1.Pod{}, list: func() runtime.Object { return &corev1.PodList{} }}
	pod.make = func(i int) runtime.Object {
		p := &corev1.Pod{ObjectMeta: pod.meta(i)}
		p.Annotations = map[string]string{"made": time.Now().Format(time.RFC3339Nano)}
		p.Spec.NodeName = node.name(i % node.count)
		p.Spec.Containers = []corev1.Container{{
			Name:  "main",
			Image: "registry.example.com/app:v1.2.3",
			Env:   []corev1.EnvVar{{Name: "SHARD", Value: fmt.Sprint(i)}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
			}},
		}}
		return p
	}
	return []kind{node, lease, slice, pod}
}
