package durations

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestText(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 87: "87ns", 1234: "1.23µs", 45_678_901: "45.7ms", 1_234_567_890: "1.23s", 2 * time.Hour: "2h0m0s"} {
		assert.Equal(t, want, Text(d))
	}
	for s, want := range map[float64]string{0: "0s", 999.6e-9: "1µs", 0.0123: "12.3ms", 4000: "1h6m40s", math.Inf(1): "unbounded", math.NaN(): "unbounded", 2e9: "unbounded"} {
		assert.Equal(t, want, Seconds(s))
	}
}
