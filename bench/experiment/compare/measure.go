package compare

import (
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// A Point is what one result measured of one benchmark in one unit.
type Point struct {
	Benchmark string            `json:"benchmark"`
	Config    map[string]string `json:"config,omitempty"` // such as goarch: points of unlike ones don't belong together
	Unit      string            `json:"unit"`
	Center    float64           `json:"center"`             // median of the samples
	Relative  float64           `json:"relative,omitempty"` // median of their ratios to upstream's code in the same rounds; 0 where there is none
	Noise     float64           `json:"noise,omitempty"`    // what the A/A control differs by; 0 where unknown
	Samples   int               `json:"samples"`
}

// Filtered are the points that the filter keeps.
func (o Options) Filtered(points []Point) ([]Point, error) {
	g, err := newGrouping(Options{Filter: o.Filter})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(points, func(p Point) bool {
		r := benchfmt.Result{Name: benchfmt.Name(strings.TrimPrefix(p.Benchmark, "Benchmark")), Values: []benchfmt.Value{{Unit: p.Unit}}}
		for key, value := range p.Config {
			r.SetConfig(key, value)
		}
		ok, _ := g.filter.Apply(&r)
		return !ok
	}), nil
}

// Measure reads a result directory, a file in the Go benchmark format or what
// benchrun merge wrote, and gives every point of it. A failure of go test in it
// is among the warnings.
func Measure(o Options, path string) ([]Point, []experiment.Warning, error) {
	s, err := read(o, path)
	if err != nil {
		return nil, nil, err
	}
	configs := map[benchproc.Key]map[string]string{}
	var points []Point
	for _, at := range s.places {
		if configs[at.table] == nil {
			config := map[string]string{}
			for _, f := range at.table.Projection().FlattenedFields() {
				if v := at.table.Get(f); v != "" {
					config[f.Name] = v
				}
			}
			configs[at.table] = config
		}
		c, name := s.cells[at], benchmarkName(at.row)
		for i, unit := range c.units {
			p := Point{Benchmark: name, Config: configs[at.table], Unit: unit, Center: statistic.Center(c.values[i]), Noise: s.floor(c, unit), Samples: len(c.values[i])}
			if s.exact(unit) {
				p.Center = exactly(c.values[i]).Center
			} else if ratios := s.relative(c, unit); len(ratios) > 0 && s.baseline(c) != c {
				p.Relative = statistic.Center(ratios)
			}
			points = append(points, p)
		}
	}
	return points, append(s.failures(), s.warnings...), nil
}
