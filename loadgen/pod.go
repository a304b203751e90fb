package loadgen

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A stage of a pod's life. A pod enters each by one event.
type stage uint8

const (
	pending     stage = iota // ADDED: created by its replica set
	scheduled                // bound to a node
	creating                 // the kubelet has seen it
	running                  // its containers are up and ready
	restarted                // a container died and came back before a probe saw it
	unready                  // its node no longer answers
	terminating              // deletion asked for
	finished                 // its containers have ended
	deleted                  // DELETED
)

// A pod is one object of the population. Its version is replaced, never
// written to, once it was sent.
type pod struct {
	version  Object
	meta     *metav1.ObjectMeta // the version's metadata
	full     *corev1.Pod        // the version, nil when the population is metadata only
	template *template
	node     int
	ip       string // from running on
	group    int    // its deployment, or its node where nodes fail
	stage    stage
}

// epoch is when every generated stream begins.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// A maker makes versions of pods at a point in time.
type maker struct {
	spec    *Spec
	random  random
	nodes   []node
	now     *metav1.Time // in whole seconds, as the API has it; shared by all it stamps
	second  time.Duration
	version uint64 // resource version last given out
	born    int    // pods created
	started int    // addresses given out
}

type node struct {
	name, ip string
	zone     int
	failed   bool
}

func newNodes(n int) []node {
	nodes := make([]node, n)
	for i := range nodes {
		nodes[i] = node{name: "node-" + strconv.Itoa(i), ip: address(10, i), zone: i % zones}
	}
	return nodes
}

// address returns the n-th address of a /8 network.
func address(network, n int) string {
	return strconv.Itoa(network) + "." + strconv.Itoa(n>>16&255) + "." + strconv.Itoa(n>>8&255) + "." + strconv.Itoa(n&255)
}

// setTime moves the clock that objects are stamped with.
func (m *maker) setTime(at time.Duration) {
	if second := at / time.Second; m.now == nil || second != m.second {
		m.second = second
		m.now = &metav1.Time{Time: epoch.Add(second * time.Second)}
	}
}

// create makes a pod of the template.
func (m *maker) create(t *template, group int) *pod {
	p := &pod{template: t, node: -1, group: group}
	if m.spec.Objects.Kind == kindMetadata {
		o := &metav1.PartialObjectMetadata{TypeMeta: t.pod.TypeMeta, ObjectMeta: t.pod.ObjectMeta}
		p.version, p.meta = o, &o.ObjectMeta
	} else {
		o := new(corev1.Pod)
		*o = t.pod
		p.version, p.meta, p.full = o, &o.ObjectMeta, o
	}
	p.meta.Name = t.pod.GenerateName + m.suffix()
	p.meta.UID = uid(m.random)
	p.meta.CreationTimestamp = *m.now
	if m.spec.Objects.ManagedFields {
		p.meta.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
			Time: m.now, FieldsType: "FieldsV1", FieldsV1: t.created,
		}}
	}
	m.stamp(p)
	return p
}

// suffix returns the random-looking end of a pod's name, unique in the stream.
func (m *maker) suffix() string {
	const prime = 6_700_417 // not a multiple of 3, so that n -> n*prime is one to one modulo 27^digits
	n, digits, size := m.born, 5, 27*27*27*27*27
	for n >= size {
		n, digits, size = n-size, digits+1, size*27
	}
	m.born++
	return suffix(n*prime%size, digits)
}

func (m *maker) stamp(p *pod) {
	m.version++
	p.meta.ResourceVersion = strconv.FormatUint(m.version, 10)
}

// renew replaces the pod's version by a copy that may be written to, with the
// next resource version.
func (m *maker) renew(p *pod) {
	if p.full == nil {
		o := new(metav1.PartialObjectMetadata)
		*o = metav1.PartialObjectMetadata{TypeMeta: p.template.pod.TypeMeta, ObjectMeta: *p.meta}
		p.version, p.meta = o, &o.ObjectMeta
	} else {
		o := new(corev1.Pod)
		*o = *p.full
		p.version, p.meta, p.full = o, &o.ObjectMeta, o
	}
	m.stamp(p)
}

// enter writes to the pod's version what changes as it enters the stage. What
// hangs off the version by pointer is replaced and not written to: older
// versions share it.
func (m *maker) enter(p *pod, s stage) {
	p.stage = s
	switch s {
	case running:
		m.started++
		p.ip = address(11, m.started)
	case scheduled:
		p.meta.Labels = p.template.zones[m.nodes[p.node].zone]
	case terminating:
		m.terminate(p)
	case deleted:
		if p.meta.DeletionTimestamp == nil {
			m.terminate(p)
		}
	}
	if p.full != nil {
		m.enterStatus(p, s)
	}
	if m.spec.Objects.ManagedFields && s >= creating && s <= finished && s != terminating {
		m.manageStatus(p)
	}
	if s == restarted {
		p.stage = running
	}
}

func (m *maker) terminate(p *pod) {
	p.meta.Generation = 2
	p.meta.DeletionTimestamp = &metav1.Time{Time: m.now.Add(30 * time.Second)}
	p.meta.DeletionGracePeriodSeconds = p.template.pod.Spec.TerminationGracePeriodSeconds
}

func (m *maker) enterStatus(p *pod, s stage) {
	status := &p.full.Status
	switch s {
	case scheduled:
		p.full.Spec.NodeName = m.nodes[p.node].name
		status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: *m.now}}
	case creating:
		status.HostIP = m.nodes[p.node].ip
		status.StartTime = m.now
		m.setReady(status, corev1.ConditionFalse)
		m.setContainer(p, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}, 0)
	case running:
		status.Phase = corev1.PodRunning
		status.PodIP = p.ip
		status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
		m.setReady(status, corev1.ConditionTrue)
		m.setContainer(p, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: *m.now}}, 0)
	case restarted:
		m.setContainer(p, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: *m.now}}, status.ContainerStatuses[0].RestartCount+1)
	case unready:
		m.setReady(status, corev1.ConditionFalse)
	case finished:
		status.Phase = corev1.PodSucceeded
		m.setReady(status, corev1.ConditionFalse)
		m.setContainer(p, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: "Completed", StartedAt: *status.StartTime, FinishedAt: *m.now,
		}}, status.ContainerStatuses[0].RestartCount)
	}
}

func (m *maker) setReady(status *corev1.PodStatus, ready corev1.ConditionStatus) {
	scheduled := status.Conditions[len(status.Conditions)-1]
	status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: *status.StartTime},
		{Type: corev1.PodReady, Status: ready, LastTransitionTime: *m.now},
		{Type: corev1.ContainersReady, Status: ready, LastTransitionTime: *m.now},
		scheduled,
	}
}

func (m *maker) setContainer(p *pod, state corev1.ContainerState, restarts int32) {
	up := state.Running != nil
	started := &notStarted
	if up {
		started = &hasStarted
	}
	p.full.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "app", State: state, Ready: up, RestartCount: restarts, Image: p.template.image, Started: started,
	}}
}

var hasStarted, notStarted = true, false

// statusFieldsNoIP is what the kubelet owns before the pod has an address.
var statusFieldsNoIP = metav1.NewFieldsV1(strings.Replace(statusFields, `"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"POD-IP\"}":{".":{},"f:ip":{}}},`, "", 1))

// manageStatus notes in managedFields that the kubelet has written the status.
func (m *maker) manageStatus(p *pod) {
	fields := statusFieldsNoIP
	if len(p.meta.ManagedFields) > 1 {
		fields = p.meta.ManagedFields[1].FieldsV1
	}
	if p.stage == running && fields == statusFieldsNoIP {
		fields = metav1.NewFieldsV1(strings.Replace(statusFields, "POD-IP", p.ip, 1))
	}
	p.meta.ManagedFields = []metav1.ManagedFieldsEntry{p.meta.ManagedFields[0], {
		Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
		Time: m.now, FieldsType: "FieldsV1", FieldsV1: fields, Subresource: "status",
	}}
}
