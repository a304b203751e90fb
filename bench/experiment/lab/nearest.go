package lab

import (
	"fmt"
	"slices"
	"strings"
)

// few lists all names while they are few, otherwise the ones nearest to what
// was asked for.
func few(asked string, names []string) string {
	const limit = 5
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	type scored struct {
		name  string
		score int
	}
	ranked := make([]scored, len(names))
	for i, name := range names {
		ranked[i] = scored{name, common(asked, name)}
	}
	slices.SortStableFunc(ranked, func(a, b scored) int { return b.score - a.score })
	nearest := make([]string, limit)
	for i := range nearest {
		nearest[i] = ranked[i].name
	}
	return fmt.Sprintf("%s, … (%d in all)", strings.Join(nearest, ", "), len(names))
}

// common is the number of letter pairs of a that b has too.
func common(a, b string) int {
	n := 0
	for i := 0; i+2 <= len(a); i++ {
		if strings.Contains(b, a[i:i+2]) {
			n++
		}
	}
	return n
}
