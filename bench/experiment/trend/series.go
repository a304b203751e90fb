package trend

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/compare"
)

// A series is a Series and what it is made of.
type series struct {
	Series
	config            *config
	relatives, noises []float64
}

// seriesOf puts the points that count into their series, in the order of the first of
// each.
func seriesOf(entries []Entry, holds func(benchmark, unit string) bool) []*series {
	groups := map[[2]string]group{}
	configs := configs{known: map[configID]*config{}}
	for _, e := range entries {
		for _, p := range e.Points {
			at := [2]string{p.Benchmark, p.Unit}
			if c := configs.of(p); holds(p.Benchmark, p.Unit) && groups[at].find(c) == nil {
				groups[at] = append(groups[at], &series{config: c})
			}
		}
	}
	var order []*series
	for i, e := range entries {
		for _, p := range e.Points {
			g := groups[[2]string{p.Benchmark, p.Unit}]
			if len(g) == 0 {
				continue
			}
			s := g.of(configs.of(p))
			if len(s.At) == 0 {
				s.Benchmark, s.Unit, s.Config = p.Benchmark, p.Unit, g.text(s.config)
				order = append(order, s)
			} else if s.At[len(s.At)-1] == i {
				continue // a benchmark twice in an entry
			}
			s.At, s.Values, s.relatives = append(s.At, i), append(s.Values, p.Center), append(s.relatives, p.Relative)
			if p.Noise > 0 {
				s.noises = append(s.noises, p.Noise)
			}
		}
	}
	return order
}

// A config is what points were measured in. A ratio to upstream's code bears another
// processor, a figure does not.
type config struct {
	key      string // what the points of a series have in common
	values   map[string]string
	relative bool
}

// configs are those known so far: there may be a million points, which have few.
type configs struct {
	known map[configID]*config
	last  *config
}

type configID struct {
	key, cpu string
	relative bool
}

func (c *configs) of(p compare.Point) *config {
	relative := p.Relative > 0
	if c.last != nil && c.last.relative == relative && maps.Equal(c.last.values, p.Config) {
		return c.last
	}
	x := &config{values: p.Config, relative: relative}
	for _, k := range slices.Sorted(maps.Keys(p.Config)) {
		if !x.ignores(k) {
			x.key += fmt.Sprintf("%q=%q ", k, p.Config[k])
		}
	}
	id := configID{x.key, p.Config["cpu"], relative}
	if c.known[id] == nil {
		c.known[id] = x
	}
	c.last = c.known[id]
	return c.last
}

func (c *config) ignores(key string) bool { return key == "cpu" && c.relative }

// A group holds the series of one benchmark's unit, one for each configuration.
type group []*series

// find finds the series of a configuration; nil if there is none.
func (g group) find(c *config) *series {
	if i := slices.IndexFunc(g, func(s *series) bool { return s.config.key == c.key }); i >= 0 {
		return g[i]
	}
	return nil
}

// of is the series that a configuration's points are in. Points that name none, as
// earlier histories had it, are in the only other one there is.
func (g group) of(c *config) *series {
	if c.key == "" && len(g) == 2 {
		if g[0].config.key == "" {
			return g[1]
		}
		return g[0]
	}
	return g.find(c)
}

// text is what tells a configuration from the others of the group.
func (g group) text(c *config) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(c.values)) {
		differs := slices.ContainsFunc(g, func(s *series) bool {
			v, ok := s.config.values[k]
			return ok && v != c.values[k] && s.config.key != ""
		})
		if differs && !c.ignores(k) {
			parts = append(parts, k+"="+c.values[k])
		}
	}
	return strings.Join(parts, " ")
}
