package trend

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/compare"
)

// A seriesKey is what the points of a series have in common.
type seriesKey struct{ benchmark, unit, config string }

// configs tell the configurations of a benchmark's points apart. A ratio to
// upstream's code bears another processor, a figure does not.
type configs map[[2]string]map[string]config

type config struct{ key, text string }

// newConfigs finds what the configurations of each benchmark differ in.
func newConfigs(entries []Entry) configs {
	all := configs{}
	values := map[[2]string]map[string]map[string]bool{} // of each key
	points := map[[2]string]map[string]compare.Point{}
	for _, e := range entries {
		for _, p := range e.Points {
			at := [2]string{p.Benchmark, p.Unit}
			if all[at] == nil {
				all[at], values[at], points[at] = map[string]config{}, map[string]map[string]bool{}, map[string]compare.Point{}
			}
			key := keyOf(p)
			if _, ok := points[at][key]; ok || key == "" {
				continue
			}
			points[at][key] = p
			for k, v := range p.Config {
				if values[at][k] == nil {
					values[at][k] = map[string]bool{}
				}
				values[at][k][v] = true
			}
		}
	}
	for at := range all {
		for key, p := range points[at] {
			var parts []string
			for _, k := range slices.Sorted(maps.Keys(p.Config)) {
				if len(values[at][k]) > 1 && !ignores(p, k) {
					parts = append(parts, k+"="+p.Config[k])
				}
			}
			all[at][key] = config{key, strings.Join(parts, " ")}
		}
	}
	return all
}

// of is a point's configuration. One that names none, as earlier histories had
// it, is of the only one there is.
func (c configs) of(p compare.Point) config {
	key := keyOf(p)
	known := c[[2]string{p.Benchmark, p.Unit}]
	if key == "" && len(known) == 1 {
		for _, only := range known {
			return only
		}
	}
	return known[key]
}

func ignores(p compare.Point, key string) bool { return key == "cpu" && p.Relative > 0 }

func keyOf(p compare.Point) string {
	var s strings.Builder
	for _, k := range slices.Sorted(maps.Keys(p.Config)) {
		if !ignores(p, k) {
			fmt.Fprintf(&s, "%q=%q ", k, p.Config[k])
		}
	}
	return s.String()
}
