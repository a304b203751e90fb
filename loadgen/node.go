package loadgen

import (
	"fmt"
	"slices"
	"strconv"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const zones = 3

// A node is where a pod runs, as far as the pod shows it.
type node struct{ name, zone, ip string }

func newNode(n uint32) node {
	return node{name: nodeName(n), zone: zoneName(int(n % zones)), ip: address(10, int(n))}
}

func nodeName(n uint32) string { return "node-" + strconv.Itoa(int(n)) }

func zoneName(zone int) string { return "region-1" + string(rune('a'+zone)) }

// address returns the n-th address of a /8 network.
func address(network, n int) string { return string(appendAddress(nil, network, n)) }

func appendAddress(b []byte, network, n int) []byte {
	for i, part := range [...]int{network, n >> 16 & 255, n >> 8 & 255, n & 255} {
		if i > 0 {
			b = append(b, '.')
		}
		b = strconv.AppendUint(b, uint64(part), 10)
	}
	return b
}

// A nodeModel makes nodes as kubelets report them: 5 KB, each change a report
// of the status.
type nodeModel struct {
	*stamp
	managed bool
	images  []corev1.ContainerImage
	info    corev1.NodeSystemInfo
	size    corev1.ResourceList
}

func newNodeModel(s *stamp, managed bool) *nodeModel {
	m := &nodeModel{stamp: s, managed: managed}
	for i := range 10 {
		name := components[i%len(components)]
		m.images = append(m.images, corev1.ContainerImage{
			Names:     []string{fmt.Sprintf("registry.example.com/team-%d/%s-%d:1.%d.0", i, name, i, i)},
			SizeBytes: 40_000_000 + 29_200_000*int64(i),
		})
	}
	m.images = slices.Clip(m.images)
	m.info = corev1.NodeSystemInfo{
		KernelVersion: "6.8.0", OSImage: "Debian GNU/Linux 13 (trixie)", ContainerRuntimeVersion: "containerd://2.1.4",
		KubeletVersion: "v1.36.3", OperatingSystem: "linux", Architecture: "amd64",
	}
	m.size = corev1.ResourceList{
		corev1.ResourceCPU: quantity("8"), corev1.ResourceMemory: quantity("32Gi"),
		corev1.ResourceEphemeralStorage: quantity("100Gi"), corev1.ResourcePods: quantity("110"),
	}
	return m
}

func (m *nodeModel) meta(meta *metav1.ObjectMeta, e entity) {
	node := newNode(e.birth)
	meta.Name = node.name
	meta.Labels = map[string]string{
		"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
		"kubernetes.io/hostname": meta.Name, "node.kubernetes.io/instance-type": "general-8",
		"topology.kubernetes.io/region": "region-1", "topology.kubernetes.io/zone": node.zone,
	}
	meta.Annotations = map[string]string{"node.alpha.kubernetes.io/ttl": "15", "volumes.kubernetes.io/controller-managed-attach-detach": "true"}
}

func (m *nodeModel) create(meta metav1.ObjectMeta, _ uint32, e entity, payload string) Object {
	annotate(&meta, payload)
	cidr := fmt.Sprintf("12.%d.%d.0/24", e.birth>>8&255, e.birth&255)
	if m.managed {
		meta.ManagedFields = []metav1.ManagedFieldsEntry{
			managedBy("kube-controller-manager", "v1", &m.now.time, metav1.NewFieldsV1(fmt.Sprintf(nodeSpecFields, cidr)), ""),
			managedBy("kubelet", "v1", &m.now.time, nodeLabelFields, ""),
			managedBy("kubelet", "v1", &m.now.time, nodeStatusFields, "status"),
		}
	}
	node := &corev1.Node{
		TypeMeta:   nodeType,
		ObjectMeta: meta,
		Spec:       corev1.NodeSpec{PodCIDR: cidr, PodCIDRs: []string{cidr}, ProviderID: "bench://" + meta.Name},
		Status: corev1.NodeStatus{
			Capacity: m.size, Allocatable: m.size, NodeInfo: m.info, Images: m.images,
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address(10, int(e.birth))}, {Type: corev1.NodeHostName, Address: meta.Name}},
		},
	}
	node.Status.Conditions = make([]corev1.NodeCondition, nodeConditions)
	m.setConditions(node.Status.Conditions, m.now.time)
	return node
}

// A nodeVersion is a node with what changes with each report.
type nodeVersion struct {
	corev1.Node
	managed    [3]metav1.ManagedFieldsEntry
	conditions [nodeConditions]corev1.NodeCondition
}

func (m *nodeModel) renew(old Object, _ draw) Object {
	was := old.(*corev1.Node)
	v := &nodeVersion{Node: *was}
	m.setConditions(v.conditions[:], was.Status.Conditions[0].LastTransitionTime)
	v.Status.Conditions = v.conditions[:]
	if m.managed {
		copy(v.managed[:], was.ManagedFields)
		v.managed[2].Time = &m.now.time
		v.ManagedFields = v.managed[:]
	}
	return &v.Node
}

const nodeConditions = 5

// setConditions are those of a healthy node that reports now.
func (m *nodeModel) setConditions(to []corev1.NodeCondition, since metav1.Time) {
	set := func(i int, kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) {
		to[i] = corev1.NodeCondition{Type: kind, Status: status, LastHeartbeatTime: m.now.time, LastTransitionTime: since, Reason: reason, Message: message}
	}
	set(0, corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status")
	set(1, corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available")
	set(2, corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure")
	set(3, corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available")
	set(4, corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "RouteCreated", "RouteController created a route")
}

// A leaseModel makes the leases by which kubelets show that their nodes live.
type leaseModel struct {
	*stamp
	identity
	managed bool
}

func (m *leaseModel) meta(meta *metav1.ObjectMeta, e entity) {
	meta.Name, meta.Namespace = nodeName(e.birth), corev1.NamespaceNodeLease
}

// leaseParts are what all versions of a lease share.
type leaseParts struct {
	owner  [1]metav1.OwnerReference
	holder string
}

// A leaseVersion is a lease with what changes with each renewal.
type leaseVersion struct {
	coordinationv1.Lease
	managed [1]metav1.ManagedFieldsEntry
}

func (m *leaseModel) create(meta metav1.ObjectMeta, _ uint32, e entity, payload string) Object {
	annotate(&meta, payload)
	owner := newUID(m.hash(uint64(e.birth)<<32), m.hash(uint64(e.birth)<<32+1))
	parts := &leaseParts{holder: meta.Name}
	parts.owner[0] = metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: meta.Name, UID: owner}
	meta.OwnerReferences = parts.owner[:]
	v := &leaseVersion{Lease: coordinationv1.Lease{TypeMeta: leaseType, ObjectMeta: meta}}
	v.Spec = coordinationv1.LeaseSpec{HolderIdentity: &parts.holder, LeaseDurationSeconds: &leaseDuration, RenewTime: &m.now.micro}
	if m.managed {
		v.managed[0] = managedBy("kubelet", leaseType.APIVersion, &m.now.time, ownedFields(leaseFields, owner), "")
		v.ManagedFields = v.managed[:]
	}
	return &v.Lease
}

var leaseDuration = int32(40)

func (m *leaseModel) renew(old Object, _ draw) Object {
	was := old.(*coordinationv1.Lease)
	v := &leaseVersion{Lease: *was}
	v.Spec.RenewTime = &m.now.micro
	if m.managed {
		v.managed[0] = was.ManagedFields[0]
		v.managed[0].Time = &m.now.time
		v.ManagedFields = v.managed[:]
	}
	return &v.Lease
}

func managedBy(manager, version string, at *metav1.Time, fields *metav1.FieldsV1, subresource string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: version,
		Time: at, FieldsType: "FieldsV1", FieldsV1: fields, Subresource: subresource,
	}
}
