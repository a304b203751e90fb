package compare

import (
	"github.com/informerbench/informerbench/bench/experiment"
)

// A Point is what one result measured of one benchmark in one unit.
type Point struct {
	Benchmark string  `json:"benchmark"`
	Unit      string  `json:"unit"`
	Center    float64 `json:"center"`             // median of the samples
	Relative  float64 `json:"relative,omitempty"` // median of their ratios to upstream's code in the same rounds; 0 where there is none
	Noise     float64 `json:"noise,omitempty"`    // what the A/A control differs by; 0 where unknown
	Samples   int     `json:"samples"`
}

// Measure reads a result directory, a file in the Go benchmark format or what
// benchrun merge wrote, and gives every point of it.
func Measure(path string) ([]Point, []experiment.Warning, error) {
	s, err := readSide(path)
	if err != nil {
		return nil, nil, err
	}
	var points []Point
	for _, name := range s.names {
		for _, unit := range s.units[name] {
			p := Point{Benchmark: name, Unit: unit, Center: median(s.values[name][unit]), Noise: s.floor(name, unit), Samples: len(s.values[name][unit])}
			if ratios := s.relative(name, unit); len(ratios) > 0 && s.baselineOf(name) != name {
				p.Relative = median(ratios)
			}
			points = append(points, p)
		}
	}
	return points, s.warnings, nil
}
