package reports

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A scale is a family of cases whose names differ in one number only, as in
// op=get/n=10k and op=get/n=100k: together they show how cost grows.
type scale struct {
	Parameter string       `json:"parameter"` // "n"
	Name      string       `json:"name"`      // "op=get/n=…"
	Points    []scalePoint `json:"points"`    // by rising number
}

type scalePoint struct {
	At    float64 `json:"x"`
	Label string  `json:"label"` // as in the name: "10k"
	Case  int     `json:"case"`  // index into the component's cases
}

// newScales finds the families among cases, longest first. Cases whose
// verdicts are taken on unlike units are of unlike families.
func newScales(cases []caseView) []scale {
	type key struct{ name, unit string }
	families := map[key]*scale{}
	var order []key
	for i, c := range cases {
		parts := strings.Split(c.Name, "/")
		for j, part := range parts {
			name, text, found := strings.Cut(part, "=")
			number, ok := size(text)
			if !found || !ok {
				continue
			}
			open := slices.Clone(parts)
			open[j] = name + "=…"
			k := key{strings.Join(open, "/"), c.Unit}
			if families[k] == nil {
				families[k] = &scale{Parameter: name, Name: k.name}
				order = append(order, k)
			}
			families[k].Points = append(families[k].Points, scalePoint{number, text, i})
		}
	}
	list := []scale{}
	for _, k := range order {
		s := families[k]
		slices.SortStableFunc(s.Points, func(a, b scalePoint) int { return cmp.Compare(a.At, b.At) })
		s.Points = slices.CompactFunc(s.Points, func(a, b scalePoint) bool { return a.At == b.At })
		if len(s.Points) > 1 {
			list = append(list, *s)
		}
	}
	slices.SortStableFunc(list, func(a, b scale) int { return cmp.Compare(len(b.Points), len(a.Points)) })
	return list
}

// size reads a count as case names have it: 16, 10k, 1M.
func size(text string) (float64, bool) {
	factor := 1.0
	switch {
	case strings.HasSuffix(text, "k"):
		text, factor = strings.TrimSuffix(text, "k"), 1e3
	case strings.HasSuffix(text, "M"):
		text, factor = strings.TrimSuffix(text, "M"), 1e6
	}
	n, err := strconv.ParseUint(text, 10, 32)
	return factor * float64(n), err == nil
}
