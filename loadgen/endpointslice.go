package loadgen

import (
	"maps"
	"slices"
	"strconv"

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
	pods    *podMaker // nil: none to follow
	members []members // by key, of slices that follow pods

	// the annotations of all slices that change within a second
	annotated   *moment
	annotations map[string]string
}

// members are a slice's endpoints, and the births of the pods that they are.
//
// Versions share the array until an endpoint that an earlier version has
// changes: an endpoint that comes is put behind them.
type members struct {
	endpoints []discoveryv1.Endpoint
	births    []uint32
}

// A sliceVersion is a slice with what changes with each version.
type sliceVersion struct {
	discoveryv1.EndpointSlice
	managed [1]metav1.ManagedFieldsEntry
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
	meta.Annotations = map[string]string{corev1.EndpointsLastChangeTriggerTime: m.now.text}
	owner := newUID(m.hash(uint64(group)<<32), m.hash(uint64(group)<<32+1))
	meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Service", Name: app, UID: owner, Controller: &yes, BlockOwnerDeletion: &yes}}
}

var yes, no = true, false

var slicePorts = []discoveryv1.EndpointPort{{Name: new("http"), Protocol: new(corev1.ProtocolTCP), Port: new(int32(8080))}}

func (m *sliceModel) create(meta metav1.ObjectMeta, key uint32, e entity, payload string) Object {
	annotate(&meta, payload)
	if m.spec.ManagedFields {
		fields := ownedFields(sliceFields, meta.OwnerReferences[0].UID)
		meta.ManagedFields = []metav1.ManagedFieldsEntry{managedBy("kube-controller-manager", sliceType.APIVersion, &m.now.time, fields, "")}
	}
	slice := &discoveryv1.EndpointSlice{TypeMeta: sliceType, ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4, Ports: slicePorts}
	if m.pods != nil {
		slice.Endpoints = m.pods.endpoints(key)
		return slice
	}
	for i := range m.spec.Replicas {
		n := m.hash(uint64(e.birth)<<32 + uint64(i) + 1<<24)
		node := newNode(uint32(n % 5000))
		pod := appName(int(e.group)) + "-" + suffix(n>>24, 10) + "-" + suffix(n>>24, 5)
		slice.Endpoints = append(slice.Endpoints, new(endpointParts).endpoint(address(11, int(n&(1<<24-1))), &node, meta.Namespace, pod, newUID(n, mix64(n))))
	}
	return slice
}

func (m *sliceModel) renew(old Object, d draw) Object {
	was := old.(*discoveryv1.EndpointSlice)
	v := &sliceVersion{EndpointSlice: *was}
	v.Generation++
	v.Annotations = m.triggered(was.Annotations)
	if m.spec.ManagedFields {
		v.managed[0] = was.ManagedFields[0]
		v.managed[0].Time = &m.now.time
		v.ManagedFields = v.managed[:]
	}
	if m.pods != nil {
		v.Endpoints = m.follow(d.key, was.Endpoints)
	} else if n := len(was.Endpoints); n > 0 && d.stage != deleted {
		v.Endpoints = cloned(was.Endpoints)
		flip := &v.Endpoints[int(v.Generation)%n].Conditions
		if *flip.Ready {
			*flip = endpointUnready
		} else {
			*flip = endpointReady
		}
	}
	return &v.EndpointSlice
}

// triggered are a slice's annotations as the present change leaves them. Most
// slices have no others than the one that changes, and share them.
func (m *sliceModel) triggered(old map[string]string) map[string]string {
	if len(old) == 1 && m.annotated == m.now {
		return m.annotations
	}
	annotations := maps.Clone(old)
	annotations[corev1.EndpointsLastChangeTriggerTime] = m.now.text
	if len(old) == 1 {
		m.annotated, m.annotations = m.now, annotations
	}
	return annotations
}

var (
	endpointReady   = discoveryv1.EndpointConditions{Ready: &yes, Serving: &yes, Terminating: &no}
	endpointUnready = discoveryv1.EndpointConditions{Ready: &no, Serving: &no, Terminating: &no}
	endpointLeaving = discoveryv1.EndpointConditions{Ready: &no, Serving: &yes, Terminating: &yes}
)

// An endpointParts is what an endpoint points to.
type endpointParts struct {
	target  corev1.ObjectReference
	address [1]string
}

func (p *endpointParts) endpoint(ip string, on *node, namespace, pod string, uid types.UID) discoveryv1.Endpoint {
	p.target = corev1.ObjectReference{Kind: podType.Kind, Namespace: namespace, Name: pod, UID: uid}
	p.address[0] = ip
	return discoveryv1.Endpoint{Addresses: p.address[:], Conditions: endpointReady, NodeName: &on.name, Zone: &on.zone, TargetRef: &p.target}
}

// endpoints are those that a slice has at the start.
func (m *podMaker) endpoints(slice uint32) []discoveryv1.Endpoint {
	births := m.birthsOf(slice)
	all := make([]discoveryv1.Endpoint, len(births))
	parts := make([]endpointParts, len(births)) // in one piece, as their names are: they all come at once
	ends := make([][3]int, len(births))
	text := make([]byte, 0, 96*len(births))
	t := m.template(&pod{group: slice / uint32(m.slices)})
	for i, birth := range births {
		text, ends[i] = m.appendNames(text, birth, t)
	}
	names, begin := string(text), 0
	for i, birth := range births {
		all[i] = m.endpoint(m.initialNode(birth), t, &parts[i], cutNames(names, begin, ends[i]))
		begin = ends[i][2]
	}
	return all
}

// birthsOf are those of the pods that a slice has at the start, which are their
// keys too.
func (m *podMaker) birthsOf(slice uint32) []uint32 {
	var births []uint32
	group, part := int(slice)/m.slices, int(slice)%m.slices
	for key := group; key < m.spec.Count; key += m.groups {
		if key%m.slices == part {
			births = append(births, uint32(key))
		}
	}
	return births
}

func (m *podMaker) endpoint(node uint32, t *template, parts *endpointParts, names podNames) discoveryv1.Endpoint {
	return parts.endpoint(names.ip, &m.nodes[node], t.meta.Namespace, names.name, names.uid)
}

// follow changes the endpoint of the pod that has just changed, and returns
// the endpoints of the slice's next version.
func (m *sliceModel) follow(key uint32, was []discoveryv1.Endpoint) []discoveryv1.Endpoint {
	for int(key) >= len(m.members) {
		m.members = append(m.members, members{})
	}
	all := &m.members[key]
	if all.births == nil {
		*all = members{was, m.pods.birthsOf(key)}
	}
	pod := &m.pods.last
	i := slices.Index(all.births, pod.birth)
	switch {
	case pod.stage == deleted:
		if i >= 0 {
			all.remove(i)
		}
	case i < 0:
		i = len(all.births)
		all.add(pod, m.pods.endpoint(pod.node, m.pods.template(pod), new(endpointParts), m.pods.lastNames))
	}
	switch pod.stage {
	case unready:
		all.set(i, endpointUnready)
	case terminating:
		all.set(i, endpointLeaving)
	}
	return slices.Clip(all.endpoints) // nobody else may append
}

func (m *members) add(p *pod, e discoveryv1.Endpoint) {
	m.endpoints, m.births = append(m.endpoints, e), append(m.births, p.birth)
}

func (m *members) remove(i int) {
	rest := make([]discoveryv1.Endpoint, 0, len(m.endpoints))
	m.endpoints = append(append(rest, m.endpoints[:i]...), m.endpoints[i+1:]...)
	m.births = slices.Delete(m.births, i, i+1)
}

func (m *members) set(i int, c discoveryv1.EndpointConditions) {
	m.endpoints = slices.Clone(m.endpoints)
	m.endpoints[i].Conditions = c
}

func appName(group int) string { return components[group%len(components)] + "-" + strconv.Itoa(group) }
