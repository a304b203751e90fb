package loadgen

import (
	corev1 "k8s.io/api/core/v1"
)

func (m *podMaker) setStatus(v *podVersion, p *pod, t *template, names podNames) {
	status := &v.Status
	status.Phase, status.QOSClass = corev1.PodPending, corev1.PodQOSBurstable
	if p.bound {
		status.Conditions = m.conditions(p)
	}
	if p.container == absent {
		return
	}
	started := m.moments.at(p.started)
	status.HostIP, status.StartTime = m.nodes[p.node].ip, &started.time
	container := &v.containers[0]
	container.Name, container.Image, container.RestartCount, container.Started = "app", t.image, p.restarts, &no
	switch p.container {
	case waiting:
		container.State.Waiting = containerCreating
	case up:
		status.Phase = corev1.PodRunning
		container.Ready, container.Started = true, &yes
		container.State.Running = &m.moments.at(p.up).running
	case ended:
		status.Phase = corev1.PodSucceeded
		container.State.Terminated = &corev1.ContainerStateTerminated{
			Reason: "Completed", StartedAt: started.time, FinishedAt: m.moments.at(p.up).time,
		}
	}
	status.ContainerStatuses = v.containers[:]
	if p.container != waiting {
		v.ips[0].IP = names.ip
		status.PodIP, status.PodIPs = names.ip, v.ips[:]
	}
}

var containerCreating = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}

// A conditionsKey is what a pod's conditions depend on.
type conditionsKey struct {
	scheduled, started, readiness second
	seen, ready                   bool // by a kubelet
}

type conditionsEntry struct {
	key        conditionsKey
	conditions []corev1.PodCondition
}

// conditions returns those of a bound pod. Pods that came up within the same
// seconds share them.
func (m *podMaker) conditions(p *pod) []corev1.PodCondition {
	key := conditionsKey{scheduled: p.scheduled}
	if p.container != absent {
		key = conditionsKey{p.scheduled, p.started, p.readiness, true, p.ready}
	}
	slot := 31*uint64(key.scheduled) + 37*uint64(key.started) + 41*uint64(key.readiness)
	if key.ready {
		slot += 1 << 9
	}
	e := &m.shared[slot%uint64(len(m.shared))]
	if e.conditions == nil || e.key != key {
		*e = conditionsEntry{key, m.makeConditions(key)}
	}
	return e.conditions
}

func (m *podMaker) makeConditions(key conditionsKey) []corev1.PodCondition {
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: m.moments.at(key.scheduled).time}
	if !key.seen {
		return []corev1.PodCondition{scheduled}
	}
	started, readiness, ready := m.moments.at(key.started).time, m.moments.at(key.readiness).time, corev1.ConditionFalse
	if key.ready {
		ready = corev1.ConditionTrue
	}
	return []corev1.PodCondition{
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: started},
		{Type: corev1.PodReady, Status: ready, LastTransitionTime: readiness},
		{Type: corev1.ContainersReady, Status: ready, LastTransitionTime: readiness},
		scheduled,
	}
}
