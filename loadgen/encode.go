package loadgen

import (
	"bytes"

	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"
)

// YAML writes the spec as a file that ParseSpec reads, fields in their order.
func (s *Spec) YAML() ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(s); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// MarshalJSON implements json.Marshaler: the fields have the names that they
// have in YAML, durations and distributions are texts.
func (s *Spec) MarshalJSON() ([]byte, error) {
	b, err := s.YAML()
	if err != nil {
		return nil, err
	}
	return sigs.YAMLToJSON(b)
}

// UnmarshalJSON implements json.Unmarshaler, as strictly as ParseSpec.
func (s *Spec) UnmarshalJSON(data []byte) error {
	spec, err := ParseSpec("workload", data)
	if err == nil {
		*s = *spec
	}
	return err
}
