package loadgen

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A pod is what the maker keeps of one: the parts that differ from the pods of
// the same template. Versions are made of it and never written to once sent;
// so it only ever points to what no one writes to again.
type pod struct {
	meta     metav1.ObjectMeta
	status   corev1.PodStatus
	nodeName string
	template *template
	ip       string // from running on
	stage    stage
}

// A podMaker makes versions of pods.
type podMaker struct {
	*stamp
	*population
	identity
	payload
	first     uint64 // resource version of the first pod
	nodes     []node
	templates []*template // of each deployment's current revision
	originals []*template // of the initial population
	pods      []*pod      // by key, nil until the first event
	shared    shared
	last      *pod // that changed
	lastNode  uint32
}

func newPodMaker(s *stamp, p *population, id identity, first uint64) *podMaker {
	m := &podMaker{
		stamp: s, population: p, identity: id, first: first,
		nodes:     make([]node, len(p.nodes)),
		templates: make([]*template, p.groups),
		originals: make([]*template, p.groups),
		pods:      make([]*pod, len(p.entities), cap(p.entities)),
	}
	for i := range m.nodes {
		m.nodes[i] = newNode(uint32(i))
	}
	return m
}

// initial implements maker: a pod that runs since the begin.
func (m *podMaker) initial(key uint32) Object { return m.object(m.original(key)) }

// original makes a pod of the initial population.
func (m *podMaker) original(key uint32) *pod {
	group := int(key) % m.groups
	t := m.originals[group]
	if t == nil {
		t = m.newTemplate(group, 0, epoch)
		m.originals[group] = t
	}
	now := *m.stamp
	*m.stamp = begin
	m.version = m.first + uint64(key)
	p := m.create(t, key)
	m.enter(p, m.initialNode(key), running)
	*m.stamp = now
	return p
}

// change implements maker.
func (m *podMaker) change(d draw) Object {
	e := &m.entities[d.key]
	for int(d.key) >= len(m.pods) {
		m.pods = append(m.pods, nil)
	}
	if d.stage == pending {
		p := m.create(m.template(int(e.group)), e.birth)
		m.pods[d.key] = p
		m.last = p
		return m.object(p)
	}
	p := m.pods[d.key]
	if p == nil {
		p = m.original(d.key)
		m.pods[d.key] = p
	}
	m.last, m.lastNode = p, e.node
	p.meta.ResourceVersion = m.resourceVersion()
	m.enter(p, e.node, d.stage)
	if d.stage == deleted {
		m.pods[d.key] = nil
	}
	return m.object(p)
}

// template returns that of the deployment's current revision.
func (m *podMaker) template(group int) *template {
	revision := m.revision[group]
	t := m.templates[group]
	if t == nil || t.revision != revision {
		t = m.newTemplate(group, revision, m.now.Time)
		m.templates[group] = t
	}
	return t
}

// create makes a pod of the template.
func (m *podMaker) create(t *template, birth uint32) *pod {
	p := &pod{template: t, meta: t.pod.ObjectMeta, status: t.pod.Status, ip: address(11, int(birth)+1)}
	p.meta.Name = t.pod.GenerateName + nameSuffix(birth)
	p.meta.UID = m.uid(birth)
	annotate(&p.meta, m.text(m.identity, birth))
	p.meta.CreationTimestamp = *m.now
	p.meta.ResourceVersion = m.resourceVersion()
	if m.spec.ManagedFields {
		p.meta.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
			Time: m.now, FieldsType: "FieldsV1", FieldsV1: t.created,
		}}
	}
	return p
}

// object makes the pod's present version.
func (m *podMaker) object(p *pod) Object {
	if m.spec.Kind == kindMetadata {
		return &metav1.PartialObjectMetadata{TypeMeta: podType, ObjectMeta: p.meta}
	}
	o := new(corev1.Pod)
	*o = p.template.pod
	o.ObjectMeta, o.Status = p.meta, p.status
	o.Spec.NodeName = p.nodeName
	return o
}

// enter changes the pod as it enters the stage, and the stages before running
// that it has left out. What hangs off it by pointer is replaced and not
// written to: versions share it.
func (m *podMaker) enter(p *pod, node uint32, s stage) {
	if s == running {
		for between := p.stage + 1; between < running; between++ {
			m.enter(p, node, between)
		}
	}
	p.stage = s
	switch s {
	case scheduled:
		p.meta.Labels = p.template.zones[node%zones]
	case terminating:
		m.terminate(p)
	case deleted:
		if p.meta.DeletionTimestamp == nil {
			m.terminate(p)
		}
	}
	if m.spec.Kind == kindPod {
		m.enterStatus(p, node, s)
	}
	if m.spec.ManagedFields && s >= creating && s <= finished && s != terminating {
		m.manageStatus(p)
	}
	if s == restarted {
		p.stage = running
	}
}

func (m *podMaker) terminate(p *pod) {
	p.meta.Generation = 2
	p.meta.DeletionTimestamp = &metav1.Time{Time: m.now.Add(30 * time.Second)}
	p.meta.DeletionGracePeriodSeconds = p.template.pod.Spec.TerminationGracePeriodSeconds
}
