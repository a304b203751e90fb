package bench

import (
	"regexp"
	"strconv"
	"strings"
)

// OnCores has each of the cases once for each number of processors that its
// goroutines may use at a time, as go test -cpu; the name ends with "/cpu=4". The
// cases stay as they are if no numbers are given.
func OnCores(cases []Case, counts []int) []Case {
	if len(counts) == 0 {
		return cases
	}
	var all []Case
	for _, c := range cases {
		for _, n := range counts {
			on := c
			on.Name += "/cpu=" + strconv.Itoa(n)
			on.Headline = "" // of several ratios none is the headline's
			all = append(all, on)
		}
	}
	return all
}

var cpuPart = regexp.MustCompile(`/cpu=([1-9]\d{0,3})$`)

// CoresOf splits the name that OnCores gave a case: the name that the case has in
// Cases, and how many processors it may use, 0 if the name does not say.
func CoresOf(name string) (of string, n int) {
	m := cpuPart.FindStringSubmatch(name)
	if m == nil {
		return name, 0
	}
	n, _ = strconv.Atoi(m[1]) // the pattern is of numbers
	return strings.TrimSuffix(name, m[0]), n
}
