package loadgen

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (m *podMaker) enterStatus(p *pod, node uint32, s stage) {
	status := &p.status
	switch s {
	case scheduled:
		p.nodeName = m.nodes[node].name
		status.Conditions = m.conditions(conditionsKey{scheduled: m.now.Unix()})
	case creating:
		status.HostIP = m.nodes[node].ip
		status.StartTime = m.now
		m.setReady(status, false)
		m.setContainer(p, corev1.ContainerState{Waiting: containerCreating}, 0)
	case running:
		status.Phase = corev1.PodRunning
		status.PodIP = p.ip
		status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
		m.setReady(status, true)
		m.setContainer(p, corev1.ContainerState{Running: m.runningSince()}, 0)
	case restarted:
		m.setContainer(p, corev1.ContainerState{Running: m.runningSince()}, status.ContainerStatuses[0].RestartCount+1)
	case unready:
		m.setReady(status, false)
	case finished:
		status.Phase = corev1.PodSucceeded
		m.setReady(status, false)
		m.setContainer(p, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: "Completed", StartedAt: *status.StartTime, FinishedAt: *m.now,
		}}, status.ContainerStatuses[0].RestartCount)
	}
}

func (m *podMaker) setReady(status *corev1.PodStatus, ready bool) {
	scheduled := status.Conditions[len(status.Conditions)-1].LastTransitionTime
	status.Conditions = m.conditions(conditionsKey{scheduled.Unix(), status.StartTime.Unix(), ready})
}

// shared are parts of pods' statuses that many pods have in common within a
// second.
type shared struct {
	now       *metav1.Time // when they were made
	running   *corev1.ContainerStateRunning
	condition [256]conditionsEntry
}

// A conditionsKey is what conditions depend on beside the present second: unix
// times, 0 for not yet.
type conditionsKey struct {
	scheduled, started int64
	ready              bool
}

type conditionsEntry struct {
	key        conditionsKey
	now        *metav1.Time
	conditions []corev1.PodCondition
}

func (m *podMaker) conditions(key conditionsKey) []corev1.PodCondition {
	slot := uint64(key.scheduled)*31 + uint64(key.started)
	if key.ready {
		slot += 128
	}
	e := &m.shared.condition[slot%uint64(len(m.shared.condition))]
	if e.key != key || e.now != m.now {
		*e = conditionsEntry{key, m.now, makeConditions(key, *m.now)}
	}
	return e.conditions
}

func makeConditions(key conditionsKey, now metav1.Time) []corev1.PodCondition {
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: unix(key.scheduled)}
	if key.started == 0 {
		return []corev1.PodCondition{scheduled}
	}
	ready := corev1.ConditionFalse
	if key.ready {
		ready = corev1.ConditionTrue
	}
	return []corev1.PodCondition{
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: unix(key.started)},
		{Type: corev1.PodReady, Status: ready, LastTransitionTime: now},
		{Type: corev1.ContainersReady, Status: ready, LastTransitionTime: now},
		scheduled,
	}
}

func unix(seconds int64) metav1.Time { return metav1.Time{Time: time.Unix(seconds, 0).UTC()} }

func (m *podMaker) runningSince() *corev1.ContainerStateRunning {
	if m.shared.now != m.now {
		m.shared.now, m.shared.running = m.now, &corev1.ContainerStateRunning{StartedAt: *m.now}
	}
	return m.shared.running
}

var containerCreating = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}

func (m *podMaker) setContainer(p *pod, state corev1.ContainerState, restarts int32) {
	up := state.Running != nil
	started := &no
	if up {
		started = &yes
	}
	p.status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "app", State: state, Ready: up, RestartCount: restarts, Image: p.template.image, Started: started,
	}}
}

// manageStatus notes in managedFields that the kubelet has written the status.
func (m *podMaker) manageStatus(p *pod) {
	fields := statusFields
	if p.stage < running {
		fields = statusFieldsNoIP
	}
	p.meta.ManagedFields = []metav1.ManagedFieldsEntry{p.meta.ManagedFields[0], {
		Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
		Time: m.now, FieldsType: "FieldsV1", FieldsV1: fields, Subresource: "status",
	}}
}
