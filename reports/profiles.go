package reports

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

// A profileSet is every CPU profile of a run, folded for the page's flame
// graphs. Function names are shared.
type profileSet struct {
	Names  []string `json:"names"`  // short function names
	Kinds  []int    `json:"kinds"`  // of the functions: indexes into kinds
	Graphs []flame  `json:"graphs"` // those that the page has room for

	index  map[string]int
	all    []flame
	hidden int
}

// A flame is one variant's CPU profile in one case. Shares are in 1/10000 of
// the profile's CPU time.
type flame struct {
	Component int      `json:"component"` // index into Stats.Components
	Case      int      `json:"case"`      // index into its Cases
	Variant   string   `json:"variant"`
	Tree      []int    `json:"tree"`  // preorder: depth, name, share, and so on
	Top       [][3]int `json:"top"`   // name, share of its own, share with what it calls
	Kinds     []int    `json:"kinds"` // own share by kind
	Milli     int64    `json:"ms"`    // CPU time sampled
	Samples   int64    `json:"samples"`
	Item      figure   `json:"item"` // CPU seconds an item in this case, null if not measured
	File      string   `json:"file"`
}

// Limits that keep the page small and a broken file harmless.
const (
	whole10k        = 10_000
	smallestShare   = 30      // in 1/10000: narrower frames can't be seen
	maxGraphNumbers = 150_000 // of all flame graphs, about 4 bytes each
	maxDepth        = 48
	topFunctions    = 40
)

// readProfiles folds the CPU profile of each case and variant that has one.
func readProfiles(root *os.Root, stats verdict.Stats, order telling) (*profileSet, []experiment.Warning) {
	set := &profileSet{Names: []string{}, Kinds: []int{}, Graphs: []flame{}, index: map[string]int{}}
	var warnings []experiment.Warning
	for i, component := range stats.Components {
		for j, c := range component.Cases {
			for _, row := range c.Rows {
				if row.Control {
					continue
				}
				dir := experiment.ProfileDir(experiment.PlannedCase{Component: component.Component, Name: c.Name}, row.Variant)
				graph, err := set.read(root, dir)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					scope := component.Component + "/" + c.Name + "/" + row.Variant
					warnings = append(warnings, experiment.Warning{Scope: scope, Text: "its CPU profile is not shown: " + err.Error()})
					continue
				}
				graph.Component, graph.Case, graph.Variant, graph.Item = i, j, row.Variant, unknown
				if m, ok := row.Metrics["cpu-sec/op"]; ok && m.Center > 0 {
					graph.Item = figure(m.Center)
				}
				set.all = append(set.all, graph)
			}
		}
	}
	set.choose(stats, order)
	return set, warnings
}

// choose takes the profiles of every component's most telling case, then of
// every second, while there is room, and keeps them in the plan's order.
func (set *profileSet) choose(stats verdict.Stats, order telling) {
	byCase := slices.Clone(set.all)
	place := func(graph flame) int {
		c := stats.Components[graph.Component]
		return order.place[c.Component+"/"+c.Cases[graph.Case].Name]
	}
	slices.SortStableFunc(byCase, func(a, b flame) int { return cmp.Compare(place(a), place(b)) })
	room := maxGraphNumbers
	for _, graph := range byCase {
		if room -= len(graph.Tree) + 3*len(graph.Top); room < 0 {
			set.hidden++
			continue
		}
		set.Graphs = append(set.Graphs, graph)
	}
	slices.SortStableFunc(set.Graphs, func(a, b flame) int {
		return cmp.Or(cmp.Compare(a.Component, b.Component), cmp.Compare(a.Case, b.Case))
	})
}

func (set *profileSet) read(root *os.Root, dir string) (flame, error) {
	name := filepath.Join(dir, "cpu.pb.gz")
	f, err := root.Open(name)
	if err != nil {
		return flame{}, err
	}
	defer f.Close()
	p, err := readProfile(f)
	if err != nil {
		return flame{}, fmt.Errorf("%s: %w", name, err)
	}
	graph, err := set.fold(p)
	if err != nil {
		return flame{}, fmt.Errorf("%s: %w", name, err)
	}
	graph.File = filepath.ToSlash(name)
	return graph, nil
}

// A node is one function in one call path.
type node struct {
	name     int
	value    int64
	children map[int]*node
}

func (n *node) child(name int) *node {
	if n.children == nil {
		n.children = map[int]*node{}
	}
	if n.children[name] == nil {
		n.children[name] = &node{name: name}
	}
	return n.children[name]
}

// fold sums the samples of p by call path.
func (set *profileSet) fold(p *profile.Profile) (flame, error) {
	column, count := -1, -1
	for i, t := range p.SampleType {
		switch t.Unit {
		case "nanoseconds":
			column = i
		case "count":
			count = i
		}
	}
	if column < 0 {
		return flame{}, errors.New("no column in nanoseconds, expected a CPU profile")
	}
	root := &node{}
	samples := int64(0)
	self, total := map[int]int64{}, map[int]int64{}
	for _, s := range p.Sample {
		value := s.Value[column]
		if value <= 0 {
			continue
		}
		if count >= 0 {
			samples += s.Value[count]
		}
		stack := set.stack(s)
		at := root
		at.value += value
		seen := map[int]bool{}
		for depth, name := range stack {
			if depth < maxDepth {
				at = at.child(name)
				at.value += value
			}
			if !seen[name] {
				seen[name] = true
				total[name] += value
			}
		}
		if len(stack) > 0 {
			self[stack[len(stack)-1]] += value
		}
	}
	if root.value == 0 {
		return flame{}, errors.New("no samples: the profiled run was too short")
	}
	graph := flame{Tree: []int{}, Top: [][3]int{}, Kinds: make([]int, len(kinds)), Milli: root.value / 1e6, Samples: samples}
	share := func(v int64) int { return int((v*whole10k + root.value/2) / root.value) }
	for name, v := range self {
		graph.Kinds[set.Kinds[name]] += share(v)
		graph.Top = append(graph.Top, [3]int{name, share(v), share(total[name])})
	}
	slices.SortFunc(graph.Top, func(a, b [3]int) int {
		return cmp.Or(cmp.Compare(b[1], a[1]), cmp.Compare(set.Names[a[0]], set.Names[b[0]]), cmp.Compare(a[0], b[0]))
	})
	graph.Top = graph.Top[:min(len(graph.Top), topFunctions)]
	var walk func(n *node, depth int)
	walk = func(n *node, depth int) {
		children := make([]*node, 0, len(n.children))
		for _, c := range n.children {
			if share(c.value) >= smallestShare {
				children = append(children, c)
			}
		}
		slices.SortFunc(children, func(a, b *node) int {
			return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(set.Names[a.name], set.Names[b.name]), cmp.Compare(a.name, b.name))
		})
		for _, c := range children {
			graph.Tree = append(graph.Tree, depth, c.name, share(c.value))
			walk(c, depth+1)
		}
	}
	walk(root, 0)
	return graph, nil
}

// stack is the sample's call path from the outermost function in. What leads to
// the benchmark's innermost function is left out: it is the same in every
// profile and only pushes the rest down.
func (set *profileSet) stack(s *profile.Sample) []int {
	var names []int
	loop := "" // the innermost function of the benchmark so far
	starting := true
	for i := len(s.Location) - 1; i >= 0; i-- {
		lines := s.Location[i].Line
		for j := len(lines) - 1; j >= 0; j-- {
			if lines[j].Function == nil {
				continue
			}
			full := lines[j].Function.Name
			if starting && starts(full) {
				continue
			}
			if starting && strings.HasPrefix(full, benchPackage) {
				loop = full
				continue
			}
			if starting && loop != "" {
				names = append(names, set.intern(loop))
			}
			starting = false
			names = append(names, set.intern(full))
		}
	}
	if starting && loop != "" {
		names = append(names, set.intern(loop))
	}
	return names
}

func (set *profileSet) intern(full string) int {
	if i, ok := set.index[full]; ok {
		return i
	}
	set.index[full] = len(set.Names)
	set.Names = append(set.Names, shortName(full))
	set.Kinds = append(set.Kinds, kindOf(full))
	return len(set.Names) - 1
}

// shortName drops the directories of the package path and the type arguments:
// "k8s.io/client-go/util/workqueue.(*Typed[go.shape.string]).Add" becomes
// "workqueue.(*Typed).Add".
func shortName(full string) string {
	var b strings.Builder
	depth := 0
	for _, r := range full {
		switch {
		case r == '[':
			depth++
		case r == ']' && depth > 0:
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	name := b.String()
	path := name
	if i := strings.IndexByte(name, '('); i >= 0 {
		path = name[:i]
	}
	return name[strings.LastIndexByte(path, '/')+1:]
}
