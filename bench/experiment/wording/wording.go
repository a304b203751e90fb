// Package wording writes the figures that commands and reports have in common,
// so that they look the same everywhere: counts, shares, ratios and durations.
package wording

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"
)

// None stands where a number is missing.
const None = "–"

// Count counts things with a regular plural: "1 case", "2 cases".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Percent writes a share to a tenth of a percent: 0.034 as "3.4%", 0.05 as "5%".
// One beyond ten times tells no more than that.
func Percent(share float64) string {
	switch {
	case math.IsNaN(share) || math.IsInf(share, 0):
		return None
	case share > 10:
		return "over 1000%"
	}
	tenths := math.Round(1000*share) + 0 // no -0
	return strconv.FormatFloat(tenths/10, 'f', -1, 64) + "%"
}

// Times writes a ratio to three significant digits: "1.20×".
func Times(ratio float64) string {
	switch {
	case math.IsNaN(ratio) || math.IsInf(ratio, 0) || ratio <= 0:
		return None
	case ratio >= 99.5:
		return fmt.Sprintf("%.0f×", ratio)
	case ratio >= 9.95:
		return fmt.Sprintf("%.1f×", ratio)
	case ratio >= 0.0995:
		return fmt.Sprintf("%.2f×", ratio)
	}
	return fmt.Sprintf("%.2g×", ratio)
}

// zeros are the seconds, or minutes and seconds, that a duration ends with if
// there are none, behind the unit before them: 2m10s has none, 2m0s has.
var zeros = regexp.MustCompile(`^(.*?[hm])(0m)?0s$`)

// Elapsed writes a duration to what a person would say: "2m", "1.3s".
func Elapsed(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return zeros.ReplaceAllString(d.Round(time.Second).String(), "$1")
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Millisecond).String()
	}
}
