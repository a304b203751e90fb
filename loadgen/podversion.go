package loadgen

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A podVersion is one version of a pod and what belongs to it alone, in one
// piece of memory. All else it shares, as objects are read-only:
//
//   - with the pods of its template: the spec, the labels, the annotations, the
//     owner, the texts in managedFields;
//   - with what changed in the same second: conditions, times, since when a
//     container runs;
//   - with the pods of its node: the node's name and address.
//
// Versions share nothing that one of them could change: a change makes new ones
// of these.
type podVersion struct {
	corev1.Pod
	podParts
	containers [1]corev1.ContainerStatus
	ips        [1]corev1.PodIP
}

type podMetadata struct {
	metav1.PartialObjectMetadata
	podParts
}

type podParts struct{ managed [2]metav1.ManagedFieldsEntry }

// object makes a version of the pod.
func (m *podMaker) object(p *pod, t *template, names podNames) Object {
	if m.spec.Kind == kindMetadata {
		v := new(podMetadata)
		v.TypeMeta = podType
		m.setMeta(&v.ObjectMeta, &v.podParts, p, t, names)
		return &v.PartialObjectMetadata
	}
	v := new(podVersion)
	v.TypeMeta, v.Spec = podType, commonPodSpec
	v.Spec.Volumes, v.Spec.Containers = t.volumes, t.containers
	m.setMeta(&v.ObjectMeta, &v.podParts, p, t, names)
	if p.bound {
		v.Spec.NodeName = m.nodes[p.node].name
	}
	m.setStatus(v, p, t, names)
	return &v.Pod
}

func (m *podMaker) setMeta(meta *metav1.ObjectMeta, parts *podParts, p *pod, t *template, names podNames) {
	*meta = t.meta
	meta.Name, meta.UID, meta.ResourceVersion = names.name, names.uid, names.version
	meta.CreationTimestamp = m.moments.at(p.created).time
	if p.bound {
		meta.Labels = t.labels(p.node % zones)
	}
	annotate(meta, m.text(m.identity, p.birth))
	if p.leaving {
		meta.Generation = 2
		meta.DeletionTimestamp = &m.moments.at(p.terminated + 30).time
		meta.DeletionGracePeriodSeconds = commonPodSpec.TerminationGracePeriodSeconds
	}
	if m.spec.ManagedFields {
		parts.managed[0] = managedBy("kube-controller-manager", "v1", &m.moments.at(p.created).time, t.created, "")
		meta.ManagedFields = parts.managed[:1:1]
		if p.container != absent {
			fields := statusFields
			if p.container == waiting {
				fields = statusFieldsNoIP
			}
			parts.managed[1] = managedBy("kubelet", "v1", &m.moments.at(p.reported).time, fields, "status")
			meta.ManagedFields = parts.managed[:]
		}
	}
}

// podNames are the texts that no two pods share; two versions of a pod differ
// in the last one.
type podNames struct {
	name    string
	uid     types.UID
	ip      string
	version string
}

// names writes them all into one string.
func (m *podMaker) names(birth uint32, t *template, version uint64) podNames {
	b, end := m.appendNames(make([]byte, 0, 128), birth, t)
	s := string(strconv.AppendUint(b, version, 10))
	names := cutNames(s, 0, end)
	names.version = s[end[2]:]
	return names
}

// appendNames appends a pod's name, UID and address, and tells where each ends.
func (m *podMaker) appendNames(b []byte, birth uint32, t *template) (_ []byte, end [3]int) {
	b = appendNameSuffix(append(b, t.meta.GenerateName...), birth)
	end[0] = len(b)
	b = m.appendUID(b, birth)
	end[1] = len(b)
	b = appendAddress(b, 11, int(birth)+1)
	end[2] = len(b)
	return b, end
}

func cutNames(s string, begin int, end [3]int) podNames {
	return podNames{name: s[begin:end[0]], uid: types.UID(s[end[0]:end[1]]), ip: s[end[1]:end[2]]}
}
