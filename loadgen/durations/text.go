package durations

import (
	"math"
	"time"
)

// Text prints a duration to three digits: "1.23s", "45.7ms", "2h0m0s".
func Text(d time.Duration) string {
	for unit := time.Duration(1); unit <= time.Minute; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Second).String()
}

// Seconds prints a time in seconds as [Text] does, and one beyond 30 years as "unbounded".
func Seconds(s float64) string {
	if math.IsNaN(s) || s > 1e9 {
		return "unbounded"
	}
	return Text(time.Duration(math.Round(s * 1e9)))
}
