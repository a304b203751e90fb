package record

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/watch"
)

// A described object is what the state keeps of one.
type described struct {
	Metadata struct {
		Namespace       string `json:"namespace,omitempty"`
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}

func (d described) key() string { return d.Metadata.Namespace + "/" + d.Metadata.Name }

func describe(object []byte) (described, error) {
	var d described
	if err := json.Unmarshal(object, &d); err != nil {
		return d, err
	}
	if d.Metadata.ResourceVersion == "" {
		return d, errors.New("found an object without a resource version")
	}
	return d, nil
}

// A state is which objects of a resource exist as far as the recording knows.
type state struct {
	versions map[string]string // by "namespace/name"
	complete bool              // a list has been recorded
	resumed  bool              // from an earlier recording
}

func newState(known map[string]string) *state {
	s := &state{versions: map[string]string{}, resumed: known != nil}
	for key, version := range known {
		s.versions[key] = version
	}
	return s
}

// compare returns the event that leads from the state to a listed object, ""
// if it is as known.
func (s *state) compare(d described) watch.EventType {
	switch version, ok := s.versions[d.key()]; {
	case !ok:
		return watch.Added
	case version != d.Metadata.ResourceVersion:
		return watch.Modified
	}
	return ""
}

func (s *state) apply(kind watch.EventType, d described) {
	switch kind {
	case watch.Added, watch.Modified:
		s.versions[d.key()] = d.Metadata.ResourceVersion
	case watch.Deleted:
		delete(s.versions, d.key())
	}
}

// others returns the known objects that a list did not show, by name.
func (s *state) others(seen map[string]bool) (gone []described) {
	for key, version := range s.versions {
		if !seen[key] {
			var d described
			d.Metadata.Namespace, d.Metadata.Name, _ = strings.Cut(key, "/")
			d.Metadata.ResourceVersion = version
			gone = append(gone, d)
		}
	}
	slices.SortFunc(gone, func(a, b described) int { return strings.Compare(a.key(), b.key()) })
	return gone
}

// tombstone is the last that is known of an object that is gone.
func (r *Recorder) tombstone(resource Resource, d described) []byte {
	object, err := json.Marshal(d)
	if err != nil { // strings can always be written
		return nil
	}
	return r.named(resource, object)
}
