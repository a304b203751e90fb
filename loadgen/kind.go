package loadgen

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What the API calls each kind.
var (
	podType    = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
	nodeType   = metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}
	leaseType  = metav1.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1"}
	sliceType  = metav1.TypeMeta{Kind: "EndpointSlice", APIVersion: "discovery.k8s.io/v1"}
	customType = metav1.TypeMeta{Kind: "Widget", APIVersion: "example.com/v1"}
)

func emptyObject(kind string) Object {
	switch kind {
	case kindNode:
		return &corev1.Node{TypeMeta: nodeType}
	case kindLease:
		return &coordinationv1.Lease{TypeMeta: leaseType}
	case kindEndpointSlice:
		return &discoveryv1.EndpointSlice{TypeMeta: sliceType}
	case kindCustom:
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": customType.APIVersion, "kind": customType.Kind}}
	case kindMetadata:
		return &metav1.PartialObjectMetadata{TypeMeta: podType}
	}
	return &corev1.Pod{TypeMeta: podType}
}
