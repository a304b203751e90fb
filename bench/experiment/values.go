package experiment

import (
	"iter"
	"maps"
	"slices"
)

// Values are one sample's figures by tidied unit. A run may have a million of
// them, so samples of the same units share their names.
type Values struct {
	units *[]string
	of    []float64
}

// NewValues makes Values of a map.
func NewValues(values map[string]float64) Values {
	units := slices.Sorted(maps.Keys(values))
	v := Values{units: &units, of: make([]float64, len(units))}
	for i, unit := range units {
		v.of[i] = values[unit]
	}
	return v
}

// Get is the figure in a unit, and whether there is one.
func (v Values) Get(unit string) (float64, bool) {
	if v.units == nil {
		return 0, false
	}
	if i := slices.Index(*v.units, unit); i >= 0 {
		return v.of[i], true
	}
	return 0, false
}

// All are the units and their figures.
func (v Values) All() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		if v.units == nil {
			return
		}
		for i, unit := range *v.units {
			if !yield(unit, v.of[i]) {
				return
			}
		}
	}
}

// sharing gives v the names of other, where they are the same.
func (v Values) sharing(other Values) Values {
	if other.units != nil && slices.Equal(*v.units, *other.units) {
		v.units = other.units
	}
	return v
}
