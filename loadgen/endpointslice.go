package loadgen

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A sliceModel makes endpoint slices of services. With pods to follow, their
// endpoints are those pods, and change with them; else they are made up, and
// one of them turns unready, or ready again, with each change.
type sliceModel struct {
	*stamp
	*population
	identity
	pods *podMaker // nil: none to follow
}

func (m *sliceModel) meta(meta *metav1.ObjectMeta, e entity) {
	group, space := int(e.group), m.population
	if m.pods != nil {
		group, space = int(e.birth)/m.pods.slices, m.pods.population
	}
	app := appName(group)
	meta.Namespace = space.namespace(group % space.spec.Namespaces)
	meta.GenerateName = app + "-"
	meta.Name = meta.GenerateName + nameSuffix(e.birth)
	meta.Generation = 1
	meta.Labels = map[string]string{
		"app.kubernetes.io/name": app, "app.kubernetes.io/part-of": meta.Namespace,
		discoveryv1.LabelManagedBy: "endpointslice-controller.k8s.io", discoveryv1.LabelServiceName: app,
	}
	meta.Annotations = map[string]string{corev1.EndpointsLastChangeTriggerTime: m.now.Format(time.RFC3339)}
	owner := newUID(m.hash(uint64(group)<<32), m.hash(uint64(group)<<32+1))
	meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Service", Name: app, UID: owner, Controller: &yes, BlockOwnerDeletion: &yes}}
}

var yes, no = true, false

var slicePorts = []discoveryv1.EndpointPort{{Name: new("http"), Protocol: new(corev1.ProtocolTCP), Port: new(int32(8080))}}

func (m *sliceModel) create(meta metav1.ObjectMeta, key uint32, e entity, payload string) Object {
	annotate(&meta, payload)
	if m.spec.ManagedFields {
		fields := fmt.Sprintf(sliceFields, meta.OwnerReferences[0].UID)
		meta.ManagedFields = []metav1.ManagedFieldsEntry{managedBy("kube-controller-manager", sliceType.APIVersion, m.now, metav1.NewFieldsV1(fields), "")}
	}
	slice := &discoveryv1.EndpointSlice{TypeMeta: sliceType, ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4, Ports: slicePorts}
	if m.pods != nil {
		slice.Endpoints = m.pods.endpoints(key)
		return slice
	}
	for i := range m.spec.Replicas {
		n := m.hash(uint64(e.birth)<<32 + uint64(i) + 1<<24)
		node := newNode(uint32(n % 5000))
		pod := appName(int(e.group)) + "-" + suffix(int(n>>24), 10) + "-" + suffix(int(n>>24), 5)
		slice.Endpoints = append(slice.Endpoints, endpoint(address(11, int(n&(1<<24-1))), &node, meta.Namespace, pod, newUID(n, mix64(n))))
	}
	return slice
}

func (m *sliceModel) renew(old Object, d draw) Object {
	slice := *old.(*discoveryv1.EndpointSlice)
	slice.Generation++
	annotations := make(map[string]string, len(slice.Annotations))
	for k, v := range slice.Annotations {
		annotations[k] = v
	}
	annotations[corev1.EndpointsLastChangeTriggerTime] = m.now.Format(time.RFC3339)
	slice.Annotations = annotations
	if m.spec.ManagedFields {
		entry := slice.ManagedFields[0]
		entry.Time = m.now
		slice.ManagedFields = []metav1.ManagedFieldsEntry{entry}
	}
	slice.Endpoints = slices.Clone(slice.Endpoints)
	if m.pods != nil {
		slice.Endpoints = m.pods.moveEndpoint(slice.Endpoints)
	} else if n := len(slice.Endpoints); n > 0 && d.stage != deleted {
		flip := &slice.Endpoints[int(slice.Generation)%n].Conditions
		if *flip.Ready {
			*flip = endpointUnready
		} else {
			*flip = endpointReady
		}
	}
	return &slice
}

var (
	endpointReady   = discoveryv1.EndpointConditions{Ready: &yes, Serving: &yes, Terminating: &no}
	endpointUnready = discoveryv1.EndpointConditions{Ready: &no, Serving: &no, Terminating: &no}
	endpointLeaving = discoveryv1.EndpointConditions{Ready: &no, Serving: &yes, Terminating: &yes}
)

func endpoint(ip string, on *node, namespace, pod string, uid types.UID) discoveryv1.Endpoint {
	return discoveryv1.Endpoint{
		Addresses: []string{ip}, Conditions: endpointReady, NodeName: &on.name, Zone: &on.zone,
		TargetRef: &corev1.ObjectReference{Kind: podType.Kind, Namespace: namespace, Name: pod, UID: uid},
	}
}

// endpoints are those that a slice has at the begin.
func (m *podMaker) endpoints(slice uint32) []discoveryv1.Endpoint {
	var all []discoveryv1.Endpoint
	group, part := int(slice)/m.slices, int(slice)%m.slices
	for key := group; key < m.spec.Count; key += m.groups {
		if key%m.slices == part {
			all = append(all, m.endpoint(m.original(uint32(key)), m.initialNode(uint32(key))))
		}
	}
	return all
}

func (m *podMaker) endpoint(p *pod, node uint32) discoveryv1.Endpoint {
	return endpoint(p.ip, &m.nodes[node], p.meta.Namespace, p.meta.Name, p.meta.UID)
}

// moveEndpoint changes the endpoint of the pod that has just changed.
func (m *podMaker) moveEndpoint(all []discoveryv1.Endpoint) []discoveryv1.Endpoint {
	i := slices.IndexFunc(all, func(e discoveryv1.Endpoint) bool { return e.TargetRef.Name == m.last.meta.Name })
	switch {
	case m.last.stage == deleted && i >= 0:
		return slices.Delete(all, i, i+1)
	case m.last.stage == deleted:
		return all
	case i < 0:
		i = len(all)
		all = append(all, m.endpoint(m.last, m.lastNode))
	}
	switch m.last.stage {
	case unready:
		all[i].Conditions = endpointUnready
	case terminating:
		all[i].Conditions = endpointLeaving
	}
	return all
}

func appName(group int) string { return components[group%len(components)] + "-" + strconv.Itoa(group) }
