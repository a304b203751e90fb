package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// unlike warns of machines that differ.
func unlike(shards []shard) []experiment.Warning {
	kinds := map[string][]string{}
	var order []string
	for _, s := range shards {
		e := s.run.Environment
		kind := fmt.Sprintf("%s/%s, %s, %s, GOMAXPROCS %d, %d MiB, kernel %s", e.OS, e.Arch, cmp.Or(e.CPU, "unknown CPU"), wording.Count(e.Cores, "core"), e.GOMAXPROCS, e.Memory>>20, e.Kernel)
		if kinds[kind] == nil {
			order = append(order, kind)
		}
		kinds[kind] = append(kinds[kind], s.String())
	}
	if len(order) < 2 {
		return nil
	}
	var parts []string
	for _, kind := range order {
		parts = append(parts, fmt.Sprintf("%s on %s", strings.Join(kinds[kind], " "), kind))
	}
	return []experiment.Warning{experiment.Warn("run", "the shards ran on unlike machines (%s): ratios and verdicts hold, each from one machine; absolute figures of cases from unlike machines can't be compared", strings.Join(parts, "; "))}
}

// common is what the machines have in common: names that differ are joined, of
// sizes the smallest is told. Machines has them all.
func common(all []experiment.Environment) experiment.Environment {
	e := all[0]
	text := func(of func(*experiment.Environment) *string) {
		var different []string
		for _, x := range all {
			if !slices.Contains(different, *of(&x)) {
				different = append(different, *of(&x))
			}
		}
		*of(&e) = strings.Join(different, " and ")
	}
	text(func(x *experiment.Environment) *string { return &x.OS })
	text(func(x *experiment.Environment) *string { return &x.Arch })
	text(func(x *experiment.Environment) *string { return &x.CPU })
	text(func(x *experiment.Environment) *string { return &x.Kernel })
	for _, x := range all {
		e.Cores, e.GOMAXPROCS, e.Memory = min(e.Cores, x.Cores), min(e.GOMAXPROCS, x.GOMAXPROCS), min(e.Memory, x.Memory)
	}
	return e
}
