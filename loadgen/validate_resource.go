package loadgen

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/loadgen/randvar"
)

// The values of the enumerated fields of a resource.
const (
	kindPod           = "pod"
	kindNode          = "node"
	kindLease         = "lease"
	kindEndpointSlice = "endpointslice"
	kindCustom        = "custom"
	kindMetadata      = "metadata"

	patternNone        = "none"
	patternMix         = "mix"
	patternHeartbeat   = "heartbeat"
	patternLifecycle   = "lifecycle"
	patternRollout     = "rollout"
	patternNodeFailure = "node-failure"
	patternFollow      = "follow"
)

// plurals are the kinds and their default names.
var plurals = map[string]string{
	kindPod: "pods", kindNode: "nodes", kindLease: "leases",
	kindEndpointSlice: "endpointslices", kindCustom: "widgets", kindMetadata: "pods",
}

var resourceName = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$`)

func (r *Resource) pods() bool { return r.Kind == kindPod || r.Kind == kindMetadata }

// groups is the number of deployments of a population of pods; other objects
// belong to none and are groups of one.
func (r *Resource) groups() int {
	if !r.pods() {
		return r.Count
	}
	return (r.Count + r.Replicas - 1) / r.Replicas
}

// slices is the number of endpoint slices of a deployment.
func (r *Resource) slices() int {
	return (min(r.Replicas, r.Count) + sliceEndpoints - 1) / sliceEndpoints
}

func (s *Spec) completeResource(i int) error {
	r, path := &s.Resources[i], fmt.Sprintf("resources[%d].", i)
	if err := oneOf(path+"kind", &r.Kind, kindPod, kindNode, kindLease, kindEndpointSlice, kindCustom, kindMetadata); err != nil {
		return err
	}
	withDefault(&r.Name, plurals[r.Kind])
	if !resourceName.MatchString(r.Name) {
		return fault(path+"name", "found %q, expected at most 40 small letters, digits and dashes", r.Name)
	}
	for _, other := range s.Resources[:i] {
		if other.Name == r.Name {
			return fault(path+"name", "a second resource %q, expected another name", r.Name)
		}
	}
	if err := s.completePattern(i, path); err != nil {
		return err
	}
	if err := s.completeSize(i, path); err != nil {
		return err
	}
	if err := r.Skew.complete(path + "skew."); err != nil {
		return err
	}
	return s.completeEvents(r, path+"events.")
}

// completeSize checks how many objects there are and of what they are part.
func (s *Spec) completeSize(i int, path string) error {
	r := &s.Resources[i]
	if r.Events.Pattern == patternFollow {
		leader := s.leader(i)
		count := leader.groups() * leader.slices()
		if r.Count != 0 && r.Count != count {
			return fault(path+"count", "found %d with pattern follow, expected none: the deployments of %s have %d slices", r.Count, leader.Name, count)
		}
		r.Count, r.Namespaces, r.Replicas = count, leader.Namespaces, leader.Replicas
	}
	fields := []struct {
		name      string
		value     *int
		byDefault int
		most      int
		kinds     []string
	}{
		{"count", &r.Count, 0, maxObjects, nil},
		{"namespaces", &r.Namespaces, 1, 1_000_000, []string{kindPod, kindMetadata, kindEndpointSlice, kindCustom}},
		{"nodes", &r.Nodes, (r.Count + 29) / 30, 1_000_000, []string{kindPod, kindMetadata}},
		{"replicas", &r.Replicas, 20, maxObjects, []string{kindPod, kindMetadata, kindEndpointSlice}},
	}
	for _, f := range fields {
		var err error
		if f.kinds == nil || slices.Contains(f.kinds, r.Kind) {
			err = within(path+f.name, f.value, f.byDefault, f.most)
		} else if *f.value != 0 {
			err = fault(path+f.name, "found %d with kind %s, expected it with %s only", *f.value, r.Kind, choice(f.kinds))
		}
		if err != nil {
			return err
		}
	}
	return counted(path+"size", r.Size, maxSize, "a size such as 8Ki")
}

// leader is the resource whose pods resource i follows, nil if there is none.
func (s *Spec) leader(i int) *Resource {
	for j := range i {
		if r := &s.Resources[j]; r.pods() {
			return r
		}
	}
	return nil
}

func (s *Spec) completePattern(i int, path string) error {
	r := &s.Resources[i]
	e := &r.Events
	if e.Pattern == "" {
		bare := e.Mix == Mix{} && e.Life.isZero() && e.Parallel == 0 && e.Arrivals.isZero() && e.Count == 0
		switch {
		case bare && r.Kind == kindEndpointSlice && s.leader(i) != nil:
			e.Pattern = patternFollow
		case bare:
			e.Pattern = patternNone
		}
	}
	err := oneOf(path+"events.pattern", &e.Pattern, patternMix, patternNone, patternHeartbeat, patternLifecycle, patternRollout, patternNodeFailure, patternFollow)
	if err != nil {
		return err
	}
	switch e.Pattern {
	case patternRollout, patternNodeFailure:
		if !r.pods() {
			return fault(path+"events.pattern", "found %s with kind %s, expected it with pods only", e.Pattern, r.Kind)
		}
	case patternFollow:
		if r.Kind != kindEndpointSlice || s.leader(i) == nil {
			return fault(path+"events.pattern", "found follow with kind %s, expected it with endpointslice only, after a resource of pods", r.Kind)
		}
	}
	return nil
}

func (l Life) isZero() bool {
	return l.Modifications.IsZero() && l.Between.IsZero() && l.Age.IsZero()
}

func (s *Spec) completeEvents(r *Resource, path string) error {
	e := &r.Events
	if e.Pattern != patternMix && e.Mix != (Mix{}) {
		return fault(path+"mix", "found weights with pattern %s, expected them with pattern mix only", e.Pattern)
	}
	if e.Pattern != patternLifecycle && !e.Life.isZero() {
		return fault(path+"life", "given with pattern %s, expected it with pattern lifecycle only", e.Pattern)
	}
	if e.Pattern != patternRollout && e.Pattern != patternNodeFailure && e.Parallel != 0 {
		return fault(path+"parallel", "found %d with pattern %s, expected it with rollout or node-failure only", e.Parallel, e.Pattern)
	}
	var err error
	switch e.Pattern {
	case patternNone, patternFollow:
		if !e.Arrivals.isZero() || e.Count != 0 {
			return fault(path+"arrivals", "arrivals or a count given with pattern %s, expected none", e.Pattern)
		}
		return nil
	case patternMix:
		err = e.Mix.check(path + "mix")
	case patternLifecycle:
		err = e.Life.complete(path + "life.")
	case patternRollout:
		err = within(path+"parallel", &e.Parallel, 1, r.groups())
	case patternNodeFailure:
		if r.Nodes < 2 {
			return fault(strings.TrimSuffix(path, "events.")+"nodes", "found %d with pattern node-failure, expected at least 2", r.Nodes)
		}
		// Half of the nodes must stay up to take the pods of the others.
		err = within(path+"parallel", &e.Parallel, 1, r.Nodes/2)
	}
	if err != nil {
		return err
	}
	if err := e.Arrivals.complete(path+"arrivals.", s.Duration); err != nil {
		return err
	}
	return s.checkLength(r, path)
}

// checkLength sees to it that the events end, and that all resources agree on
// whether time matters.
func (s *Spec) checkLength(r *Resource, path string) error {
	e := &r.Events
	a := e.Arrivals
	for i := range s.Resources {
		other := &s.Resources[i]
		if other == r {
			break
		}
		if p := other.Events.Pattern; p != patternNone && p != patternFollow && other.Events.Arrivals.unpaced() != a.unpaced() {
			return fault(path+"arrivals.rate", "found %v beside %v of %s, expected 0 (as fast as possible) for all or none", a.Rate, other.Events.Arrivals.Rate, other.Name)
		}
	}
	switch {
	case e.Count < 0 || e.Count > maxEvents:
		return fault(path+"count", "found %d, expected a whole number from 1 to %d", e.Count, maxEvents)
	case e.Count == 0 && a.unpaced():
		return fault(path+"count", "missing with rate 0, expected how many events there are")
	case e.Count == 0 && s.Duration == 0:
		return fault(path+"count", "no length, expected a count here, or a duration of the workload")
	case a.unpaced() && e.Pattern == patternLifecycle:
		return fault(path+"arrivals.rate", "missing or 0 with pattern lifecycle, expected new objects a second")
	case e.Count == 0 && max(a.Rate, a.To)*s.Duration.Seconds() > maxEvents:
		return fault(path+"arrivals.rate", "found %v events/s for %v, expected at most %d events", max(a.Rate, a.To), s.Duration, maxEvents)
	}
	return nil
}

func (m Mix) check(path string) error {
	for _, w := range []struct {
		name  string
		value float64
	}{{".add", m.Add}, {".update", m.Update}, {".delete", m.Delete}} {
		if !(w.value >= 0 && w.value <= 1e9) {
			return fault(path+w.name, "found %v, expected a weight from 0 to 1e9", w.value)
		}
	}
	if m == (Mix{}) {
		return fault(path, "no weights, expected at least one of add, update and delete above 0")
	}
	if m.Add == 0 && m.Delete > 0 {
		return fault(path+".add", "found 0 with deletes, expected a weight above 0 or the objects run out")
	}
	return nil
}

func (l *Life) complete(path string) error {
	defaults(&l.Modifications, "5")
	defaults(&l.Between, "exp(1s)")
	return cmp.Or(
		counted(path+"modifications", l.Modifications, maxModifications, "a number such as 5"),
		lasting(path+"between", l.Between),
		lasting(path+"age", l.Age),
	)
}

// defaults sets a distribution that was not given. The text is a constant of this package.
func defaults(d *randvar.Dist, text string) {
	if d.IsZero() {
		*d, _ = randvar.Parse(text)
	}
}
