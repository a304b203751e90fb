package verdict

import (
	"encoding/json"
	"math"
)

// JSON has no infinity: the open ends of intervals are written as null.

func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

func orElse(x *float64, otherwise float64) float64 {
	if x == nil {
		return otherwise
	}
	return *x
}

// MarshalJSON writes infinite bounds as null.
func (s Summary) MarshalJSON() ([]byte, error) {
	type plain Summary
	return json.Marshal(struct {
		plain
		Low  *float64 `json:"low"`
		High *float64 `json:"high"`
	}{plain(s), finite(s.Low), finite(s.High)})
}

// UnmarshalJSON reads null bounds as infinite.
func (s *Summary) UnmarshalJSON(b []byte) error {
	type plain Summary
	x := struct {
		*plain
		Low  *float64 `json:"low"`
		High *float64 `json:"high"`
	}{plain: (*plain)(s)}
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	s.Low, s.High = orElse(x.Low, math.Inf(-1)), orElse(x.High, math.Inf(1))
	return nil
}

// MarshalJSON writes an infinite bound as null.
func (c Comparison) MarshalJSON() ([]byte, error) {
	type plain Comparison
	return json.Marshal(struct {
		plain
		Low  *float64 `json:"low"`
		High *float64 `json:"high"`
	}{plain(c), finite(c.Low), finite(c.High)})
}

// UnmarshalJSON reads a null bound as infinite.
func (c *Comparison) UnmarshalJSON(b []byte) error {
	type plain Comparison
	x := struct {
		*plain
		High *float64 `json:"high"`
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	c.High = orElse(x.High, math.Inf(1))
	return nil
}
