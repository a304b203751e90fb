package loadgen

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A second is a time as the API has it: whole seconds since the start.
type second uint32

func (s second) time() time.Time { return epoch.Add(time.Duration(s) * time.Second) }

// A moment holds what all objects of a second have in common. Nobody writes to
// it, so they share it.
type moment struct {
	second  second
	time    metav1.Time
	micro   metav1.MicroTime
	running corev1.ContainerStateRunning
	text    string // as the API writes it
}

// moments keeps those that were asked for last.
type moments [1024]*moment

func (m *moments) at(s second) *moment {
	slot := &m[s%second(len(m))]
	if it := *slot; it != nil && it.second == s {
		return it
	}
	t := s.time()
	it := &moment{second: s, time: metav1.Time{Time: t}, micro: metav1.MicroTime{Time: t}, text: t.Format(time.RFC3339)}
	it.running.StartedAt = it.time
	*slot = it
	return it
}
